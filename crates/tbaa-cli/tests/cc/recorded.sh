# A guilty pair is found in a recorded build of three modules, of which two have one access each.
. "$HERE/common"
cp "$HERE"/split/*.c .
for module in main put get; do quiet $cc --record record -O2 -flto -c $module.c; done
# One of the objects is in an archive.
command -v llvm-ar-22 > said || exit 0
llvm-ar-22 rc libget.a get.o
quiet $cc --record record -O2 -flto main.o put.o -L. -lget -o program
# The program is as it would be without recording: wrong.
ends 1 ./program
files="program put.o libget.a"
mkdir before
cp $files before
ends 1 "$TBAA" bisect --build record -- ./program
says '^2 of '
says 'put.c:2:.*, in @put ('
says 'get.c:1:.*, in @get ('
says 'their tags promise that 1 and 2 never overlap'
# The checks run the whole program, and its test says no more than without tags.
says '^so the program or its tags are wrong'
says 'write .* as "'
# All is as it was.
for file in $files; do cmp $file before/$file; done
ends 0 "$TBAA" bisect --build record -- true
says "^the program's tags are not to blame: the fault does not show with all of them$"
ends 2 "$TBAA" bisect --build nothing -- true
says "build with CC='tbaa cc --record nothing'"
# A library by the name of its file, among flags of the linker.
rm program
quiet $cc --record record -O2 -flto main.o put.o -L. -Wl,--start-group,libget.a,--end-group -l:libget.a -o named
ends 1 "$TBAA" bisect --build record -- ./named
says 'get.c:1:.*, in @get ('
# What would not get into the program is told of.
cp get.o renamed.o
llvm-ar-22 d libget.a get.o
llvm-ar-22 rc libget.a renamed.o
ends 2 "$TBAA" bisect --build record -- ./named
says 'no recorded link reads .*get.o, neither itself nor as the only member of that name'
llvm-ar-22 d libget.a renamed.o
ends 2 "$TBAA" bisect --build record -- ./named
says 'no recorded link reads .*get.o'
