#!/bin/bash
# on_gpu.sh - `make validate`: measures this machine's GPU and compares it with its model.
#
#     tests/sim/time/on_gpu.sh BUILD [PREFIX]
#
# It writes to BUILD/sim/time/gpu
#     measured.txt   the rate of each sweep and kernel whose name begins with PREFIX, in the format of h200.txt
#     compared.txt   the comparison (compare.awk)
#     verdicts.txt   `LAB/FILE GPU SIMULATED TOLD` of each starter, rung and wrong kernel: verdicts.awk
#     points, *.svg  plots, if gnuplot is installed
# Without a GPU, the figures and verdicts of an H200 are used (h200-all.txt, h200-verdicts.txt). A device without
# a description (grader/sim/devices) cannot be modelled: it is only measured, with a message, and the exit status
# is 2. Exit status 1: a requirement is missed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. tests/sim/time/programs.sh
begin "${1:?the build folder}"
build=$(cd "$1" && pwd)
prefix=${2:-}
gpu=$work/gpu
repeats=${REPEATS:-15}
mkdir -p "$gpu"

# Runs a program on the GPU, with machine code for this GPU.
measure_with()
{
    env -u LD_PRELOAD LD_LIBRARY_PATH="$cuda_lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
}

# Control cases of rung.cu: they do not count, since launches or memory alone dominate their time.
controls='^(00_first[.].*[.]small|01_coalescing[.].*[.]1|06_transpose[.].*[.]row|07_reduction[.].*[.]short)$'

# half_of: adds the half of the name to `NAME RATE`: as in h200.txt, or else judged or control.
half_of()
{
    awk -v controls="$controls" 'NR == FNR { half[$1] = $3; next }
        NF == 2 { print $1, $2, ($1 in half ? half[$1] : $1 ~ controls ? "control" : "judged") }' $here/h200.txt -
}

# kernels: the files of all kernels whose names begin with PREFIX
kernels()
{
    find solutions -name '[0-9a-z]*.cu' -path "solutions/${prefix%%.*}*" | sort -V
}

# knows LAB: whether rung.cu can time its kernels
knows()
{
    grep -q "LAB == $((10#${1%%_*}))\$" $here/rung.cu
}

# The kernels that are timed: rungs, beyond, and wrong kernels that give correct results or are timed before the
# error is found. Lab 05 is timed by streams.cu.
timed()
{
    local file name
    for file in $(kernels); do
        knows "$(cut -d/ -f2 <<< "$file")" || continue
        case $file in
        */wrong/one_block.cu) continue ;; # a grid of one block has no share in a slice
        */wrong/*) head -1 "$file" | grep -Eq '^// expect: (slow|device)' || continue ;;
        esac
        name=$(echo "$file" | cut -d/ -f2).$(basename "$file" .cu)
        case $name in "$prefix"*) echo "$name" ;; esac
    done
}

compile_one()
{
    compile_rung "$1" 2> "$gpu/$1.said" || echo "not compiled: $1 ($gpu/$1.said)" >&2
}

measure()
{
    local name group
    echo "# $name_of_gpu: measured by make validate, $(date -u +%Y-%m-%d), $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/CUDA \1/p'), driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2> /dev/null | head -1)"
    {
        for group in $(sweep_groups "$prefix"); do
            measure_with "$work/sweeps" 1 "$group" "$repeats"
        done
        ! wants_streams "$prefix" || measure_with "$work/streams" 1 "$repeats"
        for name in $(timed); do
            [ ! -x "$work/$name" ] || measure_with timeout 300 "$work/$name" 1 "$repeats" || echo "failed: $name" >&2
        done
    } | half_of
}

# device_for GPU: the described device with the longest name that is part of the GPU's name
device_for()
{
    local file name best="" key=""
    for file in grader/sim/devices/*.txt; do
        name=$(sed -n 's/^name: *\([^#]*[^# ]\).*/\1/p' "$file")
        case $1 in *"$name"*) [ ${#name} -gt ${#best} ] && best=$name key=$(basename "$file" .txt) ;; esac
    done
    echo "$key"
}

# verdict FILE DEVICE
verdict()
{
    "$build/warpbook" grade "$(cut -d/ -f2 <<< "$1")" --submission "$1" --device "$2" --format lines 2> /dev/null |
        sed -n 's/^verdict://p' | head -1
}

simulated_verdict()
{
    echo "$1 $(verdict "$1" "sim:$key")"
}

# For a kernel that misuses memory or races, the first line may state its verdict on a simulated GPU:
# `... (sim: crash) - ...`
told()
{
    sed -n '1s|^// expect:[^-]*(sim: \([a-z_]*\)).*|\1|p' "$1"
}

# graded LAB: grades on GPU number $GPU, one line per kernel
graded()
{
    local file found
    kernels | grep "^solutions/$1/" | while read -r file; do
        found=$(verdict "$file" "$GPU" < /dev/null)
        echo "$file ${found:--} $(told "$file")"
    done > "$gpu/graded.$1.txt"
    echo "graded: $1, $(wc -l < "$gpu/graded.$1.txt") kernels" >&2
}

# Kernels without a verdict, for example because other gradings caused noise, are graded once more, alone.
again()
{
    local file found told
    while read -r file found told; do
        [ "$found" != correct ] || found=$(verdict "$file" 0 < /dev/null)
        echo "$file ${found:--} $told"
    done
}

# grade_all: `FILE VERDICT TOLD` of each kernel. If there are several GPUs of the same kind (or several in
# $CUDA_VISIBLE_DEVICES), each takes one lab at a time, so lab 05, which needs the host's memory, never runs on two.
grade_all()
{
    local gpus=1
    [ -n "${CUDA_VISIBLE_DEVICES:-}" ] ||
        gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | awk 'END { print NR == 1 ? $1 : 1 }')
    export build gpu prefix
    export -f graded kernels verdict told
    kernels | cut -d/ -f2 | uniq -c | sort -rn | awk '{ print $2 }' | # those with the most kernels first
        xargs -r -n 1 -P "$gpus" --process-slot-var=GPU bash -c 'graded "$1"' -
    cat "$gpu"/graded.*.txt | again
}

