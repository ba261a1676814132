#!/bin/sh
# Makes a tarball and a Debian package of the command, its manual, pages and completions, and
# the two libraries with their headers:
#     sh packaging/package.sh [FOLDER]
# They are put into FOLDER, target/package when none is given. C and C++ users link the
# libraries in there: no Rust is needed to use them. BUILT=FOLDER takes what was built
# before. Linux; the Debian package needs dpkg-deb.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
out=${1:-target/package}
mkdir -p "$out"
out=$(cd "$out" && pwd)
built=${BUILT:-${CARGO_TARGET_DIR:-target}/release}
[ -n "${BUILT:-}" ] || cargo build -q --release --locked -p tbaa-cli -p tbaa-witness -p tbaa-capi
export BUILT="$built"
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
machine=$(uname -m)
name=tbaa-$version-linux-$machine
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Everything under one prefix; what differs between the two packages is the prefix alone.
fill() {
    root=$1
    install -d "$root/bin" "$root/lib" "$root/share/man/man1" "$root/share/doc/tbaa" \
        "$root/share/bash-completion/completions" "$root/share/zsh/site-functions" \
        "$root/share/fish/vendor_completions.d"
    install -m 755 "$built/tbaa" crates/tbaa-cli/bin/tbaa-* "$root/bin"
    install -m 644 "$built/libtbaa_witness.so" "$built/libtbaa_witness.a" "$root/lib"
    sh crates/tbaa-capi/install.sh "$root" >/dev/null
    install -m 644 crates/tbaa-witness/include/*.h "$root/include"
    "$built/tbaa" man "$root/share/man/man1" >/dev/null
    "$built/tbaa" completions bash >"$root/share/bash-completion/completions/tbaa"
    "$built/tbaa" completions zsh >"$root/share/zsh/site-functions/_tbaa"
    "$built/tbaa" completions fish >"$root/share/fish/vendor_completions.d/tbaa.fish"
    install -m 644 CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$root/share/doc/tbaa"
    # The pages, and the files that they link to; none of these links is dead.
    for page in README.md docs/*.md; do
        install -D -m 644 "$page" "$root/share/doc/tbaa/$page"
        grep -oE '\]\([^)]*|^\[[^]]*\]: .*' "$page" | sed -E 's/^\]\(|^\[[^]]*\]: //; s/#.*//; /:|^$/d' |
            while read -r link; do
                file=$(realpath -m --relative-to=. "$(dirname "$page")/$link")
                install -D -m 644 "$file" "$root/share/doc/tbaa/$file"
            done
    done
}

# The tarball may be unpacked anywhere: CMake finds the prefix by itself, and so does pkg-config.
fill "$work/$name"
sed -i 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$work/$name/lib/pkgconfig/tbaa.pc"
tar -C "$work" -czf "$out/$name.tar.gz" "$name"
echo "$out/$name.tar.gz"

command -v dpkg-deb >/dev/null || { echo "no dpkg-deb: no Debian package"; exit 0; }
deb=$work/deb
fill "$deb/usr"
find "$deb/usr/lib" -type f \( -name '*.pc' -o -name '*.cmake' \) -exec sed -i "s|$deb||g" {} +
gzip -9n "$deb"/usr/share/man/man1/*.1
install -d "$deb/DEBIAN"
cat >"$deb/DEBIAN/control" <<CONTROL
Package: tbaa
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: the tbaa developers <tbaa@localhost>
Section: devel
Priority: optional
Depends: libc6, libgcc-s1
Suggests: clang-22, llvm-22
Description: dump, query and explain LLVM's type-based alias analysis metadata
 The command tbaa says why LLVM loads a value again, checks the !tbaa tags of a
 module, and finds wrong ones. libtbaa makes tags for compilers written in C and
 C++, and libtbaa_witness checks tags while a program runs.
CONTROL
package=tbaa_${version}_$(dpkg --print-architecture).deb
dpkg-deb --root-owner-group --build "$deb" "$out/$package" >/dev/null
echo "$out/$package"
