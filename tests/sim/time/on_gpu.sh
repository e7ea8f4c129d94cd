#!/bin/bash
# on_gpu.sh - `make validate`: what this machine's GPU takes, measured now, beside what is modelled for it.
#
#     tests/sim/time/on_gpu.sh BUILD [PREFIX]
#
# In BUILD/sim/time/gpu it leaves
#     measured.txt   each sweep's and each kernel's rate, in the form of h200.txt
#     compared.txt   the comparison (compare.awk)
#     verdicts.txt   `LAB/FILE GPU SIMULATED` of each starter, rung and wrong kernel
#     points, *.svg  plots, where gnuplot is installed
# Without a GPU the figures of h200.txt stand in, and verdicts are left out. A device that nobody has
# described (grader/sim/devices) cannot be modelled: it is measured, that is said, and the exit status is
# 2. Exit status 1: something asked is missed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. tests/sim/time/programs.sh
begin "${1:?the build folder}"
build=$(cd "$1" && pwd)
prefix=${2:-}
gpu=$work/gpu
repeats=${REPEATS:-15}
mkdir -p "$gpu"

# On the GPU itself, with machine code of its own.
measure_with()
{
    env -u LD_PRELOAD LD_LIBRARY_PATH="$cuda_lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
}

# half_of: adds to `NAME RATE` in which half the name is: where h200.txt says so, that; else judged.
half_of()
{
    awk 'NR == FNR { half[$1] = $3; next } NF == 2 { print $1, $2, ($1 in half ? half[$1] : "judged") }' \
        $here/h200.txt -
}

measure()
{
    local name file
    echo "# $name_of_gpu: measured by make validate, $(date -u +%Y-%m-%d), $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/CUDA \1/p'), driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2> /dev/null | head -1)"
    {
        measure_with "$work/sweeps" 1 "" "$repeats"
        compile_streams
        measure_with "$work/streams" 1
        for file in solutions/*/[0-9]*.cu solutions/*/beyond/*.cu solutions/*/wrong/*.cu; do
            name=$(echo "$file" | cut -d/ -f2).$(basename "$file" .cu)
            case $name in 05_*) continue ;; esac # streams.cu has those
            case $file in */wrong/*) is_timed "$file" || continue ;; esac
            compile_rung "$name" 2> "$gpu/compiler.txt" || { echo "not compiled: $name" >&2; continue; }
            measure_with timeout 300 "$work/$name" 1 "$repeats" || echo "failed: $name" >&2
        done
    } | half_of
}

# Wrong kernels that are right, or are measured before they are found wanting.
is_timed()
{
    head -1 "$1" | grep -Eq '^// expect: (slow|device)'
}

# device_for GPU: the described device whose name is in it, the longest one
device_for()
{
    local file name best="" key=""
    for file in grader/sim/devices/*.txt; do
        name=$(sed -n 's/^name: *\([^#]*[^# ]\).*/\1/p' "$file")
        case $1 in *"$name"*) [ ${#name} -gt ${#best} ] && best=$name key=$(basename "$file" .txt) ;; esac
    done
    echo "$key"
}

# verdict LAB FILE DEVICE
verdict()
{
    "$build/warpbook" grade "$1" --submission "$2" --device "$3" --format lines 2> /dev/null |
        sed -n 's/^verdict://p' | head -1
}

verdicts()
{
    local file lab
    for file in solutions/*/[0-9]*.cu solutions/*/beyond/*.cu solutions/*/wrong/*.cu; do
        lab=$(echo "$file" | cut -d/ -f2)
        case $lab in "${prefix%%.*}"*) ;; *) continue ;; esac
        echo "${file#solutions/} $(verdict "$lab" "$file" 0) $(verdict "$lab" "$file" "sim:$1")"
    done
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
    compile_sweeps
    measure > "$gpu/measured.txt"
    echo "measured on a $name_of_gpu: $gpu/measured.txt"
    key=$(device_for "$name_of_gpu")
    if [ -z "$key" ]; then
        echo "no description of it in grader/sim/devices: nothing to compare with (docs/simulator.md, Devices)"
        exit 2
    fi
    export MEASURED=$gpu/measured.txt SIM_DEVICE=$key
else
    echo "no GPU here: an H200's figures ($here/h200.txt) stand in for what would be measured"
fi
$here/validate.sh "$build" "$prefix" > "$gpu/compared.txt" || failed=1
cat "$gpu/compared.txt"
plot
if [ -n "$name_of_gpu" ]; then
    verdicts "$key" > "$gpu/verdicts.txt"
    awk -f $here/verdicts.awk "$gpu/verdicts.txt" || failed=1
fi
exit $failed
