# Headers that are compiled ahead, at any level, and the runtime's own.
. "$HERE/common"
for flags in "" -O2 "-O0 -g"; do
  quiet $cc $flags -x c-header put.h -o put.pch
  quiet $cc $flags put.h -o put.h.pch
  quiet $cc $flags -include-pch put.pch main.c put.c -o program
  reports program
  quiet $cc $flags -include put.h main.c put.c -o program
done
printf '#include "tbaa_witness.h"\nint main(void) { tbaa_witness_fresh(0, 0); return 0; }\n' > own.c
root=$(realpath "$HERE/../../../..")
# Without the system's headers, of which an installed tbaa_witness.h is one.
cc="$cc -nostdlibinc"
# Where cargo builds into the repository, the header is found there.
case $TBAA in "$root"/*) quiet $cc -fsyntax-only own.c ;; esac
# As it is installed; a folder of the program's goes first.
mkdir -p place/lib place/include first
cp "$TBAA_WITNESS_LIBRARY/libtbaa_witness.so" place/lib
cp "$root/crates/tbaa-witness/include/tbaa_witness.h" place/include
export TBAA_WITNESS_LIBRARY=$PWD/place/lib
quiet $cc -Wall -Werror own.c -o own
quiet $cc -fsyntax-only own.c
cp own.c own.h
quiet $cc own.h -o own.pch
echo 'extern int first; void tbaa_witness_fresh(void *, unsigned long);' > first/tbaa_witness.h
$cc -E -idirafter first own.c > said
says 'extern int first'
