#!/bin/sh
# Builds the example and runs all programs under every switch, or what it is
# told: sh examples/lua-jit/run.sh --statistics examples/lua-jit/programs/sieve.lua
set -eu
cd "$(dirname "$0")/../.."
if ! command -v llvm-config-22 >/dev/null; then
    echo "LLVM 22 is not here. On Debian and Ubuntu: apt-get install llvm-22-dev" >&2
    exit 1
fi
LLVM_SYS_221_PREFIX=$(llvm-config-22 --prefix)
export LLVM_SYS_221_PREFIX
[ $# -gt 0 ] || set -- --all
exec cargo run --release --quiet -p tbaa-lua-jit -- "$@"
