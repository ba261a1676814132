#!/bin/sh
# Packages the crates as `cargo publish` does, and uses the files as their users do. It builds a
# program that depends on all of them, each pinned to this version, and runs the tests of each
# package by themselves:
#     sh packaging/crates.sh [CRATE...]
# tests the packages that are given, and all when none is. Nothing outside a package is in reach of
# it, and nothing is downloaded. TBAA_LLVM=require lets no test skip what needs LLVM 22.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}/crates" && cd "${CARGO_TARGET_DIR:-target}/crates" && pwd)
unset CARGO_TARGET_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

crates=
for manifest in Cargo.toml crates/*/Cargo.toml; do
    crates="$crates $(sed -n '/^\[package\]/,/^$/s/^name = "\(.*\)"/\1/p' "$manifest")"
done
# shellcheck disable=SC2086,SC2046 # lists of words
cargo package --quiet --offline --no-verify --allow-dirty --target-dir "$target" \
    $(printf -- ' -p %s' $crates)

# In the place of a registry.
mkdir "$work/.cargo" "$work/user" "$work/user/src"
{
    printf '[net]\noffline = true\n[build]\ntarget-dir = "%s"\n[patch.crates-io]\n' "$target"
    for crate in $crates; do
        tar -C "$work" -xzf "$target/package/$crate-$version.crate"
        printf '%s = { path = "%s" }\n' "$crate" "$work/$crate-$version"
    done
} >"$work/.cargo/config.toml"

# What crates share may change in any version: one that asked for a later one would not compile.
for crate in $crates; do
    awk -v pin="version = \"=$version\"" -v crate="$crate" '
        /^\[/ { sibling = /dependencies\.tbaa/ }
        sibling && /^version = / && $0 != pin { print crate ": " $0 ", not " pin; wrong = 1 }
        END { exit wrong }' "$work/$crate-$version/Cargo.toml"
done

cp Cargo.lock "$work/user"
{
    printf '[package]\nname = "user"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\n'
    for crate in $crates; do
        case $crate in
        tbaa) printf '%s = { version = "=%s", features = ["derive"] }\n' "$crate" "$version" ;;
        # A program, and what programs under checks are linked with.
        tbaa-cli | tbaa-witness) ;;
        *) printf '%s = "=%s"\n' "$crate" "$version" ;;
        esac
    done
} >"$work/user/Cargo.toml"
{
    for crate in $crates; do
        case $crate in
        tbaa | tbaa-cli | tbaa-witness) ;;
        *) printf 'use %s as _;\n' "$(printf %s "$crate" | tr - _)" ;;
        esac
    done
    cat packaging/user.rs
} >"$work/user/src/main.rs"
(cd "$work/user" && cargo run --quiet)

for crate in ${*:-$crates}; do
    echo "tests of $crate $version"
    (cd "$work/$crate-$version" && cargo test --quiet)
done
