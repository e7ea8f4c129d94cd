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
    cat "$work/steps" >> "$work/all"
done

awk -F '\t' -v words="$(sed -n 's/.*X(CAUSE_[A-Z]*, "\(.*\)", "\(.*\)").*/\1=\2/p' grader/sim/base/cause.h)" '
    function words_of(keys,   n, i, part, text) {
        n = split(keys, part, ",")
        for (i = 1; i <= n; i++) text = text (i > 1 ? " and " : "") word[part[i]]
        return text
    }
    BEGIN {
        n = split(words, line, "\n")
        for (i = 1; i <= n; i++) { split(line[i], part, "="); word[part[1]] = part[2] }
    }
    FILENAME ~ /measured$/ { ratio[$1 "/" $2] = $3; next }
    FILENAME ~ /modelled$/ { ms[$1 "/" $2, $3] = $4; split($2, part, "/"); key = $1 "/" part[1]
                             if ($3 == "none") name_of[key, ++count[key]] = part[2]; next }
    {
        split($0, f, "|")
        lab = f[1]; from = f[2]; to = f[3]; causes = f[4]
        step = "`" from "` to `" to "`"
        if (causes == "-") { printf "%s || %s | none | | | | %s |\n", lab, step, f[6]; next }
        n = count[lab "/" from]
        if (!n) { print "whatif: no times of " lab "/" from > "/dev/stderr"; bad = 1 }
        for (i = 1; i <= n; i++) {
            name = name_of[lab "/" from, i]; a = lab "/" from "/" name; b = lab "/" to "/" name
            if (!(a in ratio) || !(b in ratio) || !ms[b, "none"] || !ms[a, causes]) {
                print "whatif: " a " or " b " is missing" > "/dev/stderr"; bad = 1; continue
            }
            measured = ratio[b] / ratio[a]; modelled = ms[a, "none"] / ms[b, "none"]
            bound = ms[a, "none"] / ms[a, causes]; if (bound < 1) bound = 1
            least = measured < modelled ? measured : modelled
            holds = least <= bound * 1.005
            printf "%s, %s || %s | %s | %.2f | %.2f | %.2f | %s |\n", lab, name, step, words_of(causes), measured,
                   modelled, bound, holds ? (measured > bound * 1.005 ? "yes, within the error" : "yes") : "**no**: " f[6]
            if (holds) held++
            rows++
            if (holds != (f[5] == "holds" || (f[5] == "exceeds" && measured < bound))) {
                print "whatif: " a " to " to ": expected that it " f[5] > "/dev/stderr"; bad = 1
            }
        }
    }
    END { printf "whatif: %d of %d bounds hold\n", held, rows; exit bad }
' "$work/measured" "$work/modelled" "$work/all" > "$work/out" || { cat "$work/out"; exit 1; }

sed 's/ *|| / | /; s/^/| /' "$work/out" | grep '^| [0-9]' > "$work/rows" || true
cat "$work/rows"
tail -1 "$work/out"
if missing=$(grep -vxFf "$table" "$work/rows"); then
    echo "$missing"
    echo "whatif: these rows are not in $table"
    exit 1
fi
echo "whatif: passed"
