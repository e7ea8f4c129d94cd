#!/bin/bash
# beside.sh BUILD [LAB [TIMES]] - measures whether and where a grading takes longer while this host's other GPUs grade.
#
# Grades the lab's reference (default: lab 6) TIMES times (default: 3) on the first GPU alone, then as many times on
# all GPUs at once. Prints a row per command of the runner, and `end` for the end of its process: their number and
# their total milliseconds, as medians over the gradings. `whole` minus `commands` is the grader itself and starting
# processes.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=${1:?the build folder} lab=${2:-6} times=${3:-3}
gpus=$(nvidia-smi -L | grep -c '^GPU')
folder=$("$build/warpbook" labs "$lab" | cut -d' ' -f1)
reference=$(find "solutions/$folder" -maxdepth 1 -name '[1-9]*.cu' | sort -V | tail -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WARPBOOK_BUILD=$build WARPBOOK_TRACE=1

# grade NAME GPU: writes the runner's commands to $work/NAME
grade() {
    local began=${EPOCHREALTIME/./}
    "$build/warpbook" grade "$lab" --submission "$reference" --device "$2" --format lines > /dev/null 2> "$work/$1"
    echo "0 0 $(((${EPOCHREALTIME/./} - began) / 1000)) ms whole ->" >> "$work/$1"
}

grade warm-up 0
for ((i = 0; i < times; i++)); do grade "alone.$i" 0; done
for ((i = 0; i < times; i++)); do
    for ((g = 0; g < gpus; g++)); do grade "beside.$g.$i" "$g" & done
    wait
done
echo "lab $lab on 1 of $gpus GPUs, then on $gpus at once, ms (commands)"
awk '
    function median(kind, what,   n, i, k, t, v) {
        for (i = 1; i <= runs[kind]; i++) v[i] = sum[kind, i, what] + 0
        n = runs[kind]
        for (i = 2; i <= n; i++) for (k = i; k > 1 && v[k] < v[k - 1]; k--) { t = v[k]; v[k] = v[k - 1]; v[k - 1] = t }
        return v[int((n + 1) / 2)]
    }
    FNR == 1 { kind = FILENAME ~ /alone/ ? "alone" : "beside"; run = ++runs[kind] }
    $4 == "ms" {
        sum[kind, run, $5] += $3
        count[$5] += kind == "alone"
        if ($5 != "whole") sum[kind, run, "commands"] += $3
        names[$5]
    }
    END {
        names["commands"]
        for (name in names)
            printf("%-16s %9.0f %9.0f   %5.2f times   (%d)\n", name, median("alone", name), median("beside", name),
                median("beside", name) / (median("alone", name) > 0 ? median("alone", name) : 1), count[name] / runs["alone"])
    }' "$work"/alone.* "$work"/beside.* | sort -k2,2nr
