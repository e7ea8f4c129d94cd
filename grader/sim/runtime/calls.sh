#!/bin/sh
# calls.sh - writes calls.def: what NVIDIA's libcudart exports and our objects do not define.
#
#     grader/sim/runtime/calls.sh OUR_OBJECTS -- LIBCUDART... > grader/sim/runtime/calls.def
#
# Names that only the libraries of CUDA 12 have are listed below, since those are seldom at hand.
set -e
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

while [ "$1" != -- ]; do
    nm --defined-only -g "$1"
    shift
done | awk '{ print $3 }' | sort -u > "$work/ours"
shift

only_12='
__cudaRegisterHostVar __cudaRegisterUnifiedTable cudaGetDriverEntryPoint cudaGetDriverEntryPoint_ptsz
cudaGraphAddDependencies_v2 cudaGraphAddNode_v2 cudaGraphGetEdges_v2 cudaGraphNodeGetDependencies_v2
cudaGraphNodeGetDependentNodes_v2 cudaGraphRemoveDependencies_v2 cudaLaunchCooperativeKernelMultiDevice
cudaMemAdvise_v2 cudaMemPrefetchAsync_v2 cudaMemPrefetchAsync_v2_ptsz
cudaSignalExternalSemaphoresAsync_v2 cudaSignalExternalSemaphoresAsync_v2_ptsz
cudaStreamGetCaptureInfo_v2 cudaStreamGetCaptureInfo_v2_ptsz cudaStreamGetCaptureInfo_v3
cudaStreamGetCaptureInfo_v3_ptsz cudaStreamUpdateCaptureDependencies_v2
cudaStreamUpdateCaptureDependencies_v2_ptsz cudaThreadGetCacheConfig cudaThreadGetLimit
cudaThreadSetCacheConfig cudaThreadSetLimit cudaWaitExternalSemaphoresAsync_v2
cudaWaitExternalSemaphoresAsync_v2_ptsz'

{
    nm -D --defined-only "$@" | sed -n 's/.* T \([A-Za-z0-9_]*\).*/\1/p'
    printf '%s\n' $only_12
} | sort -u | comm -23 - "$work/ours" > "$work/missing"

echo '/* calls.def - written by calls.sh: calls of the CUDA runtime that are not simulated. */'
sed 's/.*/UNKNOWN_CALL(&)/' "$work/missing"
