# A search that is killed leaves a script that puts the program back; another search asks for it.
cp "$HERE"/split/*.c .
for file in main put get; do "$TBAA" cc --record record -O2 -flto -c $file.c; done
"$TBAA" cc --record record -O2 -flto main.o put.o get.o -o program
sha1sum program ./*.o > before
# The search's own test kills it, once the program has been changed.
printf 'echo >> runs\nif [ $(wc -l < runs) = 6 ]; then kill -9 $(cat pid); fi\n./program\n' > test.sh
export TMPDIR=$PWD # What a killed search leaves goes with the test.
sh -c 'echo $$ > pid; exec "$TBAA" bisect --build record -- sh test.sh' > out 2>&1 || true
status=0; sha1sum -c before > out 2>&1 || status=$?
test $status != 0
status=0; "$TBAA" bisect --build record -- ./program 2> out || status=$?
test $status = 2
grep -q 'run `sh record/restore.sh` first' out
sh record/restore.sh
sha1sum -c before
"$TBAA" bisect --build record -- ./program > out || test $? = 1
sha1sum -c before
test ! -e record/restore.sh
