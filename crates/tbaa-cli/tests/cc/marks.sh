# What puts bytes before a function would hide the mark of checks there.
printf 'void w(int *p) { *p = 1; }\n' > w.c
printf 'float r(float *p) { return *p; }\n' > r.c
printf '#include <stdlib.h>\nvoid w(int *); float r(float *); int main(void) { void *p = malloc(4); w(p); return r(p) > 5; }\n' > main.c
for flag in -fsanitize=undefined -fsanitize=function -fpatchable-function-entry=4 -fpatchable-function-entry=4,0; do
  "$TBAA" cc -O1 $flag main.c w.c r.c -o program
  status=0; ./program > out 2>&1 || status=$?
  test $status = 66
done
for flag in -fsanitize=kcfi -fpatchable-function-entry=4,2; do
  status=0; "$TBAA" cc -O1 $flag main.c w.c r.c -o program 2> out || status=$?
  test $status = 2
  grep -q -- "error: $flag cannot be together" out
done
# clang's names of modules; what is beside them stays.
echo mine > w.s; echo mine > w.o
"$TBAA" cc -S -emit-llvm w.c
"$TBAA" cc -c -emit-llvm w.c
test "$(cat w.s)" = mine && test "$(cat w.o)" = mine && test -s w.ll && test -s w.bc
# A signal's status, as a shell gives it.
echo 'int main(void) { __builtin_trap(); }' > trap.c
status=0; "$TBAA" run trap.c || status=$?
test $status = 132
status=0; TMPDIR=/nonexistent "$TBAA" run trap.c 2> out || status=$?
test $status = 2
grep -q 'make a folder: /nonexistent: .*set TMPDIR' out
