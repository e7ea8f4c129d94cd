#!/bin/bash
# flows.sh - sections of programs in which several pieces of work overlap or memory moves, measured on a GPU or
# modelled.
#
#     flows.sh build BUILD              compiles BUILD/blind/flows-gpu (static, for sm_90 and newer GPUs) and
#                                       BUILD/blind/flows (shared, for the simulator); no GPU needed
#     flows.sh run BUILD [REPEATS [FAMILY...]]
#                                       measures the families (default: all; REPEATS: 15) on this machine's GPU: a
#                                       head, then rows `NAME MICROSECONDS us`
#     flows.sh compare BUILD [FIXTURE]  plays the sections of the fixture (default: the newest of this folder) on the
#                                       device in its head, and compares; pairs with other sections do not count
#
# compare needs `make BUILD/libcudart-sim.so`. PLAYED=1: compares what was played before. Rows remain in
# BUILD/blind/flows-run. Exit status 1: a section failed on the GPU, or nothing
# was compared; 2: wrong arguments.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
usage="usage: flows.sh build BUILD | run BUILD [REPEATS [FAMILY...]] | compare BUILD [FIXTURE]"
verb=${1:?$usage}
build=$(cd "${2:?$usage}" && pwd)
work=$build/blind
played=$work/flows-run

# compile PROGRAM shared|static, unless its sources are those of the last time
compile()
(
    file=$work/$1
    hash=$(cat "$here"/*.cu* "$here/sections.def" "$here/../blind.cuh" "$here/flows.sh" | sha256sum)
    [ ! -x "$file" ] || [ "$(cat "$file.hash" 2> /dev/null)" != "$hash" ] || exit 0
    cd "$here/../../../.."
    . grader/build/toolkit.sh # sets nvcc
    [ -n "$nvcc" ] || { echo "flows.sh: nvcc not found" >&2; exit 1; }
    mkdir -p "$work"
    nice "$nvcc" -O3 -lineinfo --no-compress -std=c++17 -cudart "$2" \
        -gencode 'arch=compute_90,code=[sm_90,compute_90]' -o "$file" "$here/flows.cu"
    echo "$hash" > "$file.hash"
)

# names_of FAMILY
names_of()
{
    sed -n "s/^SECTION($1, \(.*\))$/\1/p" "$here/sections.def"
}

# measure REPEATS FAMILY...: a process per family, so that one that fails leaves the others
measure()
{
    local repeats=$1 gpu family status=0
    shift
    for family; do
        [ -n "$(names_of "$family")" ] || { echo "flows.sh: no family named '$family' (see sections.def)" >&2; exit 2; }
    done
    gpu=$(nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader | head -1)
    echo "# $gpu, $(date -u +%F), tests/sim/blind/flows/flows.sh run BUILD $repeats $*"
    for family; do
        # shellcheck disable=SC2046 # names are words
        timeout 120 "$work/flows-gpu" "$repeats" $(names_of "$family") ||
            { echo "# $family: exit status $?"; status=1; }
    done
    return $status
}

# play NAME: a process of its own, so that a section that fails leaves the others
play()
{
    SIM_TIME=1 SIM_WHOLE=1 SIM_DEVICE=$device SIM_CHECKS=none SIM_QUIET=1 LD_PRELOAD=$build/libcudart-sim.so \
        timeout 300 nice "$work/flows" 1 "$1" > "$played/$1.txt" 2> "$played/$1.err" ||
        echo "refused $1: status $?: $(tr '\n' ' ' < "$played/$1.err" | head -c 200)"
}

compare()
{
    local fixture=$1 names
    [ -f "$fixture" ] || {
        echo "flows.sh: $fixture not found: the sections are not measured yet. Next: flows.sh run BUILD, on a GPU" >&2
        return 1
    }
    device=$(sed -n '1s/^# NVIDIA \([A-Za-z0-9]*\).*/\L\1/p' "$fixture")
    [ -n "$device" ] || { echo "flows.sh: $fixture: no device in line 1" >&2; return 1; }
    names=$(awk '!/^#/ && NF == 3 { print $1 }' "$fixture")
    [ -n "${PLAYED:-}" ] || {
        compile flows shared
        rm -rf "$played"
        mkdir -p "$played"
        echo "$names" | xargs -P "$(nproc)" -I '{}' bash -c 'play {}'
    }
    cat "$played"/*.txt > "$played/modelled"
    awk -f "$here/../statistics.awk" -f "$here/flows.awk" "$here/sections.def" "$here/pairs.txt" "$played/modelled" \
        "$fixture"
}

case $verb in
build)
    compile flows-gpu static
    compile flows shared
    ;;
run)
    # shellcheck disable=SC2046 # names are words
    [ $# -gt 3 ] || set -- run "$2" "${3:-15}" $(sed -n 's/^SECTION(\(.*\), .*/\1/p' "$here/sections.def" | uniq)
    measure "${@:3}"
    ;;
compare)
    export -f play
    export build work played device
    compare "${3:-$(ls -rv "$here"/sealed.txt "$here"/open-*.txt 2> /dev/null | head -1)}"
    ;;
*)
    echo "$usage" >&2
    exit 2
    ;;
esac
