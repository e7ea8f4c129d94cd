#!/bin/bash
# figures.sh check|write|missing [FOLDER] - compares every marked figure in the lessons and docs/answers with the
# measured one in docs/measured/LAB.*.txt. figures.awk describes both formats. check: reports differences with file,
# line and cell, and fails. write: fills the figures in. missing: lists figures that have not been measured.
set -euo pipefail
awk=$(cd "$(dirname "$0")" && pwd)/figures.awk
mode=${1:-check}
cd "${2:-$(dirname "$0")/..}"
case $mode in check | write | missing) ;; *) echo "usage: tests/figures.sh check|write|missing" >&2; exit 2 ;; esac

said=$(mktemp)
trap 'rm -f "$said"' EXIT
faults=0 measured=0 unmeasured=0
shopt -s nullglob

for text in labs/*/README.md docs/answers/*.md; do
    case $text in labs/*) lab=$(basename "$(dirname "$text")") ;; *) lab=$(basename "$text" .md) ;; esac
    fine=1
    awk -v mode="$mode" -f "$awk" docs/measured/"$lab".*.txt "$text" > "$said" || fine=0 faults=1
    case $mode in
    check)
        read -r m u < "$said"
        measured=$((measured + m)) unmeasured=$((unmeasured + u))
        ;;
    write) [ $fine = 0 ] || cmp -s "$said" "$text" || { cat "$said" > "$text" && echo "written: $text"; } ;;
    missing) cat "$said" ;;
    esac
done
[ "$mode" != check ] || echo "figures in tables and sentences: $measured as stored, $unmeasured not measured yet"
exit $faults
