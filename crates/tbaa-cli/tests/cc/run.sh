# A single file is run with its arguments.
. "$HERE/common"
printf '#include <stdio.h>\nint main(int n, char **v) { puts(v[n - 1]); return N; }\n' > prog.c
ends 7 "$TBAA" run prog.c --flags -DN=7 -- -x last
[ "$(cat said)" = last ]
echo 'void *malloc(unsigned long); int main(void) { float *p = malloc(4); *p = 1; return *(int *)p; }' > wrong.c
ends 66 "$TBAA" run wrong.c --flags -ObjC
clang-22 -E wrong.c -o wrong.i
ends 66 "$TBAA" run wrong.i
ends 1 "$TBAA" run prog.c
# A module of any front end gets checks, too.
cat > module.ll <<'END'
define i32 @main() {
  %p = alloca i32
  store float 1.0, ptr %p, !tbaa !3
  %v = load i32, ptr %p, !tbaa !4
  ret i32 0
}
!0 = !{!"root"}
!1 = !{!"float", !0, i64 0}
!2 = !{!"int", !0, i64 0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}
END
ends 66 "$TBAA" run module.ll
says 'read   4 bytes as "int"'
clang-22 -w -c -emit-llvm module.ll -o module.bc
ends 66 "$TBAA" run module.bc
# Flags are words as in a shell.
printf '#include <stdio.h>\nint main(void) { puts(X); return !Y; }\n' > words.c
ends 0 "$TBAA" run words.c --flags "-O1 -DX='\"a b\"'  -D Y=1"
[ "$(cat said)" = 'a b' ]
for flag in "run words.c --flags" "bisect words.c --recipe native --flags" "bisect words.c --recipe native --recipe-flags"; do
  ends 2 "$TBAA" $flag "-DX='1"
  says "invalid value .* for '--[a-z-]* <FLAGS>': a quote is not closed"
done
ends 0 "$TBAA" bisect words.c --recipe native --flags "-D'X=\"a b\"' -DY=1" --opt "-O2 '-DX=a b'"
# Nobody else reads what lies in the folder of a run, whatever the umask is.
printf '#include <stdlib.h>\nint main(void) { return system("ls -l $TMPDIR"); }\n' > folder.c
mkdir temporary
umask 0
TMPDIR=$PWD/temporary ends 0 "$TBAA" run folder.c
says '^drwx------ '
