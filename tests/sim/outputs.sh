#!/bin/bash
# outputs.sh - records the digests that the programs compute on a real GPU.
#
#     tests/sim/outputs.sh [ARCH] > tests/sim/outputs.expected
#
# Builds every program that has digests, from the same PTX that the simulator runs (compute_80), for this
# GPU (ARCH, such as sm_90; by default queried from the GPU), with the plain runtime library. Runs each
# program and prints its name and digest lines. Needs nvcc and a GPU. A program that fails has no lines,
# and the exit status is not 0.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../grader/build/toolkit.sh"
gpu()
{
    nvidia-smi --query-gpu="$1" --format=csv,noheader | head -1
}
arch=${1:-sm_$(gpu compute_cap | tr -d .)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

compile()
{
    "$nvcc" -O3 -std=c++17 -gencode "arch=compute_80,code=$arch" \
        -o "$work/$(basename "$1" .cu)" "$1" >&2
}

echo "# Digests of the outputs of a GPU; see outputs.sh."
echo "# device: $(gpu name)"
echo "# driver: $(gpu driver_version)"
echo "# nvcc: $("$nvcc" --version | sed -n 's/.*, V//p')"
echo "# date: $(date -u +%Y-%m-%d)"
echo "# command: tests/sim/outputs.sh $arch"
sources=$(grep -l digest.h "$here"/programs/*.cu)
export nvcc arch work
export -f compile
echo "$sources" | xargs -P "$(nproc)" -I{} bash -c 'compile "$1"' - {}
for source in $sources; do
    name=$(basename "$source" .cu)
    if timeout 60 "$work/$name" > "$work/out"; then
        sed -n "s/^digest/$name &/p" "$work/out"
    else
        echo "$name: failed: $(grep -v '^digest' "$work/out" | head -3)" >&2
        failed=1
    fi
done
exit $failed
