#!/bin/bash
# parts.sh CUDA OUT - copies to OUT what grading needs of the toolkit in the folder CUDA: nvcc and the programs that it
# calls, headers, and libcudart. The math libraries, the debugger and the profilers stay behind.
set -euo pipefail

cuda=$(cd "${1:?parts.sh CUDA OUT}" && pwd -P)
out=${2:?parts.sh CUDA OUT}
mkdir -p "$out/bin" "$out/nvvm/bin" "$out/lib64"
for program in nvcc nvcc.profile cudafe++ fatbinary ptxas; do
    cp -a "$cuda/bin/$program" "$out/bin/"
done
if [ -d "$cuda/bin/crt" ]; then cp -a "$cuda/bin/crt" "$out/bin/"; fi
cp -a "$cuda/nvvm/bin/cicc" "$out/nvvm/bin/"
cp -a "$cuda/nvvm/libdevice" "$out/nvvm/"
cp -RL "$cuda/include" "$out/include"
cp -a "$cuda"/lib64/libcudart.so* "$out/lib64/"
