#!/bin/bash
# Builds real programs by their own build systems with CC="tbaa cc", runs their own tests, and
# lists every kind of report.
#
#   crates/tbaa-witness/programs.sh FOLDER [zlib|lua|zstd|sqlite|mimalloc|spdlog|gawk]...
#
# `NAME-fresh` is program NAME after fresh/NAME.patch: its own allocator calls tbaa_witness_fresh.
# `NAME-fixed` is the same after fixed/NAME.patch, too: what remained is corrected.
#
# FOLDER gets Debian's sources (apt needs a `deb-src` line), a log and the reports of each program.
# `tbaa` is looked for on the path. Lua's tests are no part of Debian's source: LUA=DIR names a
# checkout of Lua's own repository. Needs clang-22 and jq, Debian's tcl-dev for SQLite, cmake for
# mimalloc and spdlog, and Debian's libfmt-dev and catch2 for spdlog.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$(realpath -m "$1"); shift
[ $# -gt 0 ] || set -- zlib lua zstd sqlite mimalloc spdlog gawk
mkdir -p "$folder"
export CLANG=${CLANG:-clang-22} CC="tbaa cc" CXX="tbaa c++" CPATH=$here/include
jobs=${JOBS:-2}

# Applies the patches that the program is named after.
patched() {
  local kind kinds
  case $program in *-fresh) kinds=fresh ;; *-fixed) kinds="fresh fixed" ;; *) kinds= ;; esac
  for kind in $kinds; do
    [ ! -e "$here/$kind/$name.patch" ] || patch -p1 < "$here/$kind/$name.patch" || exit 2
  done
}

# source PACKAGE: unpacks it afresh, and goes there.
source_of() {
  cd "$folder" || exit 2
  rm -rf "work-$program"
  ls "$1"_*.dsc > /dev/null 2>&1 || apt-get -q source --download-only "$1" || exit 2
  dpkg-source --no-check -x "$1"_*.dsc "work-$program" > /dev/null && cd "work-$program" || exit 2
  patched
}

# try COMMAND...: runs it, and says how it ended.
try() {
  TBAA_WITNESS="exitcode=0:reuse=1:log_path=$folder/$program-reports/log:json=$folder/$program-reports/%p.json" \
    timeout 1500 bash -c "$*" >> "$folder/$program.log" 2>&1
  local status=$?
  echo "$program: $* : status $status"
}

zlib() { source_of zlib
  try ./configure
  try "make -j$jobs"
  try make test; }

lua() {
  if [ -n "${LUA:-}" ]; then
    rm -rf "$folder/work-$program"; cp -r "$LUA" "$folder/work-$program"; cd "$folder/work-$program" || exit 2
    patched
    # Without its internal tests, which need a compiler's flags of their own.
    try "make -j$jobs CC='$CC' CFLAGS='-O2 -std=c99 -DLUA_USE_LINUX -fno-stack-protector' MYCFLAGS= MYLDFLAGS=-Wl,-E MYLIBS=-ldl lua"
    try "cd testes && ../lua -e '_U=true' all.lua"
  else
    source_of lua5.4
    try "make -j$jobs -C src linux CC='$CC'"
    try "src/lua -e 'print(_VERSION)'"
  fi; }

zstd() { source_of libzstd
  try "make -j$jobs -C programs zstd CC='$CC' MOREFLAGS=-O1 HAVE_LZMA=0 HAVE_LZ4=0 HAVE_ZLIB=0"
  try "make -j$jobs -C tests datagen fuzzer CC='$CC' MOREFLAGS=-O1"
  try "tests/datagen -g2000000 > x && for l in 1 3 9 16 19; do programs/zstd -q -f -\$l x && programs/zstd -q -f -d x.zst -o y && cmp x y || exit 1; done"
  try "tests/fuzzer -v -s7 -i20 -T60s"; }

sqlite() { source_of sqlite3
  try "./configure --disable-readline CFLAGS=-O1 && make sqlite3.c"
  try "make -j$jobs sqlite3 testfixture CFLAGS=-O1"
  try "for t in select1 insert trigger1 index join where window1 json101 vacuum fts3aa rtree1 e_select boundary1 printf malloc5; do f=\$(find test ext -name \$t.test); ./testfixture \$f || exit 1; done"; }

mimalloc() { source_of mimalloc
  try "cmake -B build -DCMAKE_BUILD_TYPE=Release -DMI_BUILD_TESTS=ON"
  try "cmake --build build -j$jobs"
  try "cd build && ctest --output-on-failure -E stress"
  try build/mimalloc-test-stress 4 5 3; }

spdlog() { source_of spdlog
  try "cmake -B build -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 -DSPDLOG_BUILD_TESTS=ON -DSPDLOG_BUILD_EXAMPLE=OFF"
  try "cmake --build build -j$jobs"
  try "cd build/tests && ./spdlog-utests"; }

gawk() { source_of gawk
  try "./configure --disable-mpfr --disable-nls"
  # Debian's source has no manual.
  try "make -j$jobs -C support && make -j$jobs gawk && make -j$jobs -C extension"
  try "make -k -C test check"; }

for program; do
  name=${program%-f*}
  rm -rf "$folder/$program-reports" "$folder/$program.log"
  mkdir "$folder/$program-reports"
  ( "$name" )
  cd "$folder/$program-reports" || exit 2
  find . -name '*.json' -exec cat {} + | jq -rs '
    def at: "\(.does) \(.bytes) \(.says) in \(.function) \(.file | split("/") | last):\(.line)";
    "\(length) processes, \(map(.contradictions) | add // 0) reports, kinds: \([.[].kinds[] | [.first.does, .first.says, .second.says]] | unique | length)",
    ([.[].kinds[]] | group_by([.first.does, .first.says, .second.says])[] |
      "  \(map(.pairs) | add)  \(.[0].first | at) / \(.[0].second | at)"),
    "forgotten at calls: \([.[].unknown_calls[].bytes] | add // 0) bytes, \([.[].unknown_calls[].all_memory] | add // 0) times all memory",
    ([.[].unknown_calls[]] | group_by(.function) | map({f: .[0].function, n: (map(.times) | add), b: (map(.bytes) | add), a: (map(.all_memory) | add)}) | sort_by(-.b) | .[:12][] |
      "  \(.n) times, \(.b) bytes\(if .a > 0 then ", \(.a) times all" else "" end): \(.f)")'
done
