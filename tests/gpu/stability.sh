#!/bin/bash
# stability.sh LAB [GRADINGS [ROW...]] - tests whether verdicts repeat on this GPU (default: 20 gradings).
#
# ROW: reference, too-slow, 0.97-of-the-bar, 1.03-of-the-bar; the default is all four.
# LAB is transpose, coalescing or reduction. Grades the reference, a rung that is too slow, and the
# reference slowed on purpose to 0.97 and to 1.03 of the bar, each GRADINGS times in fresh processes
# with fresh secret seeds. Prints a row for each: the number of each verdict, and for the first two cases
# the median of the ratio and its p95 - p5 over the gradings (the second is a control in labs with one
# timed case). The slowed kernels are the reference followed by a kernel that waits; its time is
# calibrated first.
set -euo pipefail
cd "$(dirname "$0")/../.."

lab=${1:?which lab: transpose, coalescing or reduction}
gradings=${2:-20}
rows=" ${*:3} "
[ $# -gt 2 ] || rows=" reference too-slow 0.97-of-the-bar 1.03-of-the-bar "
case $lab in
transpose)
    folder=06_transpose slow=3_ bar=0.75
    parameters="float *out, const float *in, int rows, int cols" arguments="out, in, rows, cols"
    wait="rows == 1 || (long) rows * cols < 50000000 ? 0 : rows == 32 ? WAIT1 : WAIT2"
    ;;
coalescing)
    folder=01_coalescing slow=1_ bar=0.55
    parameters="float *out, const float *in, const float *mean, const float *scale, int rows, int cols"
    arguments="out, in, mean, scale, rows, cols"
    wait="cols == 16 && rows > 1000000 ? WAIT1 : 0"
    ;;
reduction)
    folder=07_reduction slow=5_ bar=0.75
    parameters="float *out, const float *in, long n, float *scratch, long scratch_count"
    arguments="out, in, n, scratch, scratch_count"
    wait="n > 30000000 ? WAIT1 : 0"
    ;;
*)
    echo "stability.sh: unknown lab: $lab" >&2
    exit 2
    ;;
esac
function=$(sed -n 's/.*\.function = "\([a-z_]*\)".*/\1/p' "labs/$folder/lab.c")
reference=$(ls solutions/$folder/[1-9]*.cu | tail -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

grade() { build/warpbook grade "$lab" --submission "$1" --format lines; }
value() { sed -n "s/^$1://p" "$2" | head -1; }

# slowed CYCLES1 CYCLES2: prints the reference under another name, then a wait of so many SM cycles.
slowed() {
    sed "s/\b$function(/of_reference(/" "$reference"
    local cycles=${wait//WAIT1/$1}
    cat << END

__global__ void wait_kernel(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
}

LAB_API void $function($parameters)
{
    long long cycles = ${cycles//WAIT2/$2};

    of_reference($arguments);
    if (cycles)
        wait_kernel<<<1, 1>>>(cycles);
    CUDA_CHECK(cudaGetLastError());
}
END
}

# calibrate TARGET FILE: writes the reference slowed to TARGET of its own speed.
calibrate() {
    local target=$1 file=$2 first=200000 second=700000 round
    for round in 1 2 3 4; do
        slowed "$first" "$second" > "$file"
        grade "$file" > "$work/calibration"
        read -r first second < <(awk -F: -v target="$target" -v first="$first" -v second="$second" '
            { v[$1] = $2 }
            END {
                for (i = 1; i <= 2; i++) {
                    reference = v["case." i ".reference_ms"]; ratio = v["case." i ".ratio"]
                    miss_ms = ratio > 0 ? reference / target - reference / ratio : 0
                    cycles = (i == 1 ? first : second) + miss_ms * 1.98e6
                    out[i] = int(cycles < 0 ? 0 : cycles)
                }
                print out[1], out[2]
            }' "$work/calibration")
    done
    slowed "$first" "$second" > "$file"
}

repeat() { # NAME FILE
    local i
    : > "$work/rows"
    for i in $(seq "$gradings"); do
        grade "$2" > "$work/result"
        echo "$(value verdict "$work/result") $(value case.1.ratio "$work/result")" \
            "$(value case.2.ratio "$work/result") $(value wall_s "$work/result")" \
            "$(value case.1.dropped "$work/result") $(value case.1.pairs "$work/result")" \
            "$(value flag "$work/result")" >> "$work/rows"
    done
    cp "$work/rows" "${OUT:-$work}/stability-$lab-$1.txt" 2> /dev/null || true
    awk -v name="$1" '
        function quantile(a, n, q,   p, i) { p = q * (n - 1); i = int(p)
            return i + 1 < n ? a[i + 1] + (p - i) * (a[i + 2] - a[i + 1]) : a[n] }
        function sort(a, n,   i, j, t) { for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] > a[j]; j--)
            { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t } }
        { verdicts[$1]++; one[NR] = $2; two[NR] = $3; wall += $4; flags += NF > 6 }
        END {
            sort(one, NR); sort(two, NR)
            for (v in verdicts) said = said " " v " " verdicts[v]
            printf "%-16s%s of %d; case 1 %.4f, p95-p5 %.4f; case 2 %.4f, p95-p5 %.4f; flags %d; %.1f s per grading\n",
                name, said, NR, quantile(one, NR, 0.5), quantile(one, NR, 0.95) - quantile(one, NR, 0.05),
                quantile(two, NR, 0.5), quantile(two, NR, 0.95) - quantile(two, NR, 0.05), flags, wall / NR
        }' "$work/rows"
}

asked() { [[ $rows == *" $1 "* ]]; }

near() { # SHARE of the bar
    asked "$1-of-the-bar" || return 0
    calibrate "$(awk "BEGIN { print $1 * $bar }")" "$work/near.cu"
    repeat "$1-of-the-bar" "$work/near.cu"
}

echo "$lab"
! asked reference || repeat reference "$reference"
! asked too-slow || repeat too-slow "$(ls solutions/$folder/"$slow"*.cu)"
near 0.97
near 1.03
