#!/bin/bash
# killed.sh BUILD [KILLS [STUDENTS [LABS]]] - kills gradebook with kill -9 at random moments and then continues it: half
# of the kills hit gradings, half hit imports and exports. The results must equal those of an undisturbed run, no kernel
# may be graded twice, and no file or process may be left behind.
# killed.sh BUILD files [KILLS [STUDENTS]] - only imports and exports, by a scripted warpbook: seconds.
# killed.sh BUILD gradings [KILLS [STUDENTS [LABS]]] - only gradings.
#
# Gradings use the generated class of tests/gradebook/class.sh and the real warpbook on the simulated GPU, in bubblewrap
# where it works: a quarter of an hour. tests/gradebook/gradebook.sh kills gradings of a scripted warpbook.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
. tests/check.sh
gradebook=$build/gradebook

# ---- Gradings ----

# killed_gradings KILLS STUDENTS LABS
killed_gradings() {
    local kills=$1 students=$2 labs=$3 i calm=$work/results out=$work/killed dead=0 done_then=() grade
    export WARPBOOK_BUILD=$build COURSE=$work/course.ini
    printf '[all]\nseed = 0123456789abcdef\n' > "$COURSE" # inputs decide the last digit of some modelled times
    grade=("$gradebook" grade "$work/class" --out "$out" --devices sim --labs "$labs" --course "$COURSE" ${TRUST:+--trust-submissions})
    check "without interruptions, every verdict is as expected" tests/gradebook/class.sh "$build" "$students" "$labs" "$work"
    for ((i = 1; i <= kills; i++)); do
        "${grade[@]}" 2> "$work/said-killed" & # not in a function, so that the kill hits gradebook, not a subshell
        if [ $((i % 2)) = 0 ]; then # not while the device is still being tested
            until_graded "$out" "${done_then[-1]}"
            sleep "$((RANDOM % 3)).$((RANDOM % 1000))"
        else
            sleep "$((RANDOM % 20)).$((RANDOM % 1000))"
        fi
        kill -9 $! 2> /dev/null
        wait $! 2> /dev/null
        [ $? = 137 ] && dead=$((dead + 1))
        check "no process outlives kill $i" all_gone "$out"
        done_then+=("$(sql "$out" "SELECT count(*) FROM attempts" 2> /dev/null || echo 0)")
    done
    echo "$dead of $kills kills hit a running gradebook; kernels graded at each kill: ${done_then[*]}"
    check "more than half of the kills hit before grading was complete" test $dead -gt $((kills / 2))
    check "the last run completes" status_is 0 "${grade[@]}"
    check "the results are the same" diff <(states "$calm") <(states "$out")
    check "nothing was graded twice" test "$(sql "$out" \
        "SELECT count(*) = count(DISTINCT kernel) AND max(number) = 1 AND min(outcome) = 'graded' AND max(outcome) = 'graded' FROM attempts")" = 1
    check "the database is intact" test "$(sql "$out" "PRAGMA integrity_check")" = ok
    check "killed gradings leave no files" test ! -e "$out/work"
}
until_graded() { # OUT COUNT: until more kernels than this are graded, or after two minutes
    for _ in {1..240}; do
        [ "$(sql "$1" "SELECT count(*) FROM attempts" 2> /dev/null || echo 0)" -le "$2" ] || return 0
        sleep 0.5
    done
}
sql() { sqlite3 -readonly "$1/gradebook.sqlite" "$2"; }
states() {
    "$gradebook" export --format json --out "$1" | jq -r '.students[] | .name + "," + (.number // "") as $who
        | .labs[] | [$who, .lab, .state, .marks // "-", .flag // ""] | map(tostring) | join(",")' | sort
}
all_gone() { # OUT: true once no process grades for this gradebook; a busy machine takes a moment
    for _ in {1..25}; do # in bubblewrap, only its mounts name the folder
        [[ $(cat /proc/[0-9]*/{cmdline,mountinfo} 2> /dev/null | tr '\0' ' ') == *"$(basename "$work")/${1##*/}/work/"* ]] || return 0
        sleep 0.2
    done
    return 1
}

# ---- Imports and exports ----

# hand_in FOLDER LAB STUDENTS: a distinct kernel of each student
hand_in() {
    local text s lab
    lab=$(basename labs/"$2"_*)
    text=$(< "$(ls solutions/"$lab"/[1-9]*.cu | head -1)")
    for ((s = 1; s <= $3; s++)); do
        mkdir -p "$1/student$s/$lab"
        printf '%s\nenum { handed_in_by = %d };\n' "$text" $s > "$1/student$s/$lab/kernel.cu"
    done
}
# import OUT WEEK: reads the submissions of a week; the broken device 9 grades none.
importing() { echo "grade $work/$2 --out $1 --devices 9 --labs $(cat "$work/$2.labs") --trust-submissions"; }
# graded OUT: stores a result for each kernel that has none, which follows from its number.
graded() {
    sqlite3 "$1/gradebook.sqlite" "
        INSERT INTO attempts (kernel, number, device, began, seconds, outcome, why, log)
            SELECT id, 1, '0', '2026-01-01T00:00:00Z', 5, 'graded', '', 'logs/none' FROM kernels
            WHERE id NOT IN (SELECT kernel FROM attempts);
        INSERT INTO verdicts SELECT a.id, CASE k.id % 3 WHEN 0 THEN 'pass' WHEN 1 THEN 'slow' ELSE 'wrong' END,
            k.id % 101, (k.id % 120) / 100.0, 'a reason', '', '', 'a GPU', 'GPU-0', '', '1', '1', '0', 'full', '0', '0', '0'
            FROM attempts a JOIN kernels k ON k.id = a.kernel WHERE a.id NOT IN (SELECT attempt FROM verdicts);"
}
# killed_one COMMAND...: kills gradebook at a random moment of the time that it last took, then runs it to its end.
killed_one() {
    local began span=${spans["$1 $2 $3"]:-300}
    "$gradebook" "$@" > "$work/said-killed" 2>&1 &
    sleep "$(printf '0.%03d' $((RANDOM % (span < 900 ? span : 900))))"
    kill -9 $! 2> /dev/null
    wait $! 2> /dev/null
    [ $? = 137 ] && hits=$((hits + 1))
    sent=$((sent + 1))
    check "after kill $kill no part of a file has its name" whole_or_absent "$@"
    began=$(date +%s%3N)
    "$gradebook" "$@" ${again:-} > "$work/said-again" 2>&1 # its status is checked by its results
    spans["$1 $2 $3"]=$(($(date +%s%3N) - began))
}
# whole_or_absent COMMAND... --to FILE: an export that was killed left nothing, or all of it
whole_or_absent() {
    local to=${*: -1} format=$3
    [ "$1" = export ] && [ -f "$to" ] || return 0
    diff <(texts "$to") <(texts "$work/calm-$format")
}
# The text of a file, or of all files in a folder, without what is random in a page.
texts() {
    { cat "$1" 2> /dev/null || (cd "$1" && tail -n +1 $(find . -type f | sort)); } | sed -E 's/(nonce(="|-))[0-9a-f]{32}/\1N/g; s/[0-9-]{10}T[0-9:]{8}Z/DATE/g'
}

published() { "$gradebook" export --format marks --out "$1" && "$gradebook" report --out "$1"; }

# killed_files KILLS STUDENTS
killed_files() {
    local kills=$1 students=$2 hits=0 sent=0 kill format again=
    local formats=(csv marks json html feedback gradescope)
    declare -A spans
    export WARPBOOK_BUILD=$build GRADEBOOK_WARPBOOK=$PWD/tests/gradebook/fake_warpbook TMPDIR=$work
    hand_in "$work/week1" 01 "$students"
    hand_in "$work/week2" 06 "$students"
    echo 1 > "$work/week1.labs"
    echo 6 > "$work/week2.labs"
    { echo id,name,section; for ((s = 1; s <= students; s++)); do echo "$s,student$s,A"; done; } > "$work/roster.csv"
    "$gradebook" $(importing "$work/base" week1) 2> "$work/said-base"
    graded "$work/base"
    cp -r "$work/base" "$work/calm-out"
    cp -r "$work/base" "$work/killed-out"
    "$gradebook" $(importing "$work/calm-out" week2) 2> "$work/said-calm"
    "$gradebook" import-roster "$work/roster.csv" --out "$work/calm-out" 2> "$work/said-calm"
    graded "$work/calm-out"
    cp -r "$work/calm-out" "$work/unpublished"
    check "publishing" status_is 0 "$gradebook" publish --out "$work/calm-out" --labs 1,6
    for format in "${formats[@]}"; do
        check "export $format" status_is 0 "$gradebook" export --format "$format" --out "$work/calm-out" --to "$work/calm-$format"
    done
    for ((kill = 1; kill <= kills; kill++)); do
        case $((kill % 4)) in
        0) cp -r "$work/base" "$work/killed-$kill"
           killed_one $(importing "$work/killed-$kill" week2)
           killed_one import-roster "$work/roster.csv" --out "$work/killed-$kill"
           graded "$work/killed-$kill"
           check "an import that was killed and repeated has the same results" diff <(states "$work/calm-out") <(states "$work/killed-$kill")
           check "and an intact database" test "$(sql "$work/killed-$kill" "PRAGMA integrity_check")" = ok
           rm -r "$work/killed-$kill" ;;
        1) format=${formats[RANDOM % ${#formats[@]}]} again=--force
           rm -rf "$work/exported"
           killed_one export --format "$format" --out "$work/calm-out" --to "$work/exported"
           again=
           check "an export that was killed and repeated is the same: $format" diff <(texts "$work/calm-$format") <(texts "$work/exported") ;;
        3) rm -rf "$work/published"
           cp -r "$work/unpublished" "$work/published"
           killed_one publish --out "$work/published" --labs 1,6
           check "marks whose publishing was killed and repeated are the same" diff <(published "$work/calm-out") <(published "$work/published") ;;
        2) rm -f "$work/backup"
           killed_one backup --out "$work/calm-out" --to "$work/backup"
           check "a backup that was killed and repeated is whole" test "$(sqlite3 "$work/backup" "PRAGMA integrity_check; SELECT count(*) FROM verdicts" | paste -sd,)" = ok,$((2 * students)) ;;
        esac
    done
    echo "$hits of $sent kills hit a running import or export"
    check "the marks of the gradebook that was exported are the same" diff "$work/calm-csv" <("$gradebook" export --format csv --out "$work/calm-out")
}

if [ "${2:-}" = files ]; then
    killed_files "${3:-12}" "${4:-40}"
elif [ "${2:-}" = gradings ]; then
    killed_gradings "${3:-25}" "${4:-12}" "${5:-3,6,8}"
else
    kills=${2:-50}
    killed_files $((kills / 2)) 150
    unset GRADEBOOK_WARPBOOK TMPDIR
    killed_gradings $((kills - kills / 2)) "${3:-12}" "${4:-3,6,8}"
fi
finish
