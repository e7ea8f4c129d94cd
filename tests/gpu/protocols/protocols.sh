#!/bin/bash
# protocols.sh [GRADINGS [OTHERS]] - measures how often four measuring protocols give a false verdict.
#
# The kernels: lab 06's reference, and that reference slowed to 0.97 .. 1.03 of the bar (0.75 of its
# own speed) by running a share of its blocks a second time, so that a slowed kernel does the same
# kind of work as the reference. The true ratio is measured first, in quiet: the median over 7 pairs
# of fresh processes, with 20 blocks R S S R each.
#
# The protocols, all on the case `flat`, each time in fresh processes:
#   min-of-3            three runs of each kernel, one kernel after the other, the shortest time
#   mean-of-100         5 warm-ups, then the mean of 100 runs, one kernel after the other
#   median-of-50-cold   50 runs, L2 overwritten before each, the median, one kernel after the other
#   ours                the grader's judge_speed() itself, as make grade calls it
# GRADINGS (default 20) verdicts each at 0.97 and 1.03 in quiet; OTHERS (default 5) verdicts each at
# 0.98 to 1.02 in quiet, and at all six while a second process makes noise. With OTHERS 0, only the quiet
# verdicts at 0.97 and 1.03.
#
# A verdict is false if it is a pass below the bar, `slow` above it, or accuses a correct kernel. `close`
# and `correct` (speed not judged) claim nothing; only `ours` can give them. All ratios are printed as
# shares of the bar. Rows and truth are copied to $OUT if it is set. Needs
# $WARPBOOK_BUILD/protocols_ours and protocols_foreign (make protocols), and a GPU that no other process
# uses.
set -euo pipefail
cd "$(dirname "$0")/../../.."

gradings=${1:-20} others=${2:-5}
build=${WARPBOOK_BUILD:-build} bar=0.75
work=$build/protocols
reference=$(ls solutions/06_transpose/[1-9]*.cu | sort -V | tail -1)
export WARPBOOK_BUILD=$build
noise=
trap '[ -z "$noise" ] || kill "$noise" 2> /dev/null' EXIT
trap 'exit 1' INT TERM

ours() { "$build/protocols_ours" "$@"; }
foreign() { "$build/protocols_foreign" "$@"; }

# Prints the reference, which then runs a share of its blocks again; protocols_ours replaces the number.
slowed() {
    sed -e 's|^LAB_API.*|static volatile double share = 0.12345678987654321;\n\n&|' \
        -e 's|^    CUDA_CHECK(cudaGetLastError());|    transpose_kernel<<<(int) (tiles * share), block>>>(out, in, rows, cols);\n&|' \
        "$reference"
}

# all_protocols TARGET TIMES WORD
all_protocols() {
    echo "$3, $1 of the bar, $2 times" >&2
    foreign measure "$work" "$1" "$bar" "$2" "$3" >> "$work/rows"
    ours grade "$work" "$1" "$2" "$3" >> "$work/rows"
}

table() {
    awk '
        function quantile(a, n, q,   p, i) { p = q * (n - 1); i = int(p)
            return i + 1 < n ? a[i + 1] + (p - i) * (a[i + 2] - a[i + 1]) : a[n] }
        function sort(a, n,   i, j, t) { for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] > a[j]; j--)
            { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t } }
        FNR == NR { truth[$1] = $2 / $5; low[$1] = $3 / $5; high[$1] = $4 / $5; bar = $5; next }
        {
            key = $2 " " $1 " " $3
            if (!(key in n)) keys[++rows] = key
            n[key]++
            word = $4 ~ /^(pass|slow|close|correct)$/ ? $4 : "other"
            verdicts[key, word]++
            wrong[key] += word == "other" || (word == "pass" && truth[$3] < 1) || (word == "slow" && truth[$3] >= 1)
            if ($5 > 0) ratio[key, ++measured[key]] = $5 / bar
            seconds[key, n[key]] = $6
        }
        END {
            print "true ratios as shares of the bar (median, minimum and maximum over the pairs):"
            for (i = 1; i <= 6; i++) { t = "0.97 0.98 0.99 1.01 1.02 1.03"; split(t, target, " ")
                printf "  %s  %.4f  %.4f .. %.4f\n", target[i], truth[target[i]], low[target[i]], high[target[i]] }
            printf "\n%-6s %-18s %7s %4s %5s %5s %5s %7s %5s %6s  %7s %7s %7s %6s\n", "", "protocol", "truth", "n",
                "pass", "slow", "close", "correct", "other", "false", "median", "p5", "p95", "s each"
            for (r = 1; r <= rows; r++) {
                key = keys[r]; split(key, part, " ")
                m = measured[key] + 0; delete a; delete b
                for (i = 1; i <= m; i++) a[i] = ratio[key, i]
                for (i = 1; i <= n[key]; i++) b[i] = seconds[key, i]
                sort(a, m); sort(b, n[key])
                printf "%-6s %-18s %7.4f %4d %5d %5d %5d %7d %5d %6d  ", part[1], part[2], truth[part[3]], n[key],
                    verdicts[key, "pass"], verdicts[key, "slow"], verdicts[key, "close"], verdicts[key, "correct"],
                    verdicts[key, "other"], wrong[key]
                if (m) printf "%7.4f %7.4f %7.4f", quantile(a, m, 0.5), quantile(a, m, 0.05), quantile(a, m, 0.95)
                else printf "%7s %7s %7s", "-", "-", "-"
                printf " %6.2f\n", quantile(b, n[key], 0.5)
            }
            print "\nseconds: for `ours`, all of judging the speed, including processes; for the others, only measuring."
        }' "$work/truth" <(sort -s -k2,2r -k1,1 -k3,3 "$work/rows")
}

mkdir -p "$work"
: > "$work/rows"
slowed > "$work/slowed.cu"
ours make "$work" "$work/slowed.cu" 0.97 0.98 0.99 1.01 1.02 1.03
for target in 0.97 1.03; do
    all_protocols "$target" "$gradings" quiet
done
if [ "$others" -gt 0 ]; then
    for target in 0.98 0.99 1.01 1.02; do
        all_protocols "$target" "$others" quiet
    done
    "$build/protocols_foreign" noise 1200 & # not a function: $! must be the program itself
    noise=$!
    sleep 2 # until it has started CUDA
    for target in 0.97 0.98 0.99 1.01 1.02 1.03; do
        all_protocols "$target" "$others" noisy
    done
    kill "$noise"
    wait "$noise" 2> /dev/null || true
    noise=
fi
if [ -n "${OUT:-}" ]; then
    cp "$work/truth" "$OUT/protocols-truth.txt"
    cp "$work/rows" "$OUT/protocols-rows.txt"
fi
table
