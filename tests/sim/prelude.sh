# prelude.sh - the common start and end of the scripts in this folder.
#
#     . "$(dirname "$0")/prelude.sh"
#     begin faults "simulated faults" "${1:?the build folder}"    work folder: BUILD/sim/faults
#     need_nvcc                          skips the script if there is no nvcc
#     ...                                counts in `passed` and `failed`
#     finish                             prints the counts; its status is the script's
set -u

# begin NAME TITLE BUILD
begin()
{
    title=$2
    here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    root=$(cd "$here/../.." && pwd)
    build=$(cd "$3" && pwd)
    library=$build/libcudart-sim.so
    . "$root/grader/build/toolkit.sh"
    work=$build/sim/$1
    passed=0
    failed=0
    mkdir -p "$work"
}

need_nvcc()
{
    [ -z "$nvcc" ] || return 0
    echo "$title: skipped, nvcc not found"
    exit 0
}

# finish [PASSED FAILED]: with these words instead of "passed" and "failed".
finish()
{
    echo "$title: $passed ${1:-passed}, $failed ${2:-failed}"
    [ "$failed" = 0 ]
}
