#!/bin/bash
# trace.sh - traces of programs and of labs' kernels on the simulated GPU, read strictly (trace.py).
#
#     tests/sim/trace.sh BUILD
. "$(dirname "$0")/prelude.sh"
begin trace "simulated traces" "${1:?the build folder}"
need_nvcc
unset SIM_TRACE SIM_REPORT SIM_TIME SIM_DEVICE
flags=(-O3 -lineinfo --no-compress -cudart shared -std=c++17 -gencode 'arch=compute_80,code=[sm_80,compute_80]')

# try LABEL COMMAND...
try() {
    local label=$1
    shift
    if "$@" > "$work/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $label: $*"
        tail -5 "$work/out"
    fi
}
not() { ! "$@"; }
smaller() { [ "$(stat -c %s "$1")" -lt $((16 << 20)) ]; }

# of_program NAME FOLDER: a trace beside the report of the same run.
of_program() {
    "$nvcc" "${flags[@]}" -o "$work/$1" "$here/$2/$1.cu" || { failed=$((failed + 1)); return; }
    try "$1 runs" "$build/warpbook" sim --trace "$work/$1.json" --report "$work/$1.report" "$work/$1"
    try "$1: its trace" python3 "$here/trace.py" "$work/$1.json" "$work/$1.report"
    try "$1: its size" smaller "$work/$1.json"
}

# of_lab LAB: the trace of the reference.
of_lab() {
    local reference
    reference=$(find "$root/solutions/$1" -maxdepth 1 -name '[1-9]*.cu' | sort -V | tail -1)
    export WARPBOOK_BUILD=$build
    try "$1 is traced" "$build/warpbook" explain "$1" --submission "$reference" --trace "$work/$1.json"
    try "$1: its trace" python3 "$here/trace.py" "$work/$1.json"
    try "$1: its size" smaller "$work/$1.json"
}

of_program transpose bench
of_program streams programs
of_program vector_add programs
of_lab 05_streams
try "time is modelled without --time" grep -q '"cycles"' "$work/transpose.json"
try "no trace of a folder that is not there" not "$build/warpbook" sim --trace "$work/none/t.json" "$work/transpose"
try "the checker finds a slice that has no end" not python3 "$here/trace.py" <(grep -v '"ph":"e","cat":"engine"' "$work/transpose.json")
finish
