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
