#!/bin/sh
# Runs what the guides show for C and for inkwell with other versions of LLVM:
#     sh tests/versions.sh [VERSION...]
# A version is a number such as 16, whose llvm-config is there; without one, all of those are run that the machine has.
# LLVM 14 has typed pointers: there the headers for LLVM are compiled, and tbaa-inkwell is.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}/versions
here=$PWD
[ $# -gt 0 ] || set -- $(for version in 14 15 16 17 18 19 20 21 22; do
    command -v "llvm-config-$version" >/dev/null && echo "$version"
done)
cargo build -q --locked -p tbaa-capi --lib
mkdir -p "$target/user/src"
BUILT=${CARGO_TARGET_DIR:-target}/debug sh crates/tbaa-capi/install.sh "$target/prefix" >/dev/null

# in_c VERSION: the programs against llvm-c.
in_c() {
    config=llvm-config-$1
    flags="-Wall -Werror -isystem $($config --includedir) -I$target/prefix/include -Icrates/tbaa-capi/tests/c"
    libraries="-L$target/prefix/lib -Wl,-rpath,$target/prefix/lib -ltbaa $($config --ldflags --libs core) \
        -Wl,-rpath,$($config --libdir)"
    for header in tbaa-llvm.h tbaa-llvm.hpp; do
        language=c++
        case $header in *.h) language=c ;; esac
        # shellcheck disable=SC2086 # a list of words
        [ ! -f "$target/prefix/include/$header" ] ||
            echo "#include <$header>" | cc -x $language $flags -fsyntax-only -
    done
    [ "$1" -gt 14 ] || { echo "LLVM $1: the headers compile"; return; }
    for program in examples/c/stack examples/c/regions crates/tbaa-capi/tests/c/llvm crates/tbaa-capi/tests/c/tagged crates/tbaa-capi/tests/c/tag; do
        # What it shows of LLVM's passes is so from LLVM 16 on.
        case $1$program in 15*tagged) continue ;; esac
        # shellcheck disable=SC2086 # lists of words
        cc $flags "$program.c" -o "$target/program" $libraries
        "$target/program" >"$target/printed"
        if [ -f "$program.expected" ]; then
            cmp "$program.expected" "$target/printed"
        else
            [ "$(cat "$target/printed")" = ok ]
        fi
        echo "LLVM $1: $program.c"
    done
}

# in_rust VERSION: the guide's programs, in a crate of their own.
in_rust() {
    minor=0
    [ "$1" -lt 18 ] || minor=1
    cat >"$target/user/Cargo.toml" <<END
[package]
name = "user"
version = "0.0.0"
edition = "2024"
[dependencies]
inkwell = { version = "0.11", default-features = false, features = ["llvm$1-$minor-prefer-dynamic", "target-x86"] }
tbaa = { path = "$here", features = ["derive"] }
tbaa-inkwell = { path = "$here/crates/tbaa-inkwell", default-features = false, features = ["llvm$1-$minor"] }
[workspace]
END
    cp Cargo.lock "$target/user"
    printf '#![doc = include_str!("%s/docs/embed-inkwell.md")]\nuse tbaa_inkwell as _;\n' "$here" >"$target/user/src/lib.rs"
    # Before LLVM 15 `build_load` takes no type.
    command=test
    [ "$1" -gt 14 ] || command=check
    (cd "$target/user" &&
        env "LLVM_SYS_$1${minor}_PREFIX=$("llvm-config-$1" --prefix)" CARGO_TARGET_DIR="$target/$1" cargo $command -q)
    echo "LLVM $1: tbaa-inkwell ($command)"
}

for version in "$@"; do
    in_c "$version"
    in_rust "$version"
done
