# What clang writes beside the object has the names that clang gives it.
. "$HERE/common"
mkdir obj
quiet $cc -O1 --coverage -c main.c -o obj/x.o
quiet $cc -O1 --coverage -c put.c
has obj/x.gcno put.gcno
quiet $cc -O1 --coverage obj/x.o put.o -o counted
reports counted
has obj/x.gcda put.gcda
quiet $cc -O1 --coverage main.c put.c -o obj/at_once
reports obj/at_once
has obj/at_once-main.gcno obj/at_once-main.gcda obj/at_once-put.gcda
quiet $cc -g -gsplit-dwarf -c main.c -o obj/split.o
quiet $cc -g -gsplit-dwarf main.c put.c -o split
has obj/split.dwo split-main.dwo split-put.dwo
# clang 22 warns of its own assembly then.
$cc -save-temps -c main.c
$cc -save-temps=obj -c put.c -o obj/put.o
$cc -save-temps main.c put.c -o temps
has main.i main.s put.i put.s obj/put.s obj/put.i
ls > names
lacks '^module' names
