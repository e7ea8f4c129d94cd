#!/bin/bash
# compare.sh - compares the speed of two builds of the simulated GPU, on six kernels as people write
# them, in three modes.
#
#     tests/sim/bench/compare.sh BUILD BEFORE [ROUNDS [KERNEL...]]
#
# BUILD holds libcudart-sim.so; BEFORE is the library of another build. In each of ROUNDS (5) rounds
# both run one after the other, so that other work on the machine slows both. Rates are millions of warp
# instructions per second of CPU time, the fastest launch of all rounds. Modes: "unchecked" has bounds
# and counters only, "checks" all checks, "time" modelled time. "first" is modelled time, too, but only
# of the second launch of each round: it is played, while later ones may repeat it. (The first one also
# loads the program.) The last line has the geometric means.
. "$(dirname "$0")/../prelude.sh"
begin bench "compare" "${1:?the build folder}"
before=$(realpath "${2:?the other library}")
rounds=${3:-5}
kernels=${*:4}
need_nvcc
unset SIM_REPORT SIM_DEVICE SIM_SCHED SIM_BUDGET SIM_TABLE SIM_TIME
export SIM_QUIET=1 SIM_THREADS=1 LC_ALL=C

compile()
{
    local program
    for program in ordinary transpose sum; do
        [ "$work/$program" -nt "$here/bench/$program.cu" ] && [ "$work/$program" -nt "$here/bench/bench.h" ] ||
            "$nvcc" -O3 -lineinfo --no-compress -cudart shared -std=c++17 \
                -gencode 'arch=compute_80,code=[sm_80,compute_80]' \
                -o "$work/$program" "$here/bench/$program.cu" || exit 1
    done
}

# command KERNEL
command_of()
{
    case $1 in
        transpose | sum) echo "$work/$1" ;;
        *) echo "$work/ordinary $1" ;;
    esac
}

# settings MODE
settings()
{
    case $1 in
        unchecked) echo SIM_CHECKS=none ;;
        checks) echo SIM_CHECKS=all ;;
        time | first) echo SIM_CHECKS=none SIM_TIME=1 ;;
    esac
}

# devices_of LIBRARY: the descriptions next to it, whose keys it knows; BUILD's if it was copied alone.
devices_of()
{
    [ -d "$(dirname "$1")/devices" ] && dirname "$1" || echo "$build"
}

# least_ms LIBRARY KERNEL MODE
least_ms()
{
    env $(settings "$3") SIM_DEVICES="$(devices_of "$1")/devices" LD_PRELOAD="$1" $(command_of "$2") |
        awk -v field="$([ "$3" = first ] && echo 7 || echo 3)" '{ print $field }'
}

# millions KERNEL: warp instructions per launch.
millions()
{
    local repetitions
    repetitions=$(SIM_CHECKS=none SIM_DEVICES=$build/devices SIM_REPORT=$work/report.json LD_PRELOAD=$library $(command_of "$1") | awk '{ print $4 }')
    awk -v repetitions="$repetitions" '/"record":"kernel"/ {
            match($0, /"warp_instructions":[0-9]+/)
            sum += substr($0, RSTART + 20, RLENGTH - 20)
        } END { print sum / repetitions / 1e6 }' "$work/report.json"
}

compile
printf '%-12s %-10s %10s %10s %7s\n' kernel mode before now faster
for kernel in ${kernels:-naive tiled transpose sum stencil histogram}; do
    instructions=$(millions "$kernel")
    for mode in unchecked checks first time; do
        for round in $(seq "$rounds"); do
            echo "$(least_ms "$before" "$kernel" $mode) $(least_ms "$library" "$kernel" $mode)"
        done | awk -v kernel="$kernel" -v mode=$mode -v n="$instructions" '
            NR == 1 || $1 < old { old = $1 }
            NR == 1 || $2 < new { new = $2 }
            END { printf("%-12s %-10s %8.1f M %8.1f M %7.2f\n", kernel, mode, n / old * 1e3, n / new * 1e3, old / new) }'
    done
done | tee "$work/compared"
awk '{ sum[$2] += log($NF); count[$2]++ }
    END {
        printf("geometric mean:")
        for (mode in sum)
            printf(" %s %.2f", mode, exp(sum[mode] / count[mode]))
        print ""
    }' "$work/compared"
