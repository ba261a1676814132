// Title: 64-bit numbers taken apart by a pointer cast
// Asked: BN_nist_mod_192 reads 64-bit words as `unsigned int`. Why does a whole block vanish?
// Source: https://github.com/openssl/openssl/issues/12247
// Answer: C forbids reading `unsigned long` as `unsigned int`. Shift, or use memcpy.
// $ tbaa run FILE
// says: as "long"
// says: as "int"
// exit: 66
#include <stdio.h>
static unsigned long word[2] = {1, 2};
int main(void) { word[0] = 5; printf("%u\n", ((unsigned *)word)[0]); }
