# programs.sh - the programs of tests/sim/time: how they are compiled, and run on the simulated H200.
# To be read by a script that is in the repository's root. shellcheck shell=bash
. grader/toolkit.sh
here=tests/sim/time

# begin BUILD: sets work, where programs lie, and library.
begin()
{
    if [ -z "$nvcc" ]; then
        echo "$(basename "$0"): skipped, there is no nvcc"
        exit 0
    fi
    work=$(cd "$1" && pwd)/sim/time
    library=$(cd "$1" && pwd)/libcudart-sim.so
    mkdir -p "$work"
}

# compile PROGRAM SOURCE [OPTION...], unless it is newer than all that it is made of
compile()
{
    local program=$1 source=$2
    if [ ! -e "$program" ] ||
        [ -n "$(find $here labs solutions common -newer "$program" \( -name '*.cu*' -o -name '*.h' \))" ]; then
        "$nvcc" -O3 -lineinfo --no-compress -cudart shared "${@:3}" \
            -gencode 'arch=compute_80,code=[sm_80,compute_80]' -o "$program" "$source"
    fi
}

# file_of LAB.RUNG: the file of that name
file_of()
{
    find "solutions/${1%%.*}" -name "${1#*.}.cu"
}

# compile_rung LAB.RUNG: to $work/LAB.RUNG
compile_rung()
{
    local lab=${1%%_*}
    compile "$work/$1" $here/rung.cu -Icommon "-Ilabs/${1%%.*}" "-DLAB=${lab#0}" \
        "-DKERNEL=\"$PWD/$(file_of "$1")\"" "-DNAME=\"$1\""
}

# simulate PROGRAM [ARGUMENT...]
simulate()
{
    SIM_TIME=1 SIM_DEVICE=${SIM_DEVICE:-h200} SIM_CHECKS=none SIM_QUIET=1 LD_PRELOAD=$library "$@"
}
