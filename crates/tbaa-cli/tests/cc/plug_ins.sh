# A host without checks that loads two plug-ins with checks in turn, one where the other was.
. "$HERE/common"
clang-22 -w "$HERE/host.c" -ldl -o host
echo 'int pool[4096]; double run(int n) { for (int i = 0; i < 4096; i++) pool[i] = n; return n; }' > ints.c
echo 'float pool[4096]; double run(int n) { double s = n; for (int i = 0; i < 4096; i++) s += pool[i]; return s; }' > floats.c
echo 'void *malloc(unsigned long); int pool; double run(int n) { float *p = malloc(4); *p = n; return *(int *)p; }' > fault.c
for name in ints floats fault; do quiet $cc -O1 -fPIC -shared $name.c -o $name.so; done
quiet ./host ./ints.so ./floats.so
ends 66 ./host ./fault.so ./fault.so
says '^tbaa-witness: 6 contradictions in all'
