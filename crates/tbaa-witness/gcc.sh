#!/bin/bash
# Runs the programs of GCC's own test suite with checks, and sums what is said of them.
#
#   crates/tbaa-witness/gcc.sh FOLDER [NTH]
#
# FOLDER gets Debian's package gcc-12-source (by apt-get), a line for each program in `results`, and what was said of it
# in `said`. With NTH only every NTH program is tried. A program is right if it ends with 0 at -O2 and
# without strict aliasing, and broken if it does so only without. A report is true if its two accesses alone, as
# `repro=` writes them, end otherwise after LLVM's -O2; one of memory that is called constant is counted as not judged.
# `tbaa` is looked for on the path; opt-22 and lli-22 judge. JOBS=N programs run at once.
set -u
here=$(realpath "$0") folder=$(realpath -m "$1") nth=${2:-1}
export CLANG=${CLANG:-clang-22} folder

# outcome PROGRAM: its status and what it prints.
outcome() { (cd "$(dirname "$1")" && timeout 20 "./$(basename "$1")" 2>&1 < /dev/null; echo "status $?") | tail -c 4096; }

# one SOURCE: a line "NAME KIND TRUE FALSE UNJUDGED WARNINGS".
one() {
  local source=$1 work name plus= flags kind reports warnings all=0 true=0 unjudged text
  name=${source#"$folder"/testsuite/}
  work=$folder/work/${name//\//_}
  mkdir -p "$work"
  case $source in *.C) plus=++ flags= ;; */gcc.c-torture/*) flags=-std=gnu89 ;; *) flags= ;; esac
  # GCC 12 warns of these.
  flags="$flags -Wno-incompatible-pointer-types -Wno-int-conversion -Wno-implicit-function-declaration -Wno-implicit-int"
  flags="-w -lm $flags $(grep -h 'dg-.*options' "$source" | grep -oE -- '-(fwrapv|std=[a-z0-9+]+|fgnu89-inline|fno-strict-aliasing)' | sort -u | tr '\n' ' ')"
  compile() { $CLANG ${plus:+--driver-mode=g++} "$source" $flags "$@" 2> /dev/null; }
  compile -O2 -fno-strict-aliasing -o "$work/right" && compile -O2 -o "$work/plain" || { echo "$name refused 0 0 0 0"; rm -r "$work"; return; }
  if [[ $(outcome "$work/right") != *"status 0" ]]; then
    kind=wrong
  elif [[ $(outcome "$work/plain") != *"status 0" ]]; then
    kind=broken
  else
    kind=right
  fi
  reports=0 warnings=0
  if [ $kind != wrong ]; then
    if ! tbaa c${plus:-c} "$source" $flags -O1 -g -o "$work/checked" > "$work/said" 2>&1; then
      kind=$kind-not-compiled
    else
      text=$(cd "$work" && TBAA_WITNESS=exitcode=0:repro=$work:json=$work/json timeout 60 ./checked 2>&1 < /dev/null; echo "status $?")
      printf '%s\n' "$text" > "$work/said"
      reports=$(grep -c '^tbaa-witness: contradiction' "$work/said")
      warnings=$(grep -c '^tbaa-witness: warning [0-9]*:' "$work/said")
      [[ $text == *"status 0" ]] || [ $kind = broken ] || kind=$kind-changed
      grep -q 'a table was full\|cannot reserve\|is not checked' "$work/said" && kind=$kind-in-part
      for all in "$work"/*-*.ll; do
        [ -e "$all" ] || continue
        opt-22 -O2 "$all" -o "$work/optimised.bc" 2> /dev/null && ! lli-22 "$work/optimised.bc" && true=$((true + 1))
      done
      unjudged=$(grep -c '^  repro  none' "$work/said")
    fi
  fi
  { [ "$reports$warnings" = 00 ] && [[ $kind == right || $kind == wrong ]]; } || cp "$work/said" "$folder/said/${name//\//_}" 2> /dev/null
  echo "$name $kind $true $((reports + warnings - true - ${unjudged:-0})) ${unjudged:-0} $warnings"
  rm -r "$work"
}

if [ "${2:-}" = --one ]; then
  one "$3"
  exit
fi
mkdir -p "$folder/said" && cd "$folder" || exit 2
if [ ! -d testsuite ]; then
  ls gcc-12-source_*.deb > /dev/null 2>&1 || apt-get -q download gcc-12-source || exit 2
  dpkg-deb --fsys-tarfile gcc-12-source_*.deb | tar -xO --wildcards './usr/src/gcc-12/gcc-*.tar.xz' |
    tar -xJ --wildcards --strip-components=2 '*/gcc/testsuite/gcc.c-torture/execute' '*/gcc/testsuite/gcc.dg/torture' '*/gcc/testsuite/g++.dg/torture' || exit 2
fi
{
  find testsuite/gcc.c-torture/execute -maxdepth 1 -name '*.c'
  find testsuite/gcc.c-torture/execute/ieee -name '*.c'
  grep -lE 'dg-do +run' testsuite/gcc.dg/torture/*.c testsuite/g++.dg/torture/*.C
} | LC_ALL=C sort | awk "NR % $nth == 0 { print \"$folder/\" \$0 }" |
  xargs -P "${JOBS:-2}" -n 1 bash "$here" "$folder" --one > results
awk '
  { n[$2]++; right = $2 ~ /^right/ }
  right { programs++; true += $3; false += $4; unjudged += $5; if ($3 + $4 + $5) reported++; else if ($6) warned++; else if ($2 == "right") silent++ }
  $2 ~ /^broken/ { broken++; if ($3 + $4 + $5) found++; else if ($6) hinted++; else missed = missed " " $1 }
  END {
    printf "%d programs are right: %d silent, %d with warnings alone, %d with reports\n", programs, silent, warned, reported
    printf "reports of right programs: %d true for LLVM, %d false, %d not judged\n", true, false, unjudged
    printf "%d are broken by -O2: %d reported, %d with warnings alone; silent:%s\n", broken, found, hinted, missed == "" ? " none" : missed
    for (kind in n) printf "  %5d %s\n", n[kind], kind
  }' results | sort -s -k1,1r
