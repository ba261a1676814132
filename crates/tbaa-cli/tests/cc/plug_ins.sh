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
# A plug-in that another version has made is not checked.
"$TBAA" cc -O1 -fPIC -S -emit-llvm fault.c -o fault.ll
sed 's/^\(@__tbaa_witness.module = .* { i64 0, i32\) [0-9]*,/\1 0,/' fault.ll > other.ll
if cmp -s fault.ll other.ll; then exit 1; fi
clang-22 -w -fPIC -c other.ll
quiet $cc -shared other.o -o other.so
ends 0 ./host ./other.so ./other.so
says 'a module was instrumented by another version of tbaa: it is not checked'
# What a plug-in has written is reported when it is gone.
cat > reads.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
int main(void) {
  int *volatile p = malloc(4);
  *p = 1;
  void *library = dlopen("./put.so", RTLD_NOW);
  ((void (*)(void *))dlsym(library, "put"))(p);
  if (dlclose(library) || dlopen("./put.so", RTLD_NOW | RTLD_NOLOAD)) return 1;
  return *p == 0;
}
C
echo 'void put(float *p) { *p = 1; }' > put.c
quiet $cc -O1 -fPIC -shared put.c -o put.so
quiet $cc -O1 reads.c -ldl -o reads
ends 66 ./reads
says 'store float, ptr .* in put'
