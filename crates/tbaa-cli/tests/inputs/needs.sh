# Shows a fault where, in a module (`-` for standard input), stores of all these numbers have tags.
module=$1
shift
tagged=$(grep -cE "store i32 ($(echo "$@" | tr ' ' '|')),.*!tbaa" "$module")
[ "$tagged" != $# ]
