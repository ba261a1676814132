# Headers that are compiled ahead, at any level.
. "$HERE/common"
for flags in "" -O2 "-O0 -g"; do
  quiet $cc $flags -x c-header put.h -o put.pch
  quiet $cc $flags put.h -o put.h.pch
  quiet $cc $flags -include-pch put.pch main.c put.c -o program
  reports program
  quiet $cc $flags -include put.h main.c put.c -o program
done
