# Defines a function that this library alone sees.
.macro tbaa_own name
.globl \name
.hidden \name
.type \name, @function
\name:
.endm
# Defines a system call. The kernel takes the fourth argument in another register than a function does.
.macro tbaa_system name, number
tbaa_own \name
    mov eax, \number
    jmp .Ltbaa_system
.endm
.text
tbaa_own memcpy
    mov rax, rdi
    mov rcx, rdx
    rep movsb
    ret
tbaa_own memmove
    mov rax, rdi
    mov rcx, rdx
    sub rdi, rsi
    cmp rdi, rcx
    mov rdi, rax
    jb 2f
    rep movsb
    ret
# The target begins inside the source.
2:
    lea rdi, [rdi + rcx - 1]
    lea rsi, [rsi + rcx - 1]
    std
    rep movsb
    cld
    ret
tbaa_own memset
    mov r8, rdi
    mov eax, esi
    mov rcx, rdx
    rep stosb
    mov rax, r8
    ret
tbaa_own bcmp
tbaa_own memcmp
    xor eax, eax
    mov rcx, rdx
    cmp rcx, rcx
    repe cmpsb
    je 2f
    movzx eax, byte ptr [rdi - 1]
    movzx ecx, byte ptr [rsi - 1]
    sub eax, ecx
2:
    ret
tbaa_own strlen
    mov rsi, -1
tbaa_own strnlen
    xor eax, eax
2:
    cmp rax, rsi
    je 3f
    cmp byte ptr [rdi + rax], 0
    je 3f
    inc rax
    jmp 2b
3:
    ret
tbaa_own getenv
    jmp {variable}
tbaa_own syscall
    mov eax, edi
    mov rdi, rsi
    mov rsi, rdx
    mov rdx, rcx
    mov r10, r8
    mov r8, r9
    mov r9, [rsp + 8]
    jmp 2f
.Ltbaa_system:
    mov r10, rcx
2:
    syscall
    cmp rax, -4095
    jae 3f
    ret
3:
    neg eax
    push rax
    call __errno_location@PLT
    pop rcx
    mov [rax], ecx
    mov rax, -1
    ret
tbaa_system write, 1
tbaa_system open64, 2
tbaa_system close, 3
tbaa_system stat64, 4
tbaa_system fstat64, 5
tbaa_system lstat64, 6
tbaa_system poll, 7
tbaa_system lseek64, 8
tbaa_system writev, 20
tbaa_system sched_yield, 24
tbaa_system getpid, 39
tbaa_system execve, 59
tbaa_system fcntl, 72
tbaa_system geteuid, 107
tbaa_system personality, 135
tbaa_system gettid, 186
tbaa_system _exit, 231
tbaa_system process_vm_readv, 310
tbaa_system getrandom, 318
tbaa_system statx, 332
.purgem tbaa_own
.purgem tbaa_system
