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
# files COMMAND...: what it makes in a folder.
files() {
  rm -rf new
  mkdir -p new/out
  cp main.c put.? new
  (cd new && quiet "$@" && find . -type f)
}
for where in cwd obj; do
  for task in "-c main.c -o out/x.o" "main.c put.c -o out/x" "-S put.c -o out/put.s"; do
    files clang-22 -w -save-temps=$where $task | sort > expected
    files $cc -save-temps=$where $task | sort | diff expected -
  done
done
