#!/bin/bash
# Puts checked programs beside the same programs plain and with clang's TypeSanitizer, in one run:
# who finds which planted fault, and what a dozen programs cost.
#
#   crates/tbaa-witness/compare.sh FOLDER [faults|planted|zlib|lua|zstd|sqlite|lz4|lz4hc|quickjs|expat|janet|pugixml|mimalloc|gawk|forgotten]...
#
# FOLDER gets Debian's sources (apt needs a `deb-src` line) where it has no folder of the source's name yet, the
# programs and `compare.log`. Janet's `build/c/janet.c` is to be there. `tbaa` is looked for on the path. Needs clang-22 with its sanitizers, GNU time, jq, and tclsh for SQLite.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$(realpath -m "$1"); shift
[ $# -gt 0 ] || set -- faults planted zlib lua zstd sqlite lz4 lz4hc quickjs expat janet pugixml mimalloc gawk forgotten
mkdir -p "$folder"; cd "$folder" || exit 2
export CLANG=${CLANG:-clang-22} TBAA_WITNESS=exitcode=0
rounds=${ROUNDS:-3}
# `before` is an older tbaa, $BEFORE.
ways=${WAYS:-plain checked type}
compiler() {
  case $1 in plain) echo "$CLANG" ;; before) echo "$BEFORE cc" ;; checked) echo "tbaa cc" ;; type) echo "$CLANG -fsanitize=type" ;; esac
}

source_of() {
  [ -d "$1" ] && return
  ls "$1"_*.dsc > /dev/null 2>&1 || apt-get -q source --download-only "$1" >> compare.log 2>&1 || exit 2
  dpkg-source --no-check -x "$1"_*.dsc "$1" >> compare.log 2>&1
}

