/*
 * What a program may say to libtbaa_witness, which checks the !tbaa tags of
 * modules that `tbaa instrument` has worked on.
 *
 * None of these is needed where memory comes from malloc and its family, from
 * mmap or from the stack, and is written by checked code or by the C library.
 * All may be called from any thread. In a program without the library they can
 * be defined to nothing.
 */
#ifndef TBAA_WITNESS_H
#define TBAA_WITNESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For an allocator of one's own: `size` bytes are given out for something new,
 * whatever they held before. */
void tbaa_witness_fresh(const void *address, size_t size);

/* Code that is not checked has written `size` bytes: nothing is known of them,
 * and any read of them is fine. */
void tbaa_witness_wrote(const void *address, size_t size);

/* How many contradictions have been reported so far: each pair of accesses counts once. */
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
