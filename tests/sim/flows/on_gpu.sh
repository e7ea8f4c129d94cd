#!/bin/bash
# on_gpu.sh - counts the training set's launches on this machine's GPU by the profiler (ncu), and makes the fixture.
#
#     tests/sim/flows/on_gpu.sh PROGRAM OUT
#
# PROGRAM: BUILD/flows/flows-gpu. It writes OUT/flows.txt, in at most 120 s. Exit status 1: launches are missing.
set -u
here=$(cd "$(dirname "$0")" && pwd)
program=${1:?the program}
out=${2:?the output folder}
export LC_ALL=C
mkdir -p "$out/raw"
ncu=${NCU:-$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2> /dev/null | tail -1)}
[ -x "$ncu" ] || { echo "flows: ncu not found"; exit 1; }

# Metrics with a question mark may be missing.
"$ncu" --query-metrics 2>&1 | grep -oE '^[a-z][a-z0-9_]+__[a-z0-9_]+' | sort -u > "$out/raw/known"
columns=$(while read -r column metric maybe; do
    [[ -n $column && $column != \#* ]] || continue
    if [ "$metric" = "?" ]; then
        metric=$maybe
        grep -qx "${metric%.*}" "$out/raw/known" || metric=-
    fi
    echo -n "$column $metric "
done < "$here/../counters/metrics.txt")
metrics=$(echo "$columns" | tr ' ' '\n' | grep __ | paste -sd,)

timeout -k 5 105 "$ncu" --clock-control none --cache-control none --csv --page raw --print-units base \
    --print-kernel-base function --profile-from-start off --log-file "$out/raw/flows.csv" --metrics "$metrics" \
    "$program" --profile > "$out/raw/flows.out" 2> "$out/raw/flows.err" ||
    echo "flows: ncu: status $?: $(tail -1 "$out/raw/flows.err") $(tail -1 "$out/raw/flows.csv" | head -c 300)"
{
    echo "# The training set (flows.cu) on a GPU: one launch after a warm-up, a line per kernel."
    echo "# device: $(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader | head -1) (name, driver, compute capability)"
    echo "# date: $(date -u +%F); ncu $("$ncu" --version | tail -1)"
    echo "# command: tests/sim/flows/on_gpu.sh BUILD/flows/flows-gpu OUT"
    echo "# columns: label kernel grid block output $(echo "$columns" | tr ' ' '\n' | awk 'NR % 2' | paste -sd' ' | sed 's/ *$//')"
    awk -v columns="$columns" -f "$here/../counters/rows.awk" "$out/raw/flows.out" "$out/raw/flows.csv"
} > "$out/flows.txt"
missing=$("$program" --list | awk 'NR == FNR { seen[$1] = 1; next } !($1 in seen)' "$out/flows.txt" - | paste -sd' ')
echo "flows: $(grep -vc '^#' "$out/flows.txt") launches in $out/flows.txt"
[ -z "$missing" ] || { echo "flows: missing: $missing"; exit 1; }
