#!/bin/sh
# Format, lints, documentation, and what each crate offers.
set -eu
cd "$(dirname "$0")/.."

cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
for features in '' declare serde derive; do
    cargo clippy -p tbaa --no-default-features --features "$features" --quiet -- -D warnings
done
RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --quiet
cargo test -p tbaa-api --quiet
