#!/bin/bash
# mechanisms.sh - sweeps of single mechanisms (local memory, atomics, caches, instructions, launches), measured on a
# GPU or modelled.
#
#     mechanisms.sh build BUILD            compiles the programs, for sm_90 and any newer GPU (no GPU needed)
#     mechanisms.sh run BUILD [PROGRAM...] measures on this machine's GPU: rows `NAME VALUE UNIT` and a head
#     mechanisms.sh model BUILD [PROGRAM [GROUP]]   the same rows, modelled (SIM_DEVICE; default h200)
#     mechanisms.sh compare MODELLED [MEASURED]     a table of both (default: h200.txt of this folder)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../../.."
programs="units memory atomics kinds tensor traffic rows pipes sequences together managed calls starts copies paging priorities narrow"
verb=${1:?build, run, model or compare}
[ "$verb" = compare ] || build=$(cd "${2:?the build folder}" && pwd)
work=${build:-}/sim/time/mechanisms

# compile PROGRAM shared|static: static for a machine without a toolkit, shared for the simulated GPU
compile()
{
    local file=$work/$1.$2
    . grader/build/toolkit.sh # sets nvcc
    mkdir -p "$work"
    [ ! -e "$file" ] || [ -n "$(find "$here" \( -name "$1.cu" -o -name "*.cuh" \) -newer "$file")" ] || return 0
    "$nvcc" -O3 -lineinfo --no-compress -cudart "$2" -gencode 'arch=compute_90,code=[sm_90,compute_90]' \
        -o "$file" "$here/$1.cu"
}

# One program that fails leaves the others' rows.
run_all()
{
    local program
    echo "# $(nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader | head -1), $(date -u +%Y-%m-%d), tests/sim/time/mechanisms/mechanisms.sh run"
    for program in ${*:-$programs}; do
        timeout 60 "$work/$program.static" 1 "" "${REPEATS:-7}" || echo "# $program: exit status $?"
        echo "# $program: done after $SECONDS s"
    done
}

# model PROGRAM [GROUP]
model()
{
    SIM_TIME=1 SIM_WHOLE=1 SIM_DEVICE=${SIM_DEVICE:-h200} SIM_CHECKS=none SIM_QUIET=1 LD_PRELOAD=$build/libcudart-sim.so \
        "$work/$1.shared" "${SHARE:-4}" "${2:-}"
}

case $verb in
build)
    for program in $programs; do
        compile "$program" static
    done
    ;;
run) run_all "${@:3}" ;;
model)
    for program in ${3:-units memory atomics kinds}; do
        compile "$program" shared
        model "$program" "${4:-}"
    done
    ;;
compare)
    awk 'NR == FNR { if (!/^#/) modelled[$1] = $2; next } /^#/ || !($1 in modelled) { next }
        { printf "%-32s %11s %11.4f %7.3f\n", $1, $2, modelled[$1], $2 ? modelled[$1] / $2 : 0 }' \
        "${2:?modelled rows}" "${3:-$here/h200.txt}"
    ;;
esac
