#!/bin/bash
# threads.sh - how fast time is modelled on 1, 2, 4, ... threads, on six kernels as people write them.
#
#     tests/sim/bench/threads.sh LIBRARY PROGRAMS [THREADS...]
#
# LIBRARY is a build's libcudart-sim.so, with `devices` beside it; PROGRAMS the folder of the programs
# that compare.sh and bench.sh have compiled (BUILD/bench). Rates are millions of warp instructions per
# second on the wall, of the second launch: later ones may repeat it, and are then not played. "plain":
# time is not modelled. Also checks that the report has the same bytes on any number of threads. No GPU
# is needed.
set -euo pipefail
library=$(realpath "${1:?the library}")
programs=$(realpath "${2:?the folder of the programs}")
shift 2
counts=${*:-1 2 4 8 16}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SIM_DEVICE SIM_SCHED SIM_BUDGET SIM_TABLE SIM_TIME SIM_TRACE SIM_THREADS
export SIM_QUIET=1 SIM_CHECKS=none BENCH_WALL=1 LC_ALL=C
failed=0

command_of()
{
    case $1 in
        transpose | sum) echo "$programs/$1" ;;
        sgemm) echo "$programs/sgemm 512 5" ;;
        *) echo "$programs/ordinary $1" ;;
    esac
}

# launch KERNEL [SETTING...]: the second launch's milliseconds. The report is in $work/report.
launch()
{
    # shellcheck disable=SC2046 # words
    env "${@:2}" SIM_REPORT="$work/report" LD_PRELOAD="$library" $(command_of "$1") | awk '{ print $7 }'
}

# millions KERNEL: warp instructions per launch, from the report.
millions()
{
    awk '/"record":"kernel"/ {
            match($0, /"warp_instructions":[0-9]+/); sum += substr($0, RSTART + 20, RLENGTH - 20)
            match($0, /"launches":[0-9]+/); launches = substr($0, RSTART + 11, RLENGTH - 11)
        } END { print sum / launches / 1e6 }' "$work/report"
}

rate()
{
    awk "BEGIN { printf \" %8.1f\", $1 / $2 * 1000 }"
}

printf '%d processors; M warp instructions per second\n%-10s %8s' "$(nproc)" kernel plain
printf ' %6s T' $counts
echo
for kernel in naive tiled sgemm stencil histogram transpose sum; do
    ms=$(launch "$kernel")
    all=$(millions)
    printf '%-10s' "$kernel"
    rate "$all" "$ms"
    rm -f "$work/first"
    for count in $counts; do
        ms=$(launch "$kernel" SIM_TIME=1 SIM_THREADS="$count")
        rate "$all" "$ms"
        [ -e "$work/first" ] || cp "$work/report" "$work/first"
        cmp -s "$work/first" "$work/report" || differs=1
    done
    if [ "${differs:-0}" = 1 ]; then
        printf '   REPORTS DIFFER'
        failed=1 differs=0
    fi
    echo
done
exit $failed
