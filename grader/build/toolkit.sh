# toolkit.sh - the CUDA Toolkit on this machine, for the Makefile and the scripts in tests/.
#
#     . grader/build/toolkit.sh    sets nvcc ("" if there is none) and cuda, the folder of its toolkit
#
# Searches in the same places as toolchain.c. The nvcc that is found may be a link, or a script that calls
# another one. The folder next to it may then lack headers and libraries, so nvcc itself reports its toolkit.

nvcc=
for candidate in "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "$(command -v nvcc)" /usr/local/cuda/bin/nvcc; do
    [ -x "$candidate" ] || continue
    nvcc=$candidate
    break
done
cuda=
if [ -n "$nvcc" ]; then
    cuda=$("$nvcc" --dryrun -E -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')
    cuda=$(cd "${cuda:-$(dirname "$nvcc")/..}" && pwd -P)
fi
