#!/bin/sh
# errors.sh - writes errors.def from the toolkit's header: code, name and text of each cudaError.
# The text is made from the words of the name, except for errors with a well-known text.
#
#     grader/sim/runtime/errors.sh CUDA_INCLUDE_FOLDER > grader/sim/runtime/errors.def
set -e
export LC_ALL=C
header=${1:?the folder of driver_types.h}/driver_types.h

cat <<'END'
/* errors.def - written by errors.sh from the CUDA header driver_types.h: code, name, words. */
END
sed -n '/^enum .*cudaError *$/,/^}/p' "$header" |
sed -n 's/^ *\(cuda[A-Za-z0-9]*\) *= *\([0-9][0-9]*\).*/\2 \1/p' | sort -n | awk '
BEGIN {
    text["cudaSuccess"] = "no error"
    text["cudaErrorInvalidValue"] = "invalid argument"
    text["cudaErrorMemoryAllocation"] = "out of memory"
    text["cudaErrorInvalidConfiguration"] = "invalid configuration argument"
    text["cudaErrorInvalidPitchValue"] = "invalid pitch argument"
    text["cudaErrorInvalidSymbol"] = "invalid device symbol"
    text["cudaErrorInvalidMemcpyDirection"] = "invalid copy direction for memcpy"
    text["cudaErrorInvalidDevice"] = "invalid device ordinal"
    text["cudaErrorNoDevice"] = "no CUDA-capable device is detected"
    text["cudaErrorNoKernelImageForDevice"] = "no kernel image is available for execution on the device"
    text["cudaErrorInvalidPtx"] = "a PTX JIT compilation failed"
    text["cudaErrorInvalidResourceHandle"] = "invalid resource handle"
    text["cudaErrorNotReady"] = "device not ready"
    text["cudaErrorIllegalAddress"] = "an illegal memory access was encountered"
    text["cudaErrorIllegalInstruction"] = "an illegal instruction was encountered"
    text["cudaErrorLaunchOutOfResources"] = "too many resources requested for launch"
    text["cudaErrorLaunchTimeout"] = "the launch timed out and was terminated"
    text["cudaErrorLaunchFailure"] = "unspecified launch failure"
    text["cudaErrorAssert"] = "device-side assert triggered"
    text["cudaErrorCooperativeLaunchTooLarge"] = "too many blocks in cooperative launch"
    text["cudaErrorNotSupported"] = "operation not supported"
    text["cudaErrorUnknown"] = "unknown error"
}
function words(name,   i, c, out, p) {
    sub(/^cuda(Error)?/, "", name)
    for (i = 1; i <= length(name); i++) {
        c = substr(name, i, 1)
        p = substr(name, i + 1, 1)
        if (i > 1 && c ~ /[A-Z]/ && (substr(name, i - 1, 1) ~ /[a-z0-9]/ || p ~ /[a-z]/))
            out = out " "
        out = out (c ~ /[A-Z]/ && p ~ /[A-Z]/ ? c : tolower(c))
    }
    return out
}
{ printf "ERROR(%d, %s, \"%s\")\n", $1, $2, ($2 in text) ? text[$2] : words($2) }'
