#!/bin/sh
# Follows the README and the tutorial on a bare Debian 12, made with debootstrap, with rustup's stable toolchain:
#     sh tests/fresh.sh [--quick]
# Each block runs in the order of the page, in a clone of this repository's last commit. A line says how it ended and the
# seconds it took; what went wrong is shown. `--quick` leaves out the lines that run the tests. Needs root, debootstrap
# and rustup on a Debian machine, whose mirror, proxies, certificates and registry are used; 20 GB and an hour.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
quick=${1:-}
work=$(mktemp -d /var/tmp/tbaa-fresh.XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' HUP INT TERM
root=$work/root
failed=
ran=

# in_root FOLDER COMMANDS: runs commands of a shell in the root. What is mounted there, and its processes, go when it
# ends.
in_root() {
    unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" \
        sh -c 'mount -t devpts -o newinstance,ptmxmode=666 devpts "$1/dev/pts" && exec chroot "$@"' sh "$root" env -i \
        HOME=/root PATH=/root/.cargo/bin:/opt/stable/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive NO_COLOR=1 http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
        no_proxy="${no_proxy:-}" sh -c 'mkdir -p "$1" && cd "$1" && eval "$2"' sh "$1" "$2" </dev/null
}

# step TITLE COMMAND...: runs a command, and says how it ended. What it prints is left in `out`.
step() {
    title=$1
    shift
    start=$(date +%s) end=ok
    "$@" >"$work/out" 2>&1 || end=FAILED
    tests=$(awk '/^test result: / { p += $4; f += $6 } END { if (p + f) print " (" p " tests passed, " f " failed)" }' \
        "$work/out")
    printf '%-6s %5d s  %s%s\n' "$end" $(($(date +%s) - start)) "$title" "$tests"
    [ $end = ok ] || { failed=yes; tail -n 60 "$work/out" | sed 's/^/       | /'; }
}

make_root() {
    . /etc/os-release
    sites() { apt-get indextargets --format "$1" 'Created-By: Packages' 'Origin: Debian' | sort -u; }
    toolchain=$(rustup run stable rustc --print sysroot) cargo=${CARGO_HOME:-$HOME/.cargo} config=$root/root/.cargo
    debootstrap --variant=minbase bookworm "$root" "$(sites '$(SITE)' | head -n 1)" &&
        sites 'deb $(SITE) $(RELEASE) $(COMPONENT)' | sed "s/ $VERSION_CODENAME/ bookworm/" >"$root/etc/apt/sources.list" &&
        apt-config dump Acquire | sed -n '/::Proxy\|::Check-/p' >"$root/etc/apt/apt.conf.d/99machine" &&
        cp /etc/resolv.conf /etc/hosts "$root/etc" &&
        cp -R /usr/local/share/ca-certificates "$root/usr/local/share" &&
        in_root / 'apt-get update -q' &&
        mkdir -p "$root/opt/stable" "$config" &&
        cp -R "$toolchain/bin" "$toolchain/lib" "$toolchain/libexec" "$root/opt/stable" &&
        { [ ! -f "$cargo/config.toml" ] || cp "$cargo/config.toml" "$config"; } &&
        git clone -q --no-hardlinks "$here" "$root/root/tbaa"
}

# blocks PAGE: the code of a page, each block in a file whose name ends in its kind, in order.
blocks() {
    mkdir -p "$work/blocks/$1"
    awk -v to="$work/blocks/$1/" '
        /^```/ && !file { file = sprintf("%s%03d.%s", to, ++n, substr($0, 4)); printf "" > file; next }
        /^```/ { close(file); file = ""; next }
        file { print > file }' "$root/root/tbaa/$1"
    ls "$work/blocks/$1"/*
}

# session FOLDER FILE: types the commands of a session, and compares what a terminal shows with the page.
session() {
    commands=$(awk '/^\$ / { print "cat <<\"TYPED\"\n" $0 "\nTYPED\n" substr($0, 3) }' "$2")
    in_root "$1" "exec 2>&1
$commands" >"$work/shown" || :
    # A line `...` of the page stands for any lines.
    awk 'function same(e, s) {
            for (; e <= page && expected[e] != "..."; e++) if (s > all || expected[e] != shown[s++]) return 0
            if (e > page) return s > all
            for (; s <= all + 1; s++) if (same(e + 1, s)) return 1
            return 0
        }
        NR == FNR { expected[++page] = $0; next }
        { shown[++all] = $0 }
        END { exit !same(1, 1) }' "$2" "$work/shown" || { diff "$2" "$work/shown"; return 1; }
}

# The examples in Rust of a page, as documentation of a crate that depends on this one.
examples() {
    for block in "$work/blocks/$1"/*.rust; do
        echo '```'
        cat "$block"
        echo '```'
    done >"$root/root/mine/src/examples.md"
    echo '#![doc = include_str!("examples.md")]' >"$root/root/mine/src/lib.rs"
    in_root /root/mine 'cargo test --doc'
}

# What the page says of a machine without LLVM, before that is installed: by the first command on a C file.
without_llvm() {
    first=$(cat "$work/blocks/README.md"/*.console | sed -n '/^\$ .*\.c /{s/^\$ //;p;q}')
    step "without clang, this names the packages: $first" \
        in_root /root/tutorial ": >vec.c; $first >said 2>&1; cat said; grep -q 'apt-get install clang-22 llvm-22' said"
    tests=$(cat "$work/blocks/README.md"/*.sh | grep '^sh tests/run.sh --without-llvm')
    run /root/tbaa "$tests"
    # A build that fails now is no hindrance later.
    in_root /root/tbaa 'cargo check -p tbaa-inkwell --tests' >"$work/out" 2>&1 || :
}

# run FOLDER LINE: a command of a list. One that has been run is not run again.
run() {
    case $quick$2 in --quick*tests/run.sh*) return 0 ;; esac
    case $ran in *"
$2
"*) return 0 ;; esac
    ran="$ran
$2
"
    case $2 in
    *PATH_TO_THIS*)
        step "$2" in_root /root/mine "[ -f Cargo.toml ] || cargo init --lib; $(echo "$2" | sed 's|PATH_TO_THIS|/root/tbaa|')"
        step "the examples in Rust" examples README.md
        return
        ;;
    apt-get*clang-22*)
        without_llvm
        # Debian's own is older, and not preferred.
        commands="set -e
$2
apt-get install -y -q clang"
        ;;
    # Status 1 says that something was found.
    "tbaa "*) commands="$2
[ \$? -le 1 ]" ;;
    *) commands=$2 ;;
    esac
    step "$2" in_root "$1" "$commands"
}

# follow PAGE FOLDER
follow() {
    echo "== $1 =="
    for block in $(blocks "$1"); do
        case $block in
        *.rust) ;;
        *.console)
            step "$(sed -n '1s/^\$ //p' "$block") ($(grep -c '^\$ ' "$block") commands, as the page shows)" session "$2" "$block"
            ;;
        *.sh) while read -r line; do [ -z "$line" ] || run "$2" "$line"; done <"$block" ;;
        *)
            name=$(sed -nE '1s/^(\/\/|;|#) ([^ \/]+\.[^ \/]+)$/\2/p' "$block")
            [ -z "$name" ] || { mkdir -p "$root$2" && cp "$block" "$root$2/$name"; }
            ;;
        esac
    done
}

step "debootstrap, the stable toolchain and a clone" make_root
[ -z "$failed" ] || exit 1
echo "$(git -C "$here" log -1 --format=%h), $(in_root / 'rustc --version'), Debian $(cat "$root/etc/debian_version")"
follow README.md /root/tbaa
follow docs/tutorial.md /root/tutorial
[ -z "$failed" ] && echo "all is as the pages say"
