# A module without tags gets some, and checks: a wrong promise is found when the program runs.
. "$HERE/common"
module="$HERE/../../../tbaa-tag/tests/attacks/tagged_union.ll"
checked() {
    "$TBAA" tag "$module" "$@" 2> said | "$TBAA" instrument - -o checked.ll > count
    clang-22 -w -O1 checked.ll "$TBAA_WITNESS_LIBRARY/libtbaa_witness.so" "-Wl,-rpath,$TBAA_WITNESS_LIBRARY" -o prog
}
checked
grep '6 of 6 accesses tagged' said
[ "$(./prog)" = '0 4.5' ]
checked --nominal Shape --nominal Circle
ends 66 ./prog
# An input that is the output is no input any more; a module that has tags keeps them.
cp "$module" here.ll
ends 2 "$TBAA" tag here.ll -o here.ll
cmp here.ll "$module"
"$TBAA" tag here.ll -o tagged.ll 2> said
"$TBAA" tag tagged.ll 2> said | cmp - tagged.ll
grep 'has a tag already' said
# What tags would buy.
[ -z "$(command -v opt-22)" ] || "$TBAA" worth --tag "$module" --runs 0 --keep kept 2> said | grep loads