faults() {
  local found=0 all=0 type=0 library; library=$(dirname "$(command -v tbaa)")/libtbaa_witness.so
  printf '%-24s %-8s %-8s %s\n' fault checked type clang
  for file in "$here"/tests/faults/* "$here"/tests/repeated/* "$here"/tests/broken/* "$here"/tests/silent/bit_fields.c; do
    local name; name=$(basename "$file"); local ours=- theirs=- clang=
    [[ $file == */broken/* ]] && clang='broken at -O2'
    [[ $file == */silent/* ]] && clang='no tags: not broken'
    local plus=; [[ $name == *.cpp ]] && plus="-x c++ -std=c++20 -lstdc++"
    case $name in
    *.ll) tbaa instrument "$file" -o f.ll >> compare.log 2>&1 &&
      "$CLANG" -O1 -w f.ll -rdynamic "$library" "-Wl,-rpath,${library%/*}" -pthread -o f 2>> compare.log &&
      TBAA_WITNESS=exitcode=0:reuse=1 ./f 2>&1 | grep -q '^tbaa-witness: contradiction' && ours=found ;;
    *) tbaa cc -O1 -w -I"$here/include" $plus "$file" -x none -pthread -lm -o f 2>> compare.log &&
      TBAA_WITNESS=exitcode=0:reuse=1 ./f 2>&1 | grep -q '^tbaa-witness: contradiction' && ours=found
      # What a program says to the runtime, TypeSanitizer has no ear for.
      echo 'void tbaa_witness_fresh(void *p, unsigned long n) {} void tbaa_witness_wrote(void *p, unsigned long n) {}' > none.c
      "$CLANG" -w -c none.c -o none.o &&
      "$CLANG" -O1 -w -g -fsanitize=type -I"$here/include" $plus "$file" -x none none.o -pthread -lm -o f 2>> compare.log &&
      ./f 2>&1 | grep -q 'TypeSanitizer: type-aliasing-violation' && theirs=found ;;
    esac
    printf '%-24s %-8s %-8s %s\n' "$name" $ours $theirs "$clang"
    all=$((all + 1)); [ $ours = found ] && found=$((found + 1)); [ $theirs = found ] && type=$((type + 1))
  done
  echo "of $all planted faults: checked $found, type $type"
}

# Faults planted in real programs of Debian 12 by the patches in `planted`, which mark the lines of the two accesses. None
# changes what a program does, as long as a compiler takes no types into account.
planted() {
  printf '%-22s %-8s %-8s %s\n' fault checked type "clang -O2"
  local found=0 all=0 type=0 broken=0 patch
  for patch in ${PLANTED:-"$here"/planted/*.patch}; do
    local name; name=$(basename "$patch" .patch); local package=${name%-*} work=planted-$name
    source_of "$package"
    rm -rf "$work"; cp -r "$package/." "$work"; patch -s -d "$work" -p1 < "$patch" || exit 2
    local compare=$here/tests/compare flags=-I$work files run=
    case $package in
    zlib) files="$(ls "$work"/{deflate,inflate,inffast,trees,crc32,adler32,inftrees,zutil,compress,uncompr}.c) $compare/round_trip.c" ;;
    lua5.4) flags=-DLUA_USE_LINUX; run=$compare/closures.lua; files=$(ls "$work"/src/l*.c | grep -v luac)
      echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' > "$work/src/lua5.4-deb-multiarch.h" ;;
    cjson) files="$work/cJSON.c $compare/cjson.c" ;;
    lz4) flags=-I$work/lib; files="$work/lib/lz4.c $work/lib/lz4hc.c $compare/lz4.c"; run='1 1' ;;
    pugixml) flags=-I$work/src; files="$work/src/pugixml.cpp $compare/pugixml.cpp" ;;
    mimalloc) flags="-DNDEBUG -I$work/include"; files="$work/src/static.c $compare/mimalloc.c"; run=5 ;;
    lmdb) flags=-I$work/libraries/liblmdb; run=$work
      files="$work/libraries/liblmdb/mdb.c $work/libraries/liblmdb/midl.c $compare/lmdb.c" ;;
    esac
    # Where the marks are: FILE:LINE.
    local marks; marks=$(cd "$work" && grep -rnE '(/\*|//) (first|second)( \*/)?$' --include='*.c' --include='*.cpp' . |
      sed -E 's#^(.*/)?([^/:]+:[0-9]+):.*#\2#')
    local ours=- theirs=- clang=same
    built() { # OUT COMPILER...: the files, and links them.
      local out=$1 file objects=; shift
      for file in $files; do
        local object=$work/${file//\//-}.o
        "$@" -g -w $flags -c "$file" -o "$object" 2>> compare.log; objects+=" $object"
      done
      "$@" -w $objects -o "$work/$out" -lstdc++ -lm -ldl -pthread 2>> compare.log
    }
    result() { rm -f "$work"/*.mdb; timeout 60 "$work/$1" $run 2> "$work/$1.log"; echo "status $?"; }
    built plain "$CLANG" -O2; built untyped "$CLANG" -O2 -fno-strict-aliasing
    built checked tbaa cc -O1; built type "$CLANG" -O1 -fsanitize=type
    [ "$(result plain)" = "$(result untyped)" ] || clang=broken
    # One report has both lines. TypeSanitizer says where it is, and what was there before.
    result checked > "$work/checked.out"
    grep -A4 '^tbaa-witness: contradiction' "$work/checked.log" | grep -F "$marks" | cut -d, -f2 | sort -u | wc -l |
      grep -q '^2$' && ours=found
    result type > "$work/type.out"; grep -qF "$marks" "$work/type.log" && theirs=found
    grep -q 'status 139' "$work/type.out" && theirs="$theirs, crashes"
    printf '%-22s %-8s %-8s %s\n' "$name" "$ours" "$theirs" $clang
    all=$((all + 1)); [ $ours = found ] && found=$((found + 1)); [ "${theirs%,*}" = found ] && type=$((type + 1))
    [ $clang = broken ] && broken=$((broken + 1))
  done
  echo "of $all faults planted in real programs: checked $found, type $type, broken by clang -O2 $broken"
}

# measured NAME COMMAND...: appends user seconds and peak kilobytes to a file.
measured() {
  local name=$1; shift
  timeout "${SECONDS_AT_MOST:-120}" /usr/bin/time -a -o "$name.times" -f '%U %M' "$@" > out 2>> compare.log ||
    [ $? != 124 ] || echo "signal: stopped after ${SECONDS_AT_MOST:-120} s" >> "$name.times"
}
# The mean of the middle half: times are printed in hundredths of a second, and some programs take few of them.
middle() {
  sort -n | awk '{a[NR] = $1} END {
    cut = int(NR / 4); for (i = 1 + cut; i <= NR - cut; i++) { sum += a[i]; n++ }; printf "%.3f", n ? sum / n : 0 }'
}

# program NAME FLAGS SOURCES RUN...: each way, compiled once, run in turn.
program() {
  local name=$1 flags=$2 files=$3; shift 3
  rm -f "$name".*/*.o "$name".*.times "$name".*.compile.times
  for way in $ways; do
    mkdir -p "$name.$way"; local number=0
    for file in $files; do
      number=$((number + 1))
      measured "$name.$way.compile" $(compiler $way) -O2 -g -w $flags -c "$file" -o "$name.$way/$number.o"
    done
    $(compiler $way) -w -Wl,-E "$name.$way"/*.o -lstdc++ -lm -ldl -pthread -o "$name.$way/program" 2>> compare.log ||
      echo "$name.$way is not linked; compare.log says why" >&2
  done
  for round in $(seq "$rounds"); do
    for way in $ways; do
      # TypeSanitizer takes long, so it runs once.
      [ $way = type ] && [ "$round" -gt 1 ] || measured "$name.$way" "$name.$way/program" "$@"
    done
  done
  printf '%-10s %-8s %10s %10s %10s %10s\n' "$name" way 'compile s' 'code' 'run s' 'memory KB'
  for way in $ways; do
    local compile code run memory
    [ -f "$name.$way.times" ] || continue
    compile=$(awk '{s += $1} END {printf "%.1f", s}' "$name.$way.compile.times")
    code=$(size -A "$name.$way"/*.o | awk '/^\.text/ {s += $2} END {print s}')
    # A program that a signal has ended has one more line.
    local ended=; ended=$(grep '^[^0-9]' "$name.$way.times" | sort -u)
    run=$(grep '^[0-9]' "$name.$way.times" | cut -d' ' -f1 | middle)
    memory=$(grep '^[0-9]' "$name.$way.times" | cut -d' ' -f2 | middle)
    memory=${memory%.*}
    [ $way = plain ] && { local c=$compile d=$code r=$run m=$memory; }
    printf '%-10s %-8s %10s %10s %10s %10s   ' '' $way "$compile" "$code" "$run" "$memory"
    awk -v a="$compile" -v b="$c" -v e="$code" -v f="$d" -v g="$run" -v h="$r" -v i="$memory" -v j="$m" -v ended="$ended" \
      'BEGIN {printf "x %.1f %.1f %.1f %.1f %s\n", a / b, e / f, g / (h > 0 ? h : 0.01), i / j, ended}'
  done
}

zlib() {
  source_of zlib
  program zlib -Izlib "zlib/deflate.c zlib/inflate.c zlib/inffast.c zlib/trees.c zlib/crc32.c zlib/adler32.c
    zlib/inftrees.c zlib/zutil.c zlib/compress.c zlib/uncompr.c $here/tests/compare/round_trip.c"
}

lua() {
  local sources=${LUA:-}
  [ -n "$sources" ] || { source_of lua5.4; sources=lua5.4/src; }
  # Debian's sources of Lua include a header that the package generates.
  echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' | tee "$sources"/lua5.{3,4}-deb-multiarch.h > /dev/null
  program lua "-DLUA_USE_POSIX -DLUA_USE_DLOPEN" \
    "$(ls "$sources"/l*.c | grep -v -e ltests -e luac)" "$here/tests/compare/bench.lua"
}

zstd() {
  source_of libzstd
  local lib=libzstd/lib
  program zstd "-I$lib -DZSTD_DISABLE_ASM" \
    "$(ls $lib/common/*.c $lib/compress/*.c $lib/decompress/*.c) $here/tests/compare/round_trips.c"
}

sqlite() {
  source_of sqlite3
  [ -f sqlite3/sqlite3.c ] || (cd sqlite3 && ./configure --disable-readline && make sqlite3.c) >> compare.log 2>&1
  program sqlite "-DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -Isqlite3" \
    "sqlite3/sqlite3.c $here/tests/compare/sqlite.c" "$here/tests/compare/statements.sql"
}

lz4_at() { source_of lz4; program "$1" -Ilz4/lib "lz4/lib/lz4.c lz4/lib/lz4hc.c $here/tests/compare/lz4.c" "$2" "$3"; }
lz4() { lz4_at lz4 1 40; }
lz4hc() { lz4_at lz4hc 9 4; }

quickjs() {
  source_of quickjs
  program quickjs "-D_GNU_SOURCE -DNDEBUG -DCONFIG_VERSION=\"x\" -Iquickjs" "quickjs/quickjs.c quickjs/libregexp.c
    quickjs/libunicode.c $(ls quickjs/cutils.c quickjs/libbf.c quickjs/dtoa.c 2> /dev/null) $here/tests/compare/quickjs.c"
}

expat() {
  source_of expat
  local lib; lib=$(dirname "$(find -L expat -name xmlparse.c | head -1)")
  touch "$lib/expat_config.h"
  program expat "-I$lib -DXML_GE=1 -DXML_NS=1 -DXML_DTD=1 -DXML_CONTEXT_BYTES=1024 -DXML_POOR_ENTROPY -DBYTEORDER=1234" \
    "$lib/xmlparse.c $lib/xmlrole.c $lib/xmltok.c $here/tests/compare/expat.c"
}

janet() {
  program janet "-Ijanet/src/include -Ijanet/src/conf -fPIC -std=c99" \
    "janet/build/c/janet.c janet/src/mainclient/shell.c" "$here/tests/compare/bench.janet"
}

pugixml() {
  source_of pugixml
  program pugixml -Ipugixml/src "pugixml/src/pugixml.cpp $here/tests/compare/pugixml.cpp"
}

mimalloc() {
  source_of mimalloc
  program mimalloc "-DNDEBUG -Imimalloc/include" "mimalloc/src/static.c $here/tests/compare/mimalloc.c" 1000
}

gawk() {
  source_of gawk
  [ -f gawk/config.h ] || (cd gawk && CC=$CLANG ./configure --disable-mpfr --disable-nls --without-readline) >> compare.log 2>&1
  program gawk "-DHAVE_CONFIG_H -DGAWK -DDEFPATH=\"\" -DDEFLIBPATH=\"\" -DSHLIBEXT=\"so\" -DLOCALEDIR=\"\" -Igawk -Igawk/support" \
    "$(ls gawk/*.c gawk/support/{dfa,dynarray,getopt,getopt1,localeinfo,pma,random,regex}.c 2> /dev/null |
      grep -v -e awklib)" -f "$here/tests/compare/bench.awk"
}

# What forgetting at calls of unknown functions loses: the same runs once more, and with all
# functions taken for harmless.
forgotten() {
  echo '*' > harmless
  for name in zlib lua zstd sqlite; do
    local run="$name.checked/program"
    [ -x "$run" ] || { echo "$name: run '$0 $folder $name' first"; continue; }
    case $name in
    zlib | zstd) set -- "$run" ;;
    lua) set -- "$run" "$here/tests/compare/bench.lua" ;;
    sqlite) set -- "$run" "$here/tests/compare/statements.sql" ;;
    esac
    TBAA_WITNESS=exitcode=0:json=with.json "$@" > out 2>> compare.log
    TBAA_WITNESS=exitcode=0:json=without.json:harmless=harmless "$@" > out 2>> compare.log
    jq -rs --arg name $name '
      "\($name): \([.[0].unknown_calls[].times] | add // 0) calls of \(.[0].unknown_calls | length) functions, \([.[0].unknown_calls[].bytes] | add // 0) bytes and \([.[0].unknown_calls[].all_memory] | add // 0) times all memory forgotten; pairs compared \(.[0].pairs_compared) of \(.[1].pairs_compared); reports \(.[0].contradictions) of \(.[1].contradictions)",
      (.[0].unknown_calls | sort_by(-.bytes)[:6][] | "  \(.times) times, \(.bytes) bytes: \(.function)")' with.json without.json
  done
}

for part; do "$part"; done
