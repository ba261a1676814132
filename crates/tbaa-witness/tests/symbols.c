// Prints the names of the table, each of which the program's own loader finds at that address.
#define _GNU_SOURCE
#include "tbaa_witness.h"
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  for (const tbaa_witness_symbol *it = tbaa_witness_symbols; it->name; it++)
    if (dlsym(RTLD_DEFAULT, it->name) == it->address)
      puts(it->name);
  return 0;
}
