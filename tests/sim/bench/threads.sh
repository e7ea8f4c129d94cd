#!/bin/bash
# threads.sh - how long launches take on 1, 2, 4, ... threads with time modelled, on six kernels as people write them.
#
#     tests/sim/bench/threads.sh BUILD PROGRAMS [THREADS...]
#
# BUILD holds libcudart-sim.so, with `devices` beside it; PROGRAMS is the folder of the programs that compare.sh has
# compiled (BUILD/bench). Prints milliseconds per launch on the wall, the fastest of ROUNDS (4) runs: first those of a
# program's fastest launch, which may repeat an earlier one, then those of its second launch, which is always played.
# BEFORE=BUILD: another build, which runs in turn with the first, on one thread; the last line of each part says how many
# times as fast the first build is, in the geometric mean. Fails if a report depends on the number of threads. No GPU is
# needed.
set -euo pipefail
build=$(realpath "${1:?the build folder}")
programs=$(realpath "${2:?the folder of the programs}")
shift 2
counts=${*:-1 2 4 8 16}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SIM_DEVICE SIM_SCHED SIM_BUDGET SIM_TABLE SIM_TRACE
export SIM_QUIET=1 SIM_CHECKS=none SIM_TIME=1 BENCH_WALL=1 LC_ALL=C
status=0

command_of() { # KERNEL
    case $1 in
        transpose | sum) echo "$programs/$1" ;;
        *) echo "$programs/ordinary $1" ;;
    esac
}

run() { # BUILD KERNEL THREADS COLUMN: one row of `kernel column fastest second`
    # shellcheck disable=SC2046 # words
    env SIM_THREADS="$3" SIM_REPORT="$work/report" SIM_DEVICES="$1/devices" LD_PRELOAD="$1/libcudart-sim.so" \
        $(command_of "$2") | awk -v kernel="$2" -v column="$4" '{ print kernel, column, $3, $7 }' >> "$work/rows"
}

run_all() { # KERNEL: on each number of threads
    local count
    [ -z "${BEFORE:-}" ] || run "$BEFORE" "$1" 1 before
    rm -f "$work/first"
    for count in $counts; do
        run "$build" "$1" "$count" "$count"
        [ -e "$work/first" ] || cp "$work/report" "$work/first"
        cmp -s "$work/first" "$work/report" && continue
        echo "$1: the reports on 1 and on $count threads differ"
        status=1
    done
}

table() { # NAME FIELD
    awk -v name="$1" -v field="$2" '
        !(($1, $2) in least) || $field < least[$1, $2] { least[$1, $2] = $field }
        !($1 in kernel) { kernel[$1]; kernels[++rows] = $1 }
        !($2 in column) { column[$2]; columns[++count] = $2 }
        END {
            printf "%-16s", name
            for (c = 1; c <= count; c++)
                printf " %8s", columns[c]
            for (r = 1; r <= rows; r++) {
                printf "\n%-16s", kernels[r]
                for (c = 1; c <= count; c++) {
                    printf " %8.2f", least[kernels[r], columns[c]]
                    sum[c] += log(least[kernels[r], columns[c]]) / rows
                }
            }
            printf "\n%-16s", "geometric mean"
            for (c = 1; c <= count; c++)
                printf " %8.2f", exp(sum[c])
            printf "\n%-16s", "times as fast"
            for (c = 1; c <= count; c++)
                printf " %8.2f", exp(sum[1] - sum[c])
            print "\n"
        }' "$work/rows"
}

for _ in $(seq "${ROUNDS:-4}"); do
    for kernel in naive tiled transpose sum stencil histogram; do
        run_all "$kernel"
    done
done
echo "$(nproc) processors; milliseconds per launch on the wall, by number of threads"
table "fastest launch" 3
table "second launch" 4
exit $status
