#!/bin/bash
# validate.sh - the model of time beside an H200: what it measured (h200.txt), what is modelled.
#
#     tests/sim/time/validate.sh BUILD [PREFIX]     BUILD holds libcudart-sim.so; of the names wanted
#
# Prints a table, then for fitted and judged rows the median and the worst ratio. The simulated H200 is
# a slice: its rates count as many times as the whole has slices, and the sizes are so much smaller.
set -euo pipefail
cd "$(dirname "$0")/../../.."
here=tests/sim/time
build=$(cd "${1:?the build folder}" && pwd)
prefix=${2:-}
. grader/toolkit.sh
work=$build/sim/time
slices=11

if [ -z "$nvcc" ]; then
    echo "validate: skipped, there is no nvcc"
    exit 0
fi
mkdir -p "$work"

# compile PROGRAM SOURCE [OPTION...], unless it is newer than all that it is made of
compile()
{
    local program=$1 source=$2
    if [ ! -e "$program" ] || [ -n "$(find $here labs solutions common -newer "$program" -name '*.cu*')" ]; then
        "$nvcc" -O3 -lineinfo --no-compress -cudart shared "${@:3}" \
            -gencode 'arch=compute_80,code=[sm_80,compute_80]' -o "$program" "$source"
    fi
}

# LAB.RUNG: the file of that name
file_of()
{
    find "solutions/${1%%.*}" -name "${1#*.}.cu"
}

run()
{
    SIM_TIME=1 SIM_DEVICE=h200 SIM_CHECKS=none SIM_QUIET=1 LD_PRELOAD=$build/libcudart-sim.so "$@"
}

rungs()
{
    local name file lab
    for name in $(sed -n 's/^\(0[0-9]_.*\)\.[^.]* [0-9.]* [a-z]*$/\1/p' $here/h200.txt | uniq); do
        case $name in "$prefix"*) ;; *) continue ;; esac
        file=$(file_of "$name")
        lab=${name%%_*}
        compile "$work/$name" $here/rung.cu -Icommon "-Ilabs/${name%%.*}" "-DLAB=${lab#0}" \
            "-DKERNEL=\"$PWD/$file\"" "-DNAME=\"$name\""
        run "$work/$name" $slices
    done
}

streams()
{
    case streams. in "${prefix:0:8}"*) ;; *) return ;; esac
    compile "$work/streams" $here/streams.cu -Icommon -Ilabs/05_streams
    run "$work/streams" $slices
}

compile "$work/sweeps" $here/sweeps.cu
{ run "$work/sweeps" 16 "$prefix"; rungs; streams; } > "$work/modelled"
LC_ALL=C awk -v slices=$slices '
    function median(kind,   i, k, t) {
        for (i = 2; i <= n[kind]; i++)
            for (k = i; k > 1 && error[kind, k] < error[kind, k - 1]; k--) {
                t = error[kind, k]; error[kind, k] = error[kind, k - 1]; error[kind, k - 1] = t
            }
        return error[kind, int((n[kind] + 1) / 2)]
    }
    NR == FNR { modelled[$1] = $2 * slices; next }
    /^#/ || !($1 in modelled) { next }
    !head++ { print "| kernel | H200 | modelled | ratio | |"; print "|---|---|---|---|---|" }
    {
        ratio = modelled[$1] / $2
        error[$3, ++n[$3]] = ratio > 1 ? ratio - 1 : 1 / ratio - 1
        printf("| %s | %s | %.4g | %.3f | %s |\n", $1, $2, modelled[$1], ratio, $3)
    }
    END {
        for (kind in n) {
            m = median(kind)
            printf("%s: %d rows, error %.0f %% in the median, %.0f %% at the 90th percentile, %.0f %% at worst\n", kind, n[kind],
                   100 * m, 100 * error[kind, int(0.9 * n[kind] + 0.5)], 100 * error[kind, n[kind]]) | "sort"
        }
    }
' "$work/modelled" $here/h200.txt
