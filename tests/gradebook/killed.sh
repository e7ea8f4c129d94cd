#!/bin/bash
# killed.sh BUILD [KILLS [STUDENTS [LABS]]] - kills gradebook with kill -9 at random moments and then continues it.
# The results must equal those of an undisturbed run, no kernel may be graded twice, and no file or process may be
# left behind.
#
# Uses the generated class of tests/gradebook/class.sh and the real warpbook on the simulated GPU, in bubblewrap where
# it works. Takes a quarter of an hour; tests/gradebook/gradebook.sh does the same with a scripted warpbook.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build} kills=${2:-50} students=${3:-12} labs=${4:-3,6,8}
case $build in /*) ;; *) build=$PWD/$build ;; esac
. tests/check.sh
export WARPBOOK_BUILD=$build
gradebook=$build/gradebook
calm=$work/results out=$work/killed

grade=("$gradebook" grade "$work/class" --out "$out" --devices sim --labs "$labs" ${TRUST:+--trust-submissions})
states() {
    "$gradebook" export --format json --out "$1" | jq -r '.students[] | .name + "," + (.number // "") as $who
        | .labs[] | [$who, .lab, .state, .marks // "-", .flag // ""] | map(tostring) | join(",")' | sort
}
all_gone() { # true once no process grades for this gradebook; a busy machine takes a moment
    for _ in {1..25}; do
        [[ $(cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' ' ') == *"$out/work/"* ]] || return 0
        sleep 0.2
    done
    return 1
}

check "without interruptions, every verdict is as expected" tests/gradebook/class.sh "$build" "$students" "$labs" "$work"
dead=0 done_then=()
for ((i = 1; i <= kills; i++)); do
    "${grade[@]}" 2> "$work/said-killed" & # not in a function, so that the kill hits gradebook, not a subshell
    sleep "$((RANDOM % 20)).$((RANDOM % 1000))"
    kill -9 $! 2> /dev/null
    wait $! 2> /dev/null
    [ $? = 137 ] && dead=$((dead + 1))
    check "no process outlives kill $i" all_gone
    done_then+=("$(sqlite3 -readonly "$out/gradebook.sqlite" "SELECT count(*) FROM attempts" 2> /dev/null || echo 0)")
done
echo "$dead of $kills kills hit a running gradebook; kernels graded at each kill: ${done_then[*]}"
check "more than half of the kills hit before grading was complete" test $dead -gt $((kills / 2))
check "the last run completes" status_is 0 "${grade[@]}"
check "the results are the same" diff <(states "$calm") <(states "$out")
check "nothing was graded twice" test "$(sqlite3 -readonly "$out/gradebook.sqlite" \
    "SELECT count(*) = count(DISTINCT kernel) AND max(number) = 1 AND min(outcome) = 'graded' AND max(outcome) = 'graded' FROM attempts")" = 1
check "the database is intact" test "$(sqlite3 -readonly "$out/gradebook.sqlite" "PRAGMA integrity_check")" = ok
check "killed gradings leave no files" test ! -e "$out/work"
finish
