# programs.sh - compiles the programs of tests/sim/time, and runs them on the simulated H200.
# Sourced by scripts that run in the repository's root. shellcheck shell=bash
. grader/build/toolkit.sh
here=tests/sim/time

# Machine code for this machine's GPU, so that it is not compiled at each start.
own_code()
{
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null |
        sed -n '1s/^\([0-9]*\)[.]\([0-9]*\)$/-gencode arch=compute_\1\2,code=sm_\1\2/p' || true
}

# begin BUILD: sets work (the folder of the programs), library and cuda_lib.
begin()
{
    if [ -z "$nvcc" ]; then
        echo "$(basename "$0"): skipped, nvcc not found"
        exit 0
    fi
    work=$(cd "$1" && pwd)/sim/time
    library=$(cd "$1" && pwd)/libcudart-sim.so
    cuda_lib=$cuda/lib64
    options=$(own_code)
    mkdir -p "$work"
    if [ "$(cat "$work/options" 2> /dev/null)" != "$options" ]; then
        find "$work" -maxdepth 1 -type f -perm -u+x -delete # compiled for another GPU or without one
        echo "$options" > "$work/options"
    fi
}

# compile PROGRAM SOURCE [OPTION...]: compiles unless the program is newer than all its sources
compile()
{
    local program=$1 source=$2
    if [ ! -e "$program" ] ||
        [ -n "$(find $here labs solutions common -newer "$program" \( -name '*.cu*' -o -name '*.h' \))" ]; then
        # shellcheck disable=SC2086 # options are words
        "$nvcc" -O3 -lineinfo --no-compress -cudart shared "${@:3}" \
            -gencode 'arch=compute_80,code=[sm_80,compute_80]' $options -o "$program" "$source"
    fi
}

# file_of LAB.RUNG: the file of that rung
file_of()
{
    find "solutions/${1%%.*}" -name "${1#*.}.cu"
}

# compile_rung LAB.RUNG: compiles it to $work/LAB.RUNG, with the launch that the lab gives, if any
compile_rung()
{
    local lab=${1%%_*} given
    given=$(find "labs/${1%%.*}" -name launch.cpp)
    compile "$work/$1" $here/rung.cu -Icommon "-Ilabs/${1%%.*}" "-DLAB=${lab#0}" \
        "-DKERNEL=\"$PWD/$(file_of "$1")\"" "-DNAME=\"$1\"" $given
}

compile_sweeps()
{
    compile "$work/sweeps" $here/sweeps.cu
}

compile_streams()
{
    compile "$work/streams" $here/streams.cu -Icommon -Ilabs/05_streams
}

# sweep_groups PREFIX: the groups of sweeps.cu whose rows begin with PREFIX
sweep_groups()
{
    local group
    for group in chain copy occupancy transpose grid registers; do
        case $group in "${1%%.*}"*) echo $group ;; esac
    done
}

# wants_streams PREFIX: whether rows of streams.cu begin with PREFIX
wants_streams()
{
    local begins=${1:0:8}
    [[ streams. == "$begins"* ]]
}

# rungs_in FILE: LAB.RUNG of each measured LAB.RUNG.CASE
rungs_in()
{
    sed -n 's/^\(0[0-9]_[^ ]*\)\.[^. ]* [0-9.]*\( [a-z]*\)*$/\1/p' "$1" | uniq
}

# references: `LAB RUNG` for each lab, with its last rung. Lab 05 is timed by streams.cu.
references()
{
    local lab
    for lab in solutions/*/; do
        lab=$(basename "$lab")
        echo "${lab/#05_/} $(basename "$(find "solutions/$lab" -maxdepth 1 -name '[1-9]*.cu' | sort | tail -1)" .cu)"
    done
}

# slices_of DEVICE: the number of slices into which the simulator cuts it: the fewest with at most 12 SMs each
slices_of()
{
    local sms
    sms=$(sed -n 's/^sms: *\([0-9]*\).*/\1/p' "grader/sim/devices/$1.txt")
    echo $(((sms + 11) / 12))
}

# at_once FUNCTION: calls FUNCTION with each line of the input, one per processor in parallel, and prints the
# outputs in the order of the input. Status 1: a call failed.
at_once()
{
    local line said n=0 failed=0
    said=$(mktemp -d "$work/said.XXXXXX")
    while IFS= read -r line; do
        "$1" "$line" > "$said/$(printf %05d $n)" < /dev/null &
        n=$((n + 1))
        [ $n -lt "$(nproc)" ] || wait -n || failed=1
    done
    while [ -n "$(jobs -pr)" ]; do
        wait -n || failed=1
    done
    find "$said" -type f | sort | xargs -r cat
    rm -rf "$said"
    return $failed
}

# simulate PROGRAM [ARGUMENT...]: with machine code for the simulated device
simulate()
{
    SIM_PTXAS=${nvcc%/*}/ptxas SIM_PTXAS_CACHE=$work/ptxas SIM_TIME=1 SIM_DEVICE=${SIM_DEVICE:-h200} SIM_CHECKS=none SIM_QUIET=1 LD_PRELOAD=$library "$@"
}
