# A single file is run with its arguments.
. "$HERE/common"
printf '#include <stdio.h>\nint main(int n, char **v) { puts(v[n - 1]); return N; }\n' > prog.c
ends 7 "$TBAA" run prog.c --flags -DN=7 -- -x last
[ "$(cat said)" = last ]
echo 'void *malloc(unsigned long); int main(void) { float *p = malloc(4); *p = 1; return *(int *)p; }' > wrong.c
ends 66 "$TBAA" run wrong.c
ends 1 "$TBAA" run prog.c
