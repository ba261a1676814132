# What has no checks is said.
. "$HERE/common"
printf '.globl add\nadd: lea (%%rdi,%%rsi), %%eax\nret\n.section .note.GNU-stack,"",@progbits\n' > add.s
printf 'int add(int, int);\nint main(void) { return add(1, -1); }\n' > adds.c
ends 0 $cc -c add.s -o add.o
[ "$(cat said)" = "note: add.s is compiled without checks: it is assembly" ]
quiet $cc adds.c add.o -o program
quiet ./program
for flags in -fno-strict-aliasing "-fstrict-aliasing -Wno-strict-aliasing -fno-strict-aliasing"; do
  ends 0 $cc $flags main.c put.c -o program
  [ "$(cat said)" = "note: main.c is compiled without checks: -fno-strict-aliasing leaves out all tags
note: put.c is compiled without checks: -fno-strict-aliasing leaves out all tags" ]
done
printf 'int main(void) { return 0; }\n' > tries.c
quiet $cc -fno-strict-aliasing tries.c -o program
CLANG="clang-22 -fno-strict-aliasing" ends 0 $cc -c main.c
says 'main.c is compiled without checks'
quiet $cc -fno-strict-aliasing -fstrict-aliasing -Wno-strict-aliasing main.c put.c -o program
reports program
ends 0 $cc --target=aarch64-linux-gnu -ffreestanding -c adds.c -o arm.o
says 'note: adds.c is compiled without checks: expected x86_64 Linux'
