/*
 * Functions for programs that run with libtbaa_witness, the library that checks
 * the !tbaa tags of modules which `tbaa instrument` has instrumented.
 *
 * They are not needed for memory that comes from malloc and related functions,
 * from mmap or from the stack, and that only checked code and the C library
 * write. They may be called from any thread. A program that does not link the
 * library can define them as empty macros.
 */
#ifndef TBAA_WITNESS_H
#define TBAA_WITNESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An allocator of the program calls this when it returns `size` bytes for a new
 * object: what they held before no longer counts. */
void tbaa_witness_fresh(const void *address, size_t size);

/* Reports that unchecked code has written `size` bytes: any read of them is
 * allowed. */
void tbaa_witness_wrote(const void *address, size_t size);

/* Returns how many contradictions have been reported so far. Each pair of accesses counts once. */
uint32_t tbaa_witness_reports(void);

/* A name that modules with checks use, and the address of its function or variable. */
typedef struct tbaa_witness_symbol {
    const char *name;
    const void *address;
} tbaa_witness_symbol;

/* All such names of this library, for a JIT whose loader does not look names up in the process.
 * An entry whose name is null ends the table. */
extern const tbaa_witness_symbol tbaa_witness_symbols[];

#ifdef __cplusplus
}
#endif

#endif
