#!/bin/bash
# validate.sh - the model of time beside an H200: what it measured (h200.txt), what is modelled.
#
#     tests/sim/time/validate.sh BUILD [GROUP]      BUILD holds libcudart-sim.so; chain, copy or
#                                                    transpose alone
#
# Rates of a slice are taken times the slices of the whole, as the sizes are shares of those that the
# H200 was measured with.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?the build folder}" && pwd)
group=${2:-}
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
work=$build/sim/time

if [ ! -x "$nvcc" ]; then
    echo "validate: skipped, there is no nvcc"
    exit 0
fi
mkdir -p "$work"
[ "$work/sweeps" -nt "$here/sweeps.cu" ] && [ "$work/sweeps" -nt "$here/kernels.cuh" ] ||
    "$nvcc" -O3 -lineinfo --no-compress -cudart shared \
        -gencode 'arch=compute_80,code=[sm_80,compute_80]' -o "$work/sweeps" "$here/sweeps.cu"

export SIM_TIME=1 SIM_DEVICE=h200 SIM_CHECKS=none SIM_QUIET=1 LC_ALL=C
LD_PRELOAD=$build/libcudart-sim.so "$work/sweeps" 16 "$group" > "$work/modelled"
awk -v slices=11 '
    NR == FNR { modelled[$1] = $2 * slices; next }
    /^#/ || !($1 in modelled) { next }
    FNR == 1 || !head++ { print "| kernel | H200 | modelled | modelled / H200 | |"
                          print "|---|---|---|---|---|" }
    {
        ratio = modelled[$1] / $2
        error = ratio > 1 ? ratio - 1 : 1 / ratio - 1
        sum[$3]++; if (error > worst[$3]) worst[$3] = error
        printf("| %s | %s | %.4g | %.3f | %s |\n", $1, $2, modelled[$1], ratio, $3)
    }
    END { for (kind in sum) printf("%s: %d rows, worst %.0f %%\n", kind, sum[kind], 100 * worst[kind]) | "sort" }
' "$work/modelled" "$here/h200.txt"
