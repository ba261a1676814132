# What has no checks is said.
. "$HERE/common"
printf '.globl add\nadd: lea (%%rdi,%%rsi), %%eax\nret\n.section .note.GNU-stack,"",@progbits\n' > add.s
printf 'int add(int, int);\nint main(void) { return add(1, -1); }\n' > adds.c
ends 0 $cc -c add.s -o add.o
[ "$(cat said)" = "note: add.s is compiled without checks: it is assembly" ]
quiet $cc adds.c add.o -o program
quiet ./program
ends 0 $cc --target=aarch64-linux-gnu -ffreestanding -c adds.c -o arm.o
says 'note: adds.c is compiled without checks: expected x86_64 Linux'
