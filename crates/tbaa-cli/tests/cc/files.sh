# The files that a program with checks writes: what cannot be written is said, and no other user's link is followed.
. "$HERE/common"
quiet $cc -O1 main.c put.c -o program
TBAA_WITNESS=log_path=none/log ends 66 ./program
says '^tbaa-witness: cannot write none/log\.[0-9]*: No such file .*; this goes to standard error$'
[ $(grep -c 'cannot write' said) = 1 ]
says '^tbaa-witness: contradiction 1: '
# One's own links and the system's are followed.
ln -s target.json link.json
for option in json=link.json sarif=/dev/stdout; do
  TBAA_WITNESS=$option ends 66 ./program
  lacks 'cannot write'
done
says sarif-2.1.0
grep -q '"contradictions": 1' target.json
# Root alone can make another user's link.
[ $(id -u) = 0 ] || exit 0
chown -h 65534 link.json
for option in json=link.json sarif=link.json; do
  echo mine > target.json
  TBAA_WITNESS=$option ends 66 ./program
  says '^tbaa-witness: cannot write link.json: it is another user.s symbolic link$'
  [ "$(cat target.json)" = mine ]
done
# The number of the process is known to who waits for it.
for option in log_path=log repro=.; do
  printf 'ln -s target.json log.$$; ln -s target.json $$-1.ll; chown -h 65534 log.$$ $$-1.ll; exec ./program\n' > run.sh
  TBAA_WITNESS=$option ends 66 sh run.sh
  says 'cannot write .*: it is another user.s symbolic link'
  [ "$(cat target.json)" = mine ]
done
# Another user follows that user's own link, and root's.
command -v setpriv > said || exit 0
shared=$(mktemp -d)
trap "rm -r $shared" EXIT
chmod 1777 $shared
cp program "$TBAA_WITNESS_LIBRARY/libtbaa_witness.so" $shared
ln -s $shared/target $shared/link
for owner in 65534 0; do
  chown -h $owner $shared/link
  rm -f $shared/target
  TBAA_WITNESS=json=$shared/link ends 66 setpriv --reuid=65534 --regid=65534 --clear-groups $shared/program
  has $shared/target
done
chown -h 65533 $shared/link
TBAA_WITNESS=json=$shared/link ends 66 setpriv --reuid=65534 --regid=65534 --clear-groups $shared/program
says 'cannot write .*: it is another user.s symbolic link'
