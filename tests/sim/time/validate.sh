#!/bin/bash
# validate.sh - compares the timing model with measurements of a GPU.
#
#     tests/sim/time/validate.sh BUILD [PREFIX]     BUILD holds libcudart-sim.so; PREFIX: only these names
#
# MEASURED=FILE (default h200-all.txt; h200.txt has earlier measurements, of half of the labs) and SIM_DEVICE=KEY
# (default h200) select another GPU, as `make validate` does. Prints the output of compare.awk. The simulated GPU is
# a slice: sizes are divided, and rates multiplied, by the number of slices. Exit status: see compare.awk.
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
