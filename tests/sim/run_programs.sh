#!/bin/bash
# run_programs.sh - real programs, built by nvcc, run by the simulated GPU's library.
#
#     tests/sim/run_programs.sh BUILD [PROGRAM...]
#
# A program's comment says what must be on stdout (expect: one line; or all of NAME.expected), on
# stderr (stderr: a part of it; otherwise nothing; stderr-any: anything) and which exit status
# (status: 0 unless said). BUILD holds the library.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?the build folder}" && pwd)
shift
library=$build/libcudart-sim.so
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
work=$build/sim/programs
passed=0
failed=0

if [ ! -x "$nvcc" ]; then
    echo "simulated programs: skipped, there is no nvcc"
    exit 0
fi
mkdir -p "$work"

# said WORD FILE: what the program's comment says under that word.
said()
{
    sed -n "s/^ \* $1: //p" "$2"
}

compile()
{
    [ "$2" -nt "$1" ] && [ "$2" -nt "$here/programs/check.h" ] ||
        "$nvcc" -O3 -lineinfo --no-compress -cudart shared -std=c++17 \
            -gencode 'arch=compute_80,code=[sm_80,compute_80]' -o "$2" "$1"
}

# judge SOURCE PROGRAM: prints what is wrong.
judge()
{
    local status wanted_status part
    env -u SIM_REPORT -u SIM_QUIET LD_PRELOAD="$library" timeout 60 "$2" > "$2.out" 2> "$2.err"
    status=$?
    wanted_status=$(said status "$1")
    part=$(said stderr "$1")
    [ "$status" = "${wanted_status:-0}" ] || echo "status $status"
    if [ -e "${1%.cu}.expected" ]; then
        diff "${1%.cu}.expected" "$2.out"
    elif [ "$(cat "$2.out")" != "$(said expect "$1")" ]; then
        echo "stdout: $(head -3 "$2.out")"
    fi
    if [ -n "$part" ]; then
        tr '\n' ' ' < "$2.err" | tr -s ' ' | grep -qF -- "$part" || echo "stderr lacks: $part"
    elif [ -s "$2.err" ] && [ -z "$(said stderr-any "$1")" ]; then
        echo "stderr: $(head -3 "$2.err")"
    fi
}

for source in "$here"/programs/*.cu; do
    name=$(basename "$source" .cu)
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    if ! compile "$source" "$work/$name"; then
        wrong="does not compile"
    else
        wrong=$(judge "$source" "$work/$name")
    fi
    if [ -z "$wrong" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name: $wrong"
    fi
done
echo "simulated programs: $passed passed, $failed failed"
[ "$failed" = 0 ]