# The same from h200-verdicts.txt.
graded_before()
{
    local file found
    sed "/^#/d; s|^|solutions/|" $here/h200-verdicts.txt | while read -r file found; do
        case $file in "solutions/${prefix%%.*}"*) echo "$file $found $(told "$file")" ;; esac
    done
}

# verdicts: `LAB/FILE GPU SIMULATED TOLD` of each kernel, with `-` for a missing word. Simulates first, so that
# nothing else is busy while GPUs are timed.
verdicts()
{
    kernels | at_once simulated_verdict | sort > "$gpu/simulated.txt"
    if [ -n "$name_of_gpu" ]; then grade_all; else graded_before; fi | sort |
        join -a 1 -a 2 -e - -o 0,1.2,2.2,1.3 - "$gpu/simulated.txt" | sed 's|^solutions/||'
}

plot()
{
    if ! command -v gnuplot > /dev/null; then
        echo "no plots: gnuplot is not installed (apt-get install gnuplot-nox)"
        return
    fi
    gnuplot -e "points='$work/points'; out='$gpu/points.svg'" $here/points.gp
    echo "plot: $gpu/points.svg"
}

name_of_gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2> /dev/null | head -1 || true)
failed=0
if [ -n "$name_of_gpu" ]; then
    rm -f "$gpu"/graded.*.txt "$gpu"/*.said
    [ -z "$(sweep_groups "$prefix")" ] || compile_sweeps
    ! wants_streams "$prefix" || compile_streams
    timed | at_once compile_one
    measure > "$gpu/measured.txt"
    echo "measured on a $name_of_gpu: $gpu/measured.txt"
    key=$(device_for "$name_of_gpu")
    if [ -z "$key" ]; then
        echo "grader/sim/devices has no description of this GPU, so it is not compared (docs/simulator.md, Devices)"
        exit 2
    fi
    export MEASURED=$gpu/measured.txt SIM_DEVICE=$key
else
    echo "no GPU found: using the figures and verdicts of an H200 ($here/h200-*.txt) instead of measuring"
    export MEASURED=$here/h200-all.txt
    key=h200
fi
$here/validate.sh "$build" "$prefix" > "$gpu/compared.txt" || failed=1
cat "$gpu/compared.txt"
plot
echo "verdicts of $(kernels | wc -l) kernels: some minutes" >&2
verdicts > "$gpu/verdicts.txt"
awk -f $here/verdicts.awk "$gpu/verdicts.txt" || failed=1
exit $failed
