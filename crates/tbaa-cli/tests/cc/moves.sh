# A program with the library beside it runs where it is moved to.
. "$HERE/common"
mkdir lib
cp "$TBAA_WITNESS_LIBRARY/libtbaa_witness.so" lib
TBAA_WITNESS_LIBRARY=lib quiet $cc -O1 main.c put.c -o program
reports program
mv lib/libtbaa_witness.so .
reports program
