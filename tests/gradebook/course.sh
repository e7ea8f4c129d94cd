#!/bin/bash
# course.sh BUILD - a course file and a roster, from end to end: marks, lateness, which kernels are graded again, and
# who sees the secret seed. With a scripted warpbook, then with the real one (scripted compiler and runner). Needs
# neither nvcc nor a GPU.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
gradebook=$build/gradebook
. tests/check.sh
mkdir "$work/build"

export WARPBOOK_NVCC=$PWD/tests/fake_nvcc WARPBOOK_READELF=$PWD/tests/fake_nvcc
export WARPBOOK_RUNNER=$build/fake_runner WARPBOOK_SIM_RUNNER=$build/fake_runner
export WARPBOOK_BUILD=$work/build TMPDIR=$work GRADEBOOK_WARPBOOK=$PWD/tests/gradebook/fake_warpbook
export WARPBOOK_PATIENCE=${WARPBOOK_PATIENCE:-0.3}

# kernel FILE NUMBER [DIRECTIVE]: a distinct kernel, with directives for the scripted warpbook.
kernel() {
    mkdir -p "$(dirname "$1")"
    { cat solutions/06_transpose/5_padded.cu; echo "#define MARK_$2"; } > "$1"
    [ -z "${3:-}" ] || printf '// grader: %s\n' "$3" >> "$1"
}

sql() { sqlite3 -readonly "$1/gradebook.sqlite" "$2"; }
attempts() { sql "$1" "SELECT count(*) FROM attempts"; }
course() { printf '%s\n' "$@" > "$work/course.ini"; }
grade() { "$gradebook" grade "$work/class" --out "$work/o" --labs 6,7 --jobs 2 --trust-submissions "$@"; }
marks_are() { # "STUDENT LAB MARKS" [OPTION...]: what the export says
    local row=$1
    shift
    "$gradebook" export --format json --out "$work/o" "$@" > "$work/json" || return 1
    jq -r '.students[] | .name as $who | .labs[] | "\($who) \(.lab) \(.marks // "-")"' < "$work/json" > "$work/marks"
    grep -qx -- "$row" "$work/marks" && return
    echo "no row $row"
    cat "$work/marks"
    return 1
}

# ---- The example in the documentation ----

check "the documented example is one" status_is 3 "$gradebook" report --course docs/course.ini --out "$work/none"
kernel "$work/class/ann/06_transpose/kernel.cu" 1
kernel "$work/class/bob/06_transpose/kernel.cu" 2 "verdict slow
// grader: ratio 0.5 0.25"
kernel "$work/class/cid/06_transpose/kernel.cu" 3 "verdict close
// grader: ratio 0.74 0.25"
kernel "$work/class/ann/07_reduction/kernel.cu" 4 "verdict wrong"
touch -d 2026-11-01T12:00:00Z "$work"/class/*/*/kernel.cu
check "and can be graded with" status_is 0 grade --course docs/course.ini --devices sim:h200
check "its pages say all its keys" test -z "$(for key in $(sed -n 's/^#\{0,1\} \{0,1\}\([a-z_]*\) = .*/\1/p' docs/course.ini); do
    grep -q "\`$key\`" docs/course-file.md || echo "$key"; done)"
rm -rf "$work/o"

# ---- Mistakes ----

course "[all]" "weight = heavy" "[6]" "bar = 7" "lateness = none"
check "a course file with mistakes" status_is 2 grade --course "$work/course.ini"
for mistake in "course.ini:2: weight = heavy: expected" "course.ini:4: bar = 7: expected" "course.ini:5: unknown key lateness"; do
    check "all are reported" says "$mistake" grade --course "$work/course.ini"
done
check "and nothing was done" test "$(sql "$work/o" "SELECT count(*) FROM imports")" = 0
check "none there" says "none.ini: No such file" grade --course "$work/none.ini"

# ---- Marks follow from the file, gradings do not ----

