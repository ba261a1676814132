    .section .tbss, "awT", @nobits
.globl __tbaa_witness_inside
.hidden __tbaa_witness_inside
.type __tbaa_witness_inside, @object
__tbaa_witness_inside:
    .zero 1
    .size __tbaa_witness_inside, 1
.text
