#!/bin/bash
# stability.sh [GRADINGS] - is a verdict the same each time, on this GPU? (default: 20 gradings)
#
# Grades lab 06 with the reference, with rung 3, and with the reference slowed on purpose to 0.97 and
# to 1.03 of the bar, each GRADINGS times in fresh processes with fresh secret seeds. Prints a row
# for each: verdicts counted, median of the ratio, p95 - p5 over the gradings, for both timed cases.
# The slowed kernels are the reference followed by a kernel that waits; how long is calibrated first.
set -euo pipefail
cd "$(dirname "$0")/../.."

gradings=${1:-20}
reference=solutions/06_transpose/5_padded.cu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bar=0.75

grade() { build/warpbook grade 6 --submission "$1" --format lines; }
value() { sed -n "s/^$1://p" "$2" | head -1; }

# slowed CYCLES_FLAT CYCLES_SQUARE: the reference, then a wait of that many SM cycles.
slowed() {
    sed -e "s|^LAB_API.*|__global__ void wait_kernel(long long cycles)\n{\n    long long start = clock64();\n    while (clock64() - start < cycles)\n        ;\n}\n\n&|" \
        -e "s|^    CUDA_CHECK(cudaGetLastError());|    if ((long) rows * cols > 50000000 \&\& rows > 1)\n        wait_kernel<<<1, 1>>>(rows == 32 ? $1 : $2);\n&|" \
        "$reference"
}

# calibrate TARGET FILE: writes the reference slowed to TARGET of its own speed.
calibrate() {
    local target=$1 file=$2 flat=200000 square=700000 round
    for round in 1 2 3 4; do
        slowed "$flat" "$square" > "$file"
        grade "$file" > "$work/calibration"
        read -r flat square < <(awk -F: -v target="$target" -v flat="$flat" -v square="$square" '
            { v[$1] = $2 }
            END {
                for (i = 1; i <= 2; i++) {
                    reference = v["case." i ".reference_ms"]; ratio = v["case." i ".ratio"]
                    miss_ms = reference / target - reference / ratio
                    cycles = (v["case." i ".label"] ~ /flat/ ? flat : square) + miss_ms * 1.98e6
                    if (cycles < 0) cycles = 0
                    out[v["case." i ".label"] ~ /flat/ ? 1 : 2] = int(cycles)
                }
                print out[1], out[2]
            }' "$work/calibration")
    done
    slowed "$flat" "$square" > "$file"
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
    cp "$work/rows" "${OUT:-$work}/stability-$1.txt" 2> /dev/null || true
    awk -v name="$1" '
        function quantile(a, n, q,   p, i) { p = q * (n - 1); i = int(p)
            return i + 1 < n ? a[i + 1] + (p - i) * (a[i + 2] - a[i + 1]) : a[n] }
        function sort(a, n,   i, j, t) { for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] > a[j]; j--)
            { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t } }
        { verdicts[$1]++; flat[NR] = $2; square[NR] = $3; wall += $4; flags += NF > 6 }
        END {
            sort(flat, NR); sort(square, NR)
            for (v in verdicts) said = said " " v " " verdicts[v]
            printf "%-16s%s of %d; flat %.4f, p95-p5 %.4f; square %.4f, p95-p5 %.4f; flags %d; %.1f s a grading\n",
                name, said, NR, quantile(flat, NR, 0.5), quantile(flat, NR, 0.95) - quantile(flat, NR, 0.05),
                quantile(square, NR, 0.5), quantile(square, NR, 0.95) - quantile(square, NR, 0.05), flags, wall / NR
        }' "$work/rows"
}

repeat reference "$reference"
repeat rung-3 solutions/06_transpose/3_writes_coalesced.cu
calibrate "$(awk "BEGIN { print 0.97 * $bar }")" "$work/under.cu"
repeat 0.97-of-the-bar "$work/under.cu"
calibrate "$(awk "BEGIN { print 1.03 * $bar }")" "$work/over.cu"
repeat 1.03-of-the-bar "$work/over.cu"
