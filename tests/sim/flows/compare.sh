#!/bin/bash
# compare.sh - plays the training set on the simulated GPU and compares machine instructions and threads per instruction
# with those of the hardware (h200.txt).
#
#     tests/sim/flows/compare.sh BUILD [NAME...]
#
# Run it from the repository's root. It needs `make BUILD/libcudart-sim.so` and takes a few seconds. Launches that are off
# by more than 3 % are listed: the ratios of instructions and of threads per instruction, ours / theirs. Exit status 1: a
# launch that off.txt does not name is off by more than 5 %.
set -u
build=$(cd "${1:?the build folder}" && pwd)
shift
here=tests/sim/flows
work=$build/flows
export LC_ALL=C
command -v jq > /dev/null || { echo "flows: skipped, jq not found (make setup)"; exit 0; }
. grader/build/toolkit.sh
[ -n "$nvcc" ] || [ -x "$work/flows" ] || { echo "flows: skipped, nvcc not found"; exit 0; }
nice $here/build.sh "$build" || exit 1

LD_PRELOAD=$build/libcudart-sim.so SIM_DEVICE=h200 SIM_WHOLE=1 SIM_CHECKS=none SIM_QUIET=1 SIM_REPORT=$work/report.json \
    timeout 120 nice "$work/flows" "$@" > /dev/null 2> "$work/errors" || { cat "$work/errors"; exit 1; }
jq -r 'select(.record == "kernel") | [.name, .machine_instructions, .machine_threads, .machine_counts] | join(" ")' \
    "$work/report.json" > "$work/counted"
awk -f $here/compare.awk $here/off.txt $here/h200.txt "$work/counted"
