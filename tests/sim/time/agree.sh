#!/bin/bash
# agree.sh - compares verdicts on the simulated H200 with those of an H200, for every kernel in docs/measured.
#
#     tests/sim/time/agree.sh BUILD [LAB...]     BUILD holds ratios and runner-sim; LAB: 06_transpose
#
# Prints one row per case: the speed relative to the reference, measured and modelled. Fails if a timed case
# gets another verdict than on the H200, or if the errors of the timed cases exceed the limits: 20 % in the
# median, 50 % at the 90th percentile. Control cases of one size for all GPUs are a different problem on a
# slice: they are shown, but not checked. If both speeds are 0.000 (for example because the host did all the
# work), only the verdict is compared; if only the modelled speed is 0, the error is the maximum.
set -euo pipefail
cd "$(dirname "$0")/../../.."
build=$(cd "${1:?the build folder}" && pwd)
shift
export LC_ALL=C WARPBOOK_BUILD=$build

. grader/build/toolkit.sh
if [ -z "$nvcc" ] || [ ! -x "$build/runner-sim" ]; then
    echo "agree: skipped, nvcc not found"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- $(cd docs/measured && ls -- *.check.txt | sed 's/\.check\.txt$//')

for lab in "$@"; do
    # A kernel with undefined behaviour (see its first line) has no time, even if it worked on a GPU by luck.
    grep -vFf <(grep -lE '^// expect:.*\(sim: (crash|unsafe)\)' "solutions/$lab"/wrong/*.cu |
        sed 's|.*/wrong/|wrong/|; s|\.cu$|/|') "docs/measured/$lab.check.txt" > "$work/figures"
    sed -n "s|^\(.*\)/ratio \([0-9.]*\)$|$lab/\1\t\2|p" "$work/figures" >> "$work/measured"
    mapfile -t files < <(sed -n 's|^\(.*\)/[^/]*/ratio [0-9.]*$|\1|p' "$work/figures" | uniq |
        while read -r name; do echo "solutions/$lab/$name.cu"; done)
    "$build/ratios" sim:h200 "$lab" "${files[@]/#/$PWD/}" | sed "s|^|$lab/|" >> "$work/modelled"
done
awk -F '\t' '
    function at(share,   i) { i = int(share * n + 0.999999); return error[i < 1 ? 1 : i] }
    FILENAME ~ /measured$/ { measured[$1] = $2; next }
    match($0, / ratio [0-9.]+ bar [0-9.]+$/) {
        key = substr($0, 1, RSTART - 1)
        split(substr($0, RSTART + 1), word, " ")
        modelled = word[2]; bar = word[4]
        if (!(key in measured)) next
        if (bar > 0 && (modelled > 0 || measured[key] >= 0.0005)) {
            e = modelled > measured[key] ? modelled / measured[key] - 1 : (modelled > 0 ? measured[key] / modelled - 1 : 1e9)
            for (i = ++n; i > 1 && error[i - 1] > e; i--) error[i] = error[i - 1]
            error[i] = e
        }
        if (bar > 0) {
            differs = (modelled >= bar) != (measured[key] >= bar)
            bad += differs
        }
        printf("%-52s H200 %5.3f modelled %5.3f  %s\n", key, measured[key], modelled,
               bar > 0 ? (differs ? "ANOTHER VERDICT, bar " bar : "bar " bar) : "control")
        seen[key] = 1
    }
    END {
        for (key in measured) if (!(key in seen)) { print "agree: " key " was not modelled"; bad++ }
        if (!n) { print "agree: no timed cases"; exit 1 }
        printf("agree: %d timed cases, %d with another verdict; error of the ratio %.0f %% in the median, %.0f %% at the 90th percentile, %.0f %% at worst\n",
               n, bad, 100 * at(0.5), 100 * at(0.9), 100 * error[n])
        exit bad > 0 || at(0.5) > 0.2 || at(0.9) > 0.5
    }
' "$work/measured" "$work/modelled"