check "without one" status_is 0 grade --devices sim
check "a pass" marks_are "ann 06_transpose 100"
check "slow" marks_are "bob 06_transpose 75"
check "close is a pass" marks_are "cid 06_transpose 100"
check "nothing submitted" marks_are "bob 07_reduction 0"
check "four gradings" test "$(attempts "$work/o")" = 4
course "[all]" "base = 10" "close = human"
check "a look with another" marks_are "bob 06_transpose 55" --course "$work/course.ini"
check "close is a human's" marks_are "cid 06_transpose -" --course "$work/course.ini"
check "changes nothing" marks_are "bob 06_transpose 75"
check "grading with it" status_is 0 grade --devices sim --course "$work/course.ini"
check "grades nothing" test "$(attempts "$work/o")" = 4
check "but it counts now" marks_are "bob 06_transpose 55"
check "also the next time" status_is 0 grade --devices sim
check "without being named" marks_are "bob 06_transpose 55"

course "[6]" "bar of flat = 0.6" "weight = 2"
check "another bar" status_is 0 grade --devices sim --course "$work/course.ini"
check "grades its lab anew" test "$(attempts "$work/o")" = 7
check "with that bar" marks_are "bob 06_transpose 85.7"
check "an attempt knows it" test "$(sql "$work/o" "SELECT group_concat(DISTINCT terms) FROM attempts WHERE id > 4")" \
    = $'[06_transpose]\nbar of flat = 0.6'
course "[all]" "weight = 2"
check "back to ours" status_is 0 grade --devices sim --course "$work/course.ini"
check "the first gradings count again" test "$(attempts "$work/o")" = 7
check "with their marks" marks_are "bob 06_transpose 75"

# ---- The secret seed ----

secret=5eed$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n') # no other run's: process lists are searched for it
course "[06_transpose]" "seed = $secret"
kernel "$work/class/dot/06_transpose/kernel.cu" 5 "sleep 1"
grade --devices sim --course "$work/course.ini" 2> /dev/null &
grading=$!
shown=
for _ in {1..12}; do
    sleep 0.1
    all=$(cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2> /dev/null | tr '\0' ' ')
    case $all in *"$secret"*) shown=yes ;; esac
done
wait $grading
check "grading with a seed" test $? = 0
check "no command line and no environment shows it" test -z "$shown"
check "a file does not either" test -z "$(grep -rl "$secret" "$work" --include='*' 2> /dev/null | grep -v -e gradebook.sqlite -e course.ini -e logs/)"
check "it was graded with" test "$(sql "$work/o" "SELECT count(*) FROM verdicts WHERE note LIKE '%seed = $secret%'")" = 4
check "the gradebook is ours alone" test "$(stat -c %a "$work/o/gradebook.sqlite")" = 600

# ---- The device that counts ----

course "[course]" "device = sim:h200"
check "the device is the course's" says "Grading on Scripted \(sim:h200\)" grade --course "$work/course.ini"
kernel "$work/class/eve/06_transpose/kernel.cu" 6
check "another is not taken" says "sim:t4 is taken out of service: .*in this course only results on sim:h200 count" grade --devices sim:t4
course "[course]" "device = H200"
check "another GPU does not either" says "Device 0 is taken out of service: it is Scripted, but in this course only results on H200" \
    grade --devices 0 --course "$work/course.ini"
course "[course]" "device = scripted"
check "a real one by its name" status_is 0 grade --devices 0 --course "$work/course.ini"

# ---- Lateness ----

printf '' > "$work/metadata"
for member in "101 Ann 1 2026-11-30T22:58:00Z" "102 Bo 2 2026-12-01T12:00:00Z" "103 Cy 3 2026-12-20T00:00:00Z"; do
    read -r id name number at <<< "$member"
    printf 'submission_%s:\n  :submitters:\n  - :name: %s\n    :sid: "%s"\n  :created_at: %s\n' "$id" "$name" "$number" "$at" >> "$work/metadata"
