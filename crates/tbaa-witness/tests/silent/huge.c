/* More bytes than there are. */
#include <stdint.h>
#include <stdlib.h>
#include "tbaa_witness.h"

int main(void) {
  int *block = malloc(64);
  *block = 1;
  tbaa_witness_wrote(block, SIZE_MAX);
  tbaa_witness_fresh(block, SIZE_MAX / 2);
  return *block != 1;
}
