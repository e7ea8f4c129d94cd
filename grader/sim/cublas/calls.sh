#!/bin/sh
# calls.sh - writes calls.def: what NVIDIA's libcublas exports and our small one does not define.
#
#     grader/sim/cublas/calls.sh LIBCUBLAS OUR_OBJECT > grader/sim/cublas/calls.def
set -e
export LC_ALL=C
ours=$(mktemp)
trap 'rm -f "$ours"' EXIT

nm --defined-only -g "$2" | awk '{ print $3 }' | sort -u > "$ours"
echo '/* calls.def - written by calls.sh: calls of cuBLAS that are not here. */'
nm -D --defined-only "$1" | sed -n 's/.* T \(cublas[A-Za-z0-9_]*\).*/\1/p' | sort -u | comm -23 - "$ours" |
    sed 's/.*/UNKNOWN_CALL(&)/'
