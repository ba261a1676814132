# A project is compiled, linked and checked.
. "$HERE/common"
quiet $cc -O2 -Wall -Werror -MD -c main.c -o main.o
quiet $cc -O2 -MMD -MF put.dep -c put.c
# Rules are for the objects, and name the headers.
grep '^main.o:' main.d
grep 'put.h' main.d
grep '^put.o:.*put.h' put.dep
quiet $cc main.o put.o -o program
reports program
# Several inputs at once, a response file, the default name.
printf -- "-O1 main.c\n'put.c' -D\"X=a b\"" > line
quiet $cc @line
reports a.out
rm put.o
quiet $cc -c main.c put.c
has put.o
# At -O0, too; a shared library; link-time optimisation.
quiet $cc -O0 main.c put.c -o unoptimised
reports unoptimised
quiet $cc -O1 -fPIC -shared put.c -o libput.so
quiet $cc -O1 main.c -L. -lput -Wl,-rpath,. -o with_library
reports with_library
# Far from its data, code cannot name it.
quiet $cc -O1 -mcmodel=large main.c put.c -o large
reports large
quiet $cc -O2 -flto -c main.c -o main.o
quiet $cc -O2 -flto -c put.c -o put.o
quiet $cc -O2 -flto main.o put.o -o optimised
reports optimised
# What is no compiling is clang's alone.
$cc -E main.c > said
says 'void put(float \*p);'
quiet $cc -O1 -S put.c
grep -q __tbaa_witness_check put.s
$cc --version > said
says 'clang version'
$cc --help > help 2> said
grep -q 'OVERVIEW: clang' help
says 'note: `tbaa cc` is clang with run-time checks'
if [ -f /usr/lib/x86_64-linux-gnu/libc.a ]; then
  $cc -O1 -static main.c put.c -o static
  reports static
fi
