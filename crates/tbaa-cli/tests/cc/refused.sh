# Other sanitizers are refused, and another machine's program gets no library of this one.
. "$HERE/common"
for name in type address thread leak memory; do
  ends 2 $cc -O1 -fsanitize=undefined,$name -c main.c -o no.o
  says "-fsanitize=$name cannot be together with checks"
  [ ! -e no.o ]
done
quiet $cc -O1 -fsanitize=address,undefined -fno-sanitize=address -c main.c
echo 'int f(int *p) { return *p; }' > alone.c
ends 0 $cc -m32 -c alone.c
says 'alone.c is compiled without checks: expected x86_64'
printf '#!/bin/sh\necho "$@" > line\n' > linker
chmod +x linker
for flags in -m32 --target=i686-linux-gnu "-m64 -mx32"; do
  $cc $flags alone.o --ld-path=./linker
  lacks libtbaa_witness line
done
for flags in "" --target=x86_64-linux-gnu "-m32 -m64"; do
  $cc $flags alone.o --ld-path=./linker
  grep -q libtbaa_witness line
done
