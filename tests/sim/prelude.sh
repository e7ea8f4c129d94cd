# prelude.sh - start and end of the scripts of this folder.
#
#     . "$(dirname "$0")/prelude.sh"
#     begin faults "simulated faults" "${1:?the build folder}"    to work in: BUILD/sim/faults
#     need_nvcc                          where there is none, the script ends, and says so
#     ...                                counts in `passed` and `failed`
#     finish                             says them; its status is the script's
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
    echo "$title: skipped, there is no nvcc"
    exit 0
}

# finish [PASSED FAILED]: by these words.
finish()
{
    echo "$title: $passed ${1:-passed}, $failed ${2:-failed}"
    [ "$failed" = 0 ]
}
