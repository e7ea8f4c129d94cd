#!/bin/bash
# build.sh - builds the blind set's program twice: for the simulated GPU and for a GPU.
#
#     tests/sim/blind/build.sh BUILD [sim|gpu]
#
# Run it from the repository's root. It writes BUILD/blind/blind (shared runtime library, for the simulator) and
# BUILD/blind/blind-gpu (static one), for compute capability 9.0, and rebuilds only what is older than its sources: by
# their hash, so that a copied build folder remains valid.
set -euo pipefail
build=$1
only=${2:-}
here=tests/sim/blind
work=$build/blind
flags=(-O3 -lineinfo --no-compress -std=c++17 -gencode 'arch=compute_90,code=[sm_90,compute_90]')
. grader/build/toolkit.sh
mkdir -p "$work"
hash=$(cat $here/*.cu* $here/*.def $here/build.sh | sha256sum)

# link PROGRAM RUNTIME
link()
{
    [ -x "$1" ] && [ "$(cat "$1.hash" 2> /dev/null)" = "$hash" ] && return
    [ -n "$nvcc" ] || { echo "build.sh: nvcc not found" >&2; return 1; }
    [ "$(cat "$work/blind.o.hash" 2> /dev/null)" = "$hash" ] || {
        "$nvcc" "${flags[@]}" -c -o "$work/blind.o" $here/blind.cu
        echo "$hash" > "$work/blind.o.hash"
    }
    "$nvcc" "${flags[@]}" -cudart "$2" -o "$1" "$work/blind.o"
    echo "$hash" > "$1.hash"
}

[ "$only" = gpu ] || link "$work/blind" shared
[ "$only" = sim ] || link "$work/blind-gpu" static
