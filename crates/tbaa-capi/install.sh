#!/bin/sh
# Builds libtbaa and installs it under a prefix, /usr/local when none is given:
#     sh crates/tbaa-capi/install.sh [PREFIX]
# BUILT=FOLDER installs the libraries of a folder, as the tests do.
# Linux; elsewhere take the libraries from target/release by hand.
set -eu
prefix=${1:-/usr/local}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
cd "$here/../.."

built=${BUILT:-${CARGO_TARGET_DIR:-target}/release}
[ -n "${BUILT:-}" ] || cargo build -q -p tbaa-capi --lib --release
# What a program that links the static library must link besides, as rustc says.
log=$(: | rustc --crate-type staticlib --print native-static-libs -o "$prefix/.empty.a" - 2>&1) ||
    { printf '%s\n' "$log" >&2; exit 1; }
rm -f "$prefix/.empty.a"
native=$(printf '%s\n' "$log" | sed -n 's/^.*native-static-libs: //p' | tail -n 1)
abi=$(sed -n 's/^#define TBAA_ABI_VERSION //p' "$here/include/tbaa.h")
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)

install -d "$prefix/lib/pkgconfig" "$prefix/lib/cmake/tbaa" "$prefix/include"
install -m 644 "$built/libtbaa_capi.so" "$prefix/lib/libtbaa.so.$version"
ln -sf "libtbaa.so.$version" "$prefix/lib/libtbaa.so.$abi"
ln -sf "libtbaa.so.$abi" "$prefix/lib/libtbaa.so"
install -m 644 "$built/libtbaa_capi.a" "$prefix/lib/libtbaa.a"
install -m 644 "$here"/include/*.h "$here"/include/*.hpp "$prefix/include"
fill() {
    sed -e "s|@prefix@|$prefix|" -e "s|@version@|$version|" -e "s|@abi@|$abi|" \
        -e "s|@native@|$native|" "$here/package/$1.in" >"$prefix/lib/$2/$1"
}
fill tbaa.pc pkgconfig
fill tbaaConfig.cmake cmake/tbaa
fill tbaaConfigVersion.cmake cmake/tbaa
echo "installed libtbaa $version in $prefix"
