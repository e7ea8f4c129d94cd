#!/bin/bash
# validate.sh - compares the model of time with measurements of a GPU.
#
#     tests/sim/time/validate.sh BUILD [PREFIX]     BUILD holds libcudart-sim.so; of the names wanted
#
# MEASURED=FILE (without it h200-all.txt; h200.txt is what was measured first, of half of the labs) and SIM_DEVICE=KEY (without it h200) name another GPU's (`make
# validate` does). Prints what compare.awk says. The simulated GPU is a slice: its rates count as many
# times as the whole has slices, and the sizes are so much smaller. Exit status 1: see compare.awk.
set -euo pipefail
cd "$(dirname "$0")/../../.."
. tests/sim/time/programs.sh
begin "${1:?the build folder}"
prefix=${2:-}
measured=${MEASURED:-$here/h200-all.txt}
export SIM_DEVICE=${SIM_DEVICE:-h200}
slices=$(slices_of "$SIM_DEVICE")

sweep()
{
    simulate "$work/sweeps" $((slices > 1 ? 16 : 1)) "$1"
}

sweeps()
{
    sweep_groups "$prefix" | at_once sweep
}

rung()
{
    compile_rung "$1" && simulate "$work/$1" "$slices"
}

rungs()
{
    rungs_in "$measured" | { grep "^$prefix" || true; } | at_once rung
}

streams()
{
    wants_streams "$prefix" || return 0
    compile_streams
    simulate "$work/streams" "$slices"
}

compile_sweeps
{ sweeps; rungs; streams; } > "$work/modelled"
references > "$work/references"
LC_ALL=C awk -v slices="$slices" -v partly="${prefix:+yes}" -v POINTS="$work/points" -f $here/compare.awk \
    "$work/modelled" "$work/references" "$measured"
