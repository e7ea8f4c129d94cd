#!/bin/bash
# whatif.sh - compares what steps of the ladders gained on an H200 with what-if bounds of the simulated H200.
#
#     tests/sim/time/whatif.sh BUILD [LAB...]     BUILD holds whatif and runner-sim; LAB: 06_transpose
#
# steps.txt names the cause that each step removes. A bound holds if the measured gain does not exceed it by more than
# the error of the modelled gain: if the measured or the modelled gain is at most the bound. Prints the rows of the
# table in docs/simulator-validation.md. Fails if a row is not in that table, or if another bound holds than expected.
set -euo pipefail
cd "$(dirname "$0")/../../.."
build=$(cd "${1:?the build folder}" && pwd)
shift
export LC_ALL=C WARPBOOK_BUILD=$build
table=docs/simulator-validation.md

. grader/build/toolkit.sh
if [ -z "$nvcc" ] || [ ! -x "$build/runner-sim" ]; then
    echo "whatif: skipped, nvcc not found"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || mapfile -t labs < <(grep -v '^#' tests/sim/time/steps.txt | cut -d'|' -f1 | uniq)
[ $# -eq 0 ] || labs=("$@")

for lab in "${labs[@]}"; do
    grep "^$lab|" tests/sim/time/steps.txt > "$work/steps" || { echo "whatif: steps.txt has no $lab"; exit 1; }
    sed -n "s|^\([0-9][^/]*/.*\)/ratio \([0-9.]*\)$|$lab\t\1\t\2|p" "docs/measured/$lab.check.txt" >> "$work/measured"
    grep -v '|-|' "$work/steps" | awk -F'|' '{ print $2, $4; print $3, "none" }' | sort -u > "$work/calls" || true
    cut -d' ' -f1 "$work/calls" | sort -u | while read -r kernel; do
        mapfile -t causes < <(awk -v kernel="$kernel" '$1 == kernel && $2 != "none" { print $2 }' "$work/calls")
        nice "$build/whatif" sim:h200 "$lab" "$PWD/solutions/$lab/$kernel.cu" none "${causes[@]}" | sed "s|^|$lab\t|"
    done >> "$work/modelled"
    cat "$work/steps" >> "$work/steps.all"
done

awk -f tests/sim/time/whatif.awk grader/sim/base/cause.h "$work/measured" "$work/modelled" "$work/steps.all" \
    > "$work/out" || { cat "$work/out"; exit 1; }

grep '^| [0-9]' "$work/out" > "$work/rows"
cat "$work/rows"
tail -1 "$work/out"
if missing=$(grep -vxFf "$table" "$work/rows"); then
    echo "$missing"
    echo "whatif: these rows are not in $table"
    exit 1
fi
echo "whatif: passed"
