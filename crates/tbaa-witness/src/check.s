    .cfi_startproc
    push rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    mov rbp, rsp
    .cfi_def_cfa_register rbp
    sub rsp, 2688
    and rsp, -64
    mov rcx, rdx
    cmp byte ptr [rip + {xsave}], 0
    je 2f
    xor eax, eax
    mov [rsp + 512], rax
    mov [rsp + 520], rax
    mov [rsp + 528], rax
    mov [rsp + 536], rax
    mov [rsp + 544], rax
    mov [rsp + 552], rax
    mov [rsp + 560], rax
    mov [rsp + 568], rax
    mov eax, 0xe6
    xor edx, edx
    xsave64 [rsp]
    mov rdx, rcx
    call {check}
    mov eax, 0xe6
    xor edx, edx
    xrstor64 [rsp]
    jmp 3f
2:
    fxsave64 [rsp]
    call {check}
    fxrstor64 [rsp]
3:
    leave
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
