# toolkit.sh - the CUDA Toolkit on this machine, for the Makefile and the scripts in tests/.
#
#     . grader/toolkit.sh      sets nvcc ("" if there is none) and cuda, the folder it belongs to
#
# Looks where toolchain.c does. The nvcc that is found may be a link, or a script that calls the
# one elsewhere: beside it there may be neither headers nor libraries, so nvcc itself is asked.

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
