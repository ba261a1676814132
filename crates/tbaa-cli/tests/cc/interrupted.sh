# Ctrl-C puts a recorded build back, and leaves nothing behind.
. "$HERE/common"
cp "$HERE"/split/*.c .
for module in main put get; do quiet $cc --record record -O2 -flto -c $module.c; done
quiet $cc --record record -O2 -flto main.o put.o get.o -o program
files="program main.o put.o get.o"
mkdir before temporary
cp $files before
cat > test.sh << 'END'
echo >> count
./program
status=$?
[ $(wc -l < count) -le 3 ] || sleep 60
exit $status
END
# Waits until something is so, for a minute at most.
wait_for() { for _ in {1..6000}; do "$@" && return; sleep 0.01; done; return 1; }
# With all tags the program is run three times; then it is built without any.
is_changed() {
  [ -f count ] && [ $(wc -l < count) -gt 3 ] && ! cmp -s program before/program
}
# A background process of a script ignores Ctrl-C, unless the script controls its jobs.
set -m
TMPDIR=$PWD/temporary "$TBAA" bisect --build record -- sh test.sh &
set +m
wait_for is_changed
kill -INT $!
status=0
wait $! || status=$?
[ $status = 130 ]
for file in $files; do cmp $file before/$file; done
[ -z "$(ls temporary)" ]
