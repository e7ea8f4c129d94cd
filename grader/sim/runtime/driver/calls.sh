#!/bin/sh
# calls.sh - writes calls.def: what cuda.h declares and our objects do not define.
#
#     grader/sim/runtime/driver/calls.sh CUDA_H OUR_OBJECTS > grader/sim/runtime/driver/calls.def
#
# The names are those of CUDA 13, with their versions (cuMemAlloc_v2), and older ones below.
set -e
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
header=$1
shift

older='
cuCtxGetSharedMemConfig cuCtxSetSharedMemConfig cuGraphAddKernelNode cuGraphInstantiate_v2 cuMemAdvise
cuMemPrefetchAsync cuStreamGetCaptureInfo_v2 cuStreamUpdateCaptureDependencies cuGraphAddNode'

for object in "$@"; do nm --defined-only -g "$object"; done | awk '{ print $3 }' | sort -u > "$work/ours"
{
    cc -E -P -x c "$header" | tr '\n' ' ' | grep -oE 'CUresult +cu[A-Z][A-Za-z0-9_]*\(' | sed 's/CUresult *//; s/(//'
    printf '%s\n' $older
} | sort -u | comm -23 - "$work/ours" > "$work/missing"

echo '/* calls.def - written by calls.sh: calls of the driver that are not simulated. */'
sed 's/.*/UNKNOWN_CALL(&)/' "$work/missing"
