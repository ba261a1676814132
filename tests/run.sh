#!/bin/sh
# Installs what the tests need (Debian packages; cargo fetches the rest) and
# runs all of them, the comparisons with LLVM 22 included:
#     sh tests/run.sh [--without-llvm] [FLAGS OF CARGO TEST]
# With --without-llvm it installs nothing: what needs LLVM or another program
# that is not there is left out.
set -eu
cd "$(dirname "$0")/.."

install() {
    packages="clang-22 llvm-22 llvm-22-dev libc6-dev python3"
    # For the programs in C and C++ that use libtbaa; clang takes the C++ library of `g++`.
    packages="$packages gcc g++ make cmake pkgconf valgrind libc6-dbg libclang-rt-22-dev"
    missing=
    for package in $packages; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    echo "installing$missing"
    sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends \
        $missing >/dev/null
}

linking=
if [ "${1:-}" = --without-llvm ]; then
    shift
    linking="--exclude tbaa-inkwell"
else
    install
    # A build that found no LLVM is remembered by llvm-sys until this is another.
    LLVM_SYS_221_PREFIX=${LLVM_SYS_221_PREFIX:-$(llvm-config-22 --prefix)}
    # A missing LLVM fails the comparisons instead of skipping them.
    export LLVM_SYS_221_PREFIX TBAA_LLVM=require
fi
# What users get is tested as they get it. The tests of the whole compare each answer with the
# definition's; their build has a folder of its own, for other flags mean other builds of all.
# shellcheck disable=SC2086 # a list of packages
cargo test --workspace --exclude tbaa-tests --exclude tbaa-api $linking "$@"
RUSTFLAGS="${RUSTFLAGS:-} --cfg tbaa_self_check" \
    cargo test -p tbaa-tests --target-dir "${CARGO_TARGET_DIR:-target}/self-check" "$@"
