# What watches a program does not run through it: a program that has a function of the C library's of its own counts as
# many calls of it as without checks. A report is made all the same.
. "$HERE/common"
names=$(sed -n 's/^#\(el\)\?if \([a-z0-9_]*\)_$/\2/p' "$HERE/own.c")
[ "$(echo "$names" | wc -l)" = 22 ]
for name in $names; do
  for way in "" -static; do
    # A static program starts by some of them.
    case $way$name in -staticmem* | -staticstrlen | -staticgetenv | [!-]*) ;; *) continue ;; esac
    flags="-O1 -w -fno-builtin -D${name}_ $way $HERE/own.c"
    clang-22 $flags -o plain
    $cc -g $flags -o checked 2> said || { cat said; exit 1; }
    timeout 60 ./plain > expected
    ends 0 ./checked
    # The dynamic linker calls a program's `malloc`, which says nothing.
    [ $name = malloc ] || cmp said expected || { echo "$name $way: $(cat said), not $(cat expected)"; exit 1; }
    ends 66 ./checked wrong
    says 'contradiction 1: a write, and a later read'
  done
done