done
{
    echo "file submission_metadata.yml $work/metadata"
    for id in 101 102 103; do echo "file submission_$id/06_transpose/kernel.cu $work/class/ann/06_transpose/kernel.cu"; done
} | "$build/make_archive" zip "$work/gradescope.zip"
rm -rf "$work/o"
course "[all]" "deadline = 2026-11-30 23:59 +01:00" "late_unit = 1h" "late_factor = 0.98" "late_curve = linear" "late_cutoff = 7d"
mv "$work/class" "$work/folders"
late() { "$gradebook" grade "$work/gradescope.zip" --out "$work/o" --labs 6 --devices sim --trust-submissions "$@"; }
check "times that the system tells" status_is 0 late --course "$work/course.ini"
check "in time" marks_are "Ann 06_transpose 100"
check "14 hours late" marks_are "Bo 06_transpose 72"
check "after the cut-off" marks_are "Cy 06_transpose 0"
mv "$work/folders" "$work/class"
check "times of files" status_is 0 grade --devices sim
check "are not trusted" marks_are "ann 06_transpose 100"
course "[course]" "times = files" "[all]" "deadline = 2026-10-31 12:00 Z" "late_factor = 0.5"
check "unless the course says so" marks_are "ann 06_transpose 50" --course "$work/course.ini"

# ---- The roster ----

roster() { printf '%s\n' "$@" > "$work/roster.csv"; }
import() { "$gradebook" import-roster "$work/roster.csv" --out "$work/o"; }
roster "id,name" "1,ann" "1,bob" "2"
check "a roster with mistakes" status_is 2 import
check "is reported with lines" says "roster.csv:3: the id 1 is already on line 2" import
roster "id,name,section" "1,Ann,A" "2,Zoe Zed,B" "cid,Cyrus,B" "4,=SUM(1),B"
check "a roster" says "4 people" import
check "missing students" says "Zoe Zed, B: all labs are missing" "$gradebook" report --out "$work/o"
check "has a row" marks_are "Zoe Zed 06_transpose 0"
check "students who are not on it" says "bob: no id or name on the roster" "$gradebook" report --out "$work/o"
check "a folder named by an id" test -z "$("$gradebook" report --out "$work/o" | grep 'cid: no id')"
check "no formula gets out" test -z "$("$gradebook" export --format csv --out "$work/o" | grep -E '(^|,)"?=')"
check "import what?" status_is 2 "$gradebook" import-roster --out "$work/o"
check "nothing there" status_is 2 "$gradebook" import-roster "$work/none.csv" --out "$work/o"

# ---- An older gradebook ----

mkdir "$work/old"
sqlite3 "$work/old/gradebook.sqlite" < tests/gradebook/gradebook_v1.sql
check "version 1 is brought up to date" says "ann" "$gradebook" report --out "$work/old"
check "and keeps its contents" test "$(sql "$work/old" "SELECT group_concat(verdict) FROM verdicts")" = pass,slow

# ---- The real warpbook ----

unset GRADEBOOK_WARPBOOK
rm -rf "$work/class" "$work/o"
kernel "$work/class/ann/06_transpose/kernel.cu" r1
kernel "$work/class/bob/06_transpose/kernel.cu" r2
real() { "$gradebook" grade "$work/class" --out "$work/o" --labs 6 --devices 0 --quick --trust-submissions "$@"; }
course "[6]" "seed = $secret" "bar of square = 1.9"
check "the real one takes it" status_is 0 real --course "$work/course.ini"
check "grades with the bar" test "$(sql "$work/o" "SELECT group_concat(DISTINCT value) FROM figures WHERE name = 'case.2.bar'")" = 1.9000
check "and the seed" test "$(sql "$work/o" "SELECT group_concat(DISTINCT seed) FROM verdicts")" = "$secret"
check "slow, then" test "$(sql "$work/o" "SELECT group_concat(verdict) FROM verdicts")" = slow,slow

finish
