# What does not compile ends with clang's own words and status.
. "$HERE/common"
echo 'int f(void) { return x; }' > bad.c
echo 'int f(void) { int x; return 1; }' > warns.c
ends 1 $cc -c bad.c
says "bad.c:1:22: error: use of undeclared identifier 'x'"
[ ! -e bad.o ]
ends 0 $cc -Wall -c warns.c
[ $(grep -c "warning: unused variable 'x'" said) = 1 ]
ends 1 $cc -Wall -Werror -c warns.c
ends 1 $cc no.o -o no
ends 1 $cc -c no.c
# A file is named where one cannot be read or written.
mkdir gone
cd gone
rmdir ../gone
echo 'int x;' > "$OLDPWD"/fine.c
ends_gone=0
$cc --record "$OLDPWD"/record -c "$OLDPWD"/fine.c -o "$OLDPWD"/fine.o 2> "$OLDPWD"/said || ends_gone=$?
cd "$OLDPWD"
[ $ends_gone = 2 ]
says '^error: cannot find the current folder: '
