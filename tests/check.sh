#!/bin/sh
# Format, lints, documentation, and what each crate offers.
set -eu
cd "$(dirname "$0")/.."

# As in run.sh, or what depends on LLVM would be compiled anew.
LLVM_SYS_221_PREFIX=${LLVM_SYS_221_PREFIX:-$(llvm-config-22 --prefix)}
export LLVM_SYS_221_PREFIX

cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
for features in '' declare serde derive equal; do
    cargo clippy -p tbaa --no-default-features --features "$features" --quiet -- -D warnings
done
RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet
cargo test -p tbaa-api --quiet
