#!/bin/bash
# outputs.sh - what a real GPU computes: the digests of the programs, as a fixture.
#
#     tests/sim/outputs.sh [ARCH] > tests/sim/outputs.expected
#
# Builds every program that has digests, from the same PTX that the simulator runs (compute_80) and
# for this GPU (ARCH, such as sm_90; otherwise asked of the GPU), with the plain runtime library,
# runs each, and prints its lines of digests behind its name. Needs nvcc and a GPU. No program may
# fail: nothing is printed for one that does, and the exit status says so.
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

echo "# What a GPU computes; see outputs.sh."
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
