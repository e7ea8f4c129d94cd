#!/bin/bash
# run.sh test|test-rest|test-validation|test-all BUILD - runs the tests of make test, of the rest, those that validate
# the simulated GPU, or all of them.
#
# test: units; the real programs end to end against a scripted compiler and GPU; each lab's reference and starter on
# the simulated GPU. test-rest: the workbook as files, gradebook, the simulated GPU, hostile submissions, a class.
# test-validation: the simulated GPU against measurements, and programs of all kinds on it. test-all: all three.
#
# Tests that measure time run alone. Then two chains of tests that wait run in parallel with two that compute; on 2 cores,
# more chains would take longer. Prints a line per script with its time; status 1 if one failed. Outputs:
# BUILD/tests/NAME.log.
set -uo pipefail
cd "$(dirname "$0")/.."
unset MAKEFLAGS MFLAGS MAKELEVEL

tier=${1:?test or test-all} build=${2:-build}
logs=$build/tests
mkdir -p "$logs"
rm -f "$logs"/*.log "$logs"/*.status
nvcc=$(. grader/build/toolkit.sh && echo "$nvcc")
[ -x "$build/gradebook" ] && gradebook=yes || gradebook=

# test NAME COMMAND...: runs it and prints the result, the seconds it took, and those of processors (user+system).
test_one() {
    local name=$1 status=0 took TIMEFORMAT='%0R %0U %0S'
    shift
    took=$({ time "$@" > "$logs/$name.log" 2>&1; } 2>&1) || status=$?
    if [ $status = 0 ]; then
        printf '%-14s passed %5d s %5d+%d s  %s\n' "$name" $took "$(grep -E 'passed|skipped' "$logs/$name.log" | tail -1 | cut -c1-40)"
    else
        printf '%-14s FAILED %5d s %5d+%d s  (status %d)\n' "$name" $took $status
        grep -A12 'FAILED' "$logs/$name.log" | head -60 || true
        tail -15 "$logs/$name.log" | sed 's/^/    /'
        touch "$logs/$name.failed.status"
    fi
}

# Scripts one after the other: NAME=SCRIPT with its arguments. Those that $WITHOUT names are left out.
each() {
    local item
    for item; do
        case " ${WITHOUT:-} " in *" ${item%%=*} "*) continue ;; esac
        # shellcheck disable=SC2086 # words
        test_one "${item%%=*}" ${item#*=}
    done
}

# Each lab's reference passes, its starter is unchanged, on the simulated GPU: the real compiler, the real runners.
ladder_ends() {
    local lab reference status=0 verdict
    for lab in labs/*/; do
        lab=$(basename "$lab")
        reference=$(find "solutions/$lab" -maxdepth 1 -name '[1-9]*.cu' | sort -V | tail -1)
        verdict=$(WARPBOOK_BUILD=$build nice "$build/warpbook" grade "$lab" --device sim --submission "$reference" --format lines | sed -n 's/^verdict://p')
        [ "$verdict" = pass ] || { echo "FAILED: $lab: $reference: '$verdict', expected pass" && status=1; }
        verdict=$(WARPBOOK_BUILD=$build nice "$build/warpbook" grade "$lab" --device sim --quick --submission "solutions/$lab/0_starter.cu" --format lines | sed -n 's/^verdict://p')
        [ "$verdict" = unchanged ] || { echo "FAILED: $lab: the starter: '$verdict', expected unchanged" && status=1; }
    done
    return $status
}

units() { test_one units "$build/unit-tests"; }
labs() {
    if [ -n "$nvcc" ]; then test_one labs ladder_ends; else echo "labs: skipped, there is no nvcc"; fi
}

quick() {
    labs &
    units
    wait # the scripted GPU sleeps for its times, so the rest runs alone
    each end_to_end="tests/end_to_end.sh $build"
    each formats="tests/formats/formats.sh $build" watch="tests/learner/watch.sh $build"
}

waits_one() { each messages="tests/gradebook/messages.sh $build" gradebook="tests/gradebook/gradebook.sh $build" course="tests/gradebook/course.sh $build" \
    assignments="tests/gradebook/assignments.sh $build" term="tests/gradebook/term.sh $build" \
    reports="tests/gradebook/reports.sh $build" exports="tests/gradebook/exports.sh $build" large="tests/gradebook/large.sh $build"; }
waits_two() {
    each slurm="tests/gradebook/slurm.sh $build" machines="tests/gradebook/machines.sh $build" killed="tests/gradebook/killed.sh $build files"
    [ -z "$nvcc" ] || each hostile="tests/gradebook/hostile.sh $build" # compiles, too
}
files() { each workbook="nice tests/workbook.sh" editor="nice tests/editor.sh"; }
computes() {
    each counters="nice tests/sim/counters/compare.sh $build --sample" flows="nice tests/sim/flows/compare.sh $build" limits="nice tests/sim/limits.sh $build" trace="nice tests/sim/trace.sh $build" \
        occupancy="nice tests/sim/occupancy_check.sh $build" faults="nice tests/sim/run_faults.sh $build" time_compare="nice tests/sim/time/compare_test.sh"
    files
}
refuses() {
    each refused="tests/refused.sh $build"
    [ -z "$gradebook" ] || each class="tests/gradebook/class.sh $build 4 1,6,7" handed_in_quiz="tests/gradebook/quiz.sh $build"
    each guest="tests/runner/guest.sh $build" course_kit="tests/course_kit.sh $build" kits="tests/kits.sh $build" \
        two_devices="tests/judge/two_devices.sh $build" mistakes="nice tests/mistakes/run.sh $build" draw="tests/draw/draw.sh $build" \
        quiz="nice tests/learner/quiz.sh $build 01_coalescing 03_divergence 06_transpose 07_reduction" see="tests/learner/see.sh $build" portfolio="tests/learner/portfolio.sh $build"
}

rest() {
    each measure="tests/measure.sh $build"
    if [ -n "$gradebook" ]; then
        waits_one &
        waits_two &
    else
        echo "gradebook: skipped, libarchive, SQLite, cJSON, libcsv or libyaml is not installed (make setup)"
    fi
    if [ -n "$nvcc" ]; then
        refuses &
        computes
    else
        echo "simulated GPU: skipped, there is no nvcc"
        files
    fi
    wait
}

# The simulated GPU against measurements of a real one, and all programs.
validation() {
    [ -n "$nvcc" ] || { echo "validation: skipped, there is no nvcc"; return; }
    each agree="tests/sim/time/agree.sh $build 07_reduction" whatif="tests/sim/time/whatif.sh $build 01_coalescing" \
        counters="tests/sim/counters/compare.sh $build" merged="tests/sim/merged.sh $build" \
        check="tests/sim/time/check.sh $build sim" threads="tests/sim/time/threads.sh $build" programs="tests/sim/run_programs.sh $build" runtime="tests/sim/run_runtime.sh $build" same_report="tests/sim/same_report.sh $build"
}

case $tier in test | test-all) quick ;; esac
case $tier in test-rest | test-all) rest ;; esac
case $tier in test-validation | test-all) validation ;; esac
set -- "$logs"/*.failed.status
if [ -e "$1" ]; then
    echo "$# of $(ls "$logs"/*.log | wc -l) tests failed; what they printed: $logs/NAME.log"
    exit 1
fi
echo "All tests passed."
