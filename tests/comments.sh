#!/bin/sh
# Counts the comments of the Rust code that begin with a word that often hides the subject, and the rest:
#     sh tests/comments.sh [--list]
# A comment is a run of lines of one kind (`//`, `///` or `//!`). A first word such as "In" can be fine English: the
# list is of places to read, and no judgement.
set -eu
cd "$(dirname "$0")/.."
git ls-files '*.rs' | xargs awk -v list="${1:-}" '
    BEGIN { n = split("Of What Whether As Where How That Those So Why Which In", w); while (n) word[w[n--]] }
    FNR == 1 { kind = "" }
    !match($0, /^[ \t]*\/\/[\/!]?/) { kind = ""; next }
    {
        this = substr($0, RSTART, RLENGTH); text = substr($0, RSTART + RLENGTH); gsub(/[ \t]/, "", this)
        if (this == kind || text ~ /^\//) next
        kind = this; all++; split(text, first, /[^A-Za-z]+/)
        if (!((first[1] != "" ? first[1] : first[2]) in word)) next
        found++
        if (list) print FILENAME ":" FNR ":" text
    }
    END { printf "%d of %d comments (%.1f %%)\n", found, all, 100 * found / all }'
