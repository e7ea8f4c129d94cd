#!/bin/bash
# build.sh - builds the training set's program twice: for the simulated GPU and for a GPU.
#
#     tests/sim/flows/build.sh BUILD
#
# Run it from the repository's root. It writes BUILD/flows/flows (shared runtime library, for the simulator) and
# BUILD/flows/flows-gpu (static one), for compute capability 9.0, if the sources have changed.
set -euo pipefail
work=$1/flows
here=tests/sim/flows
flags=(-O3 -lineinfo --no-compress -std=c++17 -gencode 'arch=compute_90,code=[sm_90,compute_90]')
. grader/build/toolkit.sh
mkdir -p "$work"
hash=$(cat $here/*.cu* tests/sim/blind/blind.cuh $here/build.sh | sha256sum)

[ -x "$work/flows-gpu" ] && [ "$(cat "$work/hash" 2> /dev/null)" = "$hash" ] && exit
[ -n "$nvcc" ] || { echo "build.sh: nvcc not found" >&2; exit 1; }
"$nvcc" "${flags[@]}" -c -o "$work/flows.o" $here/flows.cu
"$nvcc" "${flags[@]}" -cudart shared -o "$work/flows" "$work/flows.o"
"$nvcc" "${flags[@]}" -cudart static -o "$work/flows-gpu" "$work/flows.o"
echo "$hash" > "$work/hash"
