.text
.hidden __tbaa_witness_reserve
.globl __tbaa_witness_reserve
.type __tbaa_witness_reserve, @function
.hidden __tbaa_witness_early
.globl __tbaa_witness_early
.type __tbaa_witness_early, @gnu_indirect_function
__tbaa_witness_reserve:
__tbaa_witness_early:
    movabs rdi, {start}
    movabs rsi, {own}
    mov edx, {access}
    mov r10d, {flags}
    mov r8, -1
    xor r9d, r9d
    mov eax, {mmap}
    syscall
    cmp rax, rdi
    jne 2f
    movabs rdi, {end}
    movabs rsi, {none}
    xor edx, edx
    mov eax, {mmap}
    syscall
    cmp rax, rdi
    jne 2f
    mov byte ptr [rip + {reserved}], 1
2:
    lea rax, [rip + __tbaa_witness_reserve]
    ret
