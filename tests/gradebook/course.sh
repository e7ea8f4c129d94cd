#!/bin/bash
# course.sh BUILD - a course file and a roster, from end to end: marks, lateness, which kernels are graded again, and
# where the secret seed is visible. Uses a scripted warpbook, then the real warpbook with a scripted compiler and
# runner. Needs neither nvcc nor a GPU.
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
marks_are() { # "STUDENT LAB MARKS" [OPTION...]: checks the exported marks
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

check "the documented course file has no errors" status_is 3 "$gradebook" report --course docs/course.ini --out "$work/none"
kernel "$work/class/ann/06_transpose/kernel.cu" 1
kernel "$work/class/bob/06_transpose/kernel.cu" 2 "verdict slow
// grader: ratio 0.5 0.25"
kernel "$work/class/cid/06_transpose/kernel.cu" 3 "verdict close
// grader: ratio 0.74 0.25"
kernel "$work/class/ann/07_reduction/kernel.cu" 4 "verdict wrong"
touch -d 2026-11-01T12:00:00Z "$work"/class/*/*/kernel.cu
check "and submissions can be graded with it" status_is 0 grade --course docs/course.ini --devices sim:h200
check "its documentation explains all its keys" test -z "$(for key in $(sed -n 's/^#\{0,1\} \{0,1\}\([a-z_]*\) = .*/\1/p' docs/course.ini); do
    grep -q "\`$key\`" docs/course-file.md || echo "$key"; done)"
rm -rf "$work/o"

# ---- Mistakes ----

course "[all]" "weight = heavy" "[6]" "bar = 7" "lateness = none"
check "a course file with mistakes" status_is 2 grade --course "$work/course.ini"
for mistake in "course.ini:2: weight = heavy: expected" "course.ini:4: bar = 7: expected" "course.ini:5: unknown key lateness"; do
    check "each mistake is reported" says "$mistake" grade --course "$work/course.ini"
done
check "and nothing was stored" test ! -e "$work/o"
check "a lab that does not exist is named" says "there is no lab '98'" "$gradebook" report --labs 6,98 --out "$work/o"
check "a course file that does not exist" says "cannot read .*/none.ini: No such file" grade --course "$work/none.ini"

# ---- A new course file changes marks without new gradings ----

check "grading without a course file" status_is 0 grade --devices sim
check "a pass" marks_are "ann 06_transpose 100"
check "a slow kernel" marks_are "bob 06_transpose 75"
check "a close result passes" marks_are "cid 06_transpose 100"
check "a lab without a submission" marks_are "bob 07_reduction 0"
check "four gradings" test "$(attempts "$work/o")" = 4
course "[all]" "base = 10" "close = human"
check "a report under another course file" marks_are "bob 06_transpose 55" --course "$work/course.ini"
check "a close result waits for a human" marks_are "cid 06_transpose -" --course "$work/course.ini"
check "the report changed no stored marks" marks_are "bob 06_transpose 75"
check "grading with that course file" status_is 0 grade --devices sim --course "$work/course.ini"
check "grades no kernel again" test "$(attempts "$work/o")" = 4
check "but its marks count now" marks_are "bob 06_transpose 55"
check "a later run without --course" status_is 0 grade --devices sim
check "still uses the stored course file" marks_are "bob 06_transpose 55"

alone() { "$gradebook" grade --out "$1" --devices sim --trust-submissions --course "$work/course.ini"; }
course "[all]" "base = 20"
imports=$(sql "$work/o" "SELECT count(*) FROM imports")
check "a course file without submissions" status_is 0 alone "$work/o"
check "is stored" marks_are "bob 06_transpose 60"
check "and imports nothing" test "$(sql "$work/o" "SELECT count(*) FROM imports")" = "$imports"
check "it needs a gradebook" status_is 3 alone "$work/none"
check "and creates none" test ! -e "$work/none"
check "no course file and no submissions" status_is 2 "$gradebook" grade --out "$work/o"

course "[6]" "bar of flat = 0.6" "weight = 2"
check "a report under another bar" marks_are "bob 06_transpose 85.7" --course "$work/course.ini"
check "grading with another bar" status_is 0 grade --devices sim --course "$work/course.ini"
check "judges the stored speeds" test "$(attempts "$work/o")" = 4
check "with marks by that bar" marks_are "bob 06_transpose 85.7"
course "[6]" "bar of flat = 0.5"
check "a bar that a stored speed reaches" status_is 0 grade --devices sim --course "$work/course.ini"
check "is a pass" marks_are "bob 06_transpose 100"
course "[all]" "weight = 2"
check "grading with the workbook's own bar again" status_is 0 grade --devices sim --course "$work/course.ini"
check "grades no kernel" test "$(attempts "$work/o")" = 4
check "with the same marks as before" marks_are "bob 06_transpose 75"

# ---- What people decide ----

out=(--out "$work/o")
cat > "$work/course.ini" << 'COURSE'
[all]
close = human
COURSE
check "waiting, by another course file" says "cid, 06_transpose: close.* gradebook decide cid 06_transpose" \
    "$gradebook" waiting "${out[@]}" --course "$work/course.ini"
check "a decision without a reason" status_is 2 "$gradebook" decide cid 6 pass "${out[@]}"
check "marks that are none" status_is 2 "$gradebook" decide cid 6 101 --note x "${out[@]}"
check "an unknown student" status_is 2 "$gradebook" decide zoe 6 pass --note x "${out[@]}"
check "a lab without marks" status_is 2 "$gradebook" decide cid 0 pass --note x "${out[@]}"
check "an extension by an unknown span" status_is 2 "$gradebook" extend cid all 2x --note x "${out[@]}"
check "the usage of extend names its values, and how to undo" \
    says "extend STUDENT LAB.all 2d.UNTIL --note .*extend STUDENT LAB.all --undo --note" "$gradebook" extend cid all 1d --undo --note x "${out[@]}"
check "no decision is stored" test "$(sql "$work/o" "SELECT count(*) FROM decisions")" = 0
check "a decision" says "bob, 06_transpose: 75.0 marks -> 62.5 marks" "$gradebook" decide bob 6 62.5 --note "see mail" --author kim "${out[@]}"
check "counts" marks_are "bob 06_transpose 62.5"
check "an excuse" says "bob, 07_reduction: 0.0 marks -> no marks .excused" "$gradebook" excuse bob 7 --note ill "${out[@]}"
check "an extension" status_is 0 "$gradebook" extend bob all 2d --note ill "${out[@]}"
check "history" says "decided +06_transpose +marks: 62.5 .on kernel .*, by kim: see mail" "$gradebook" history bob 6 "${out[@]}"
check "undo" says "62.5 marks -> 75.0 marks" "$gradebook" decide bob 6 --undo --note "a mistake" "${out[@]}"
check "nothing is left to undo" status_is 2 "$gradebook" decide bob 6 --undo --note "a mistake" "${out[@]}"
check "undo of the others" status_is 0 "$gradebook" excuse bob 7 --undo --note "a mistake" "${out[@]}"
check "no row was removed" test "$(sql "$work/o" "SELECT count(*) FROM decisions")" = 5

# ---- The secret seed ----

secret=5eed$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n') # unique to this run, since all processes are searched for it
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
check "no file contains it either" test -z "$(grep -rl "$secret" "$work" --include='*' 2> /dev/null | grep -v -e gradebook.sqlite -e course.ini -e logs/)"
check "the gradings used the seed" test "$(sql "$work/o" "SELECT count(*) FROM verdicts WHERE note LIKE '%seed = $secret%'")" = 4
check "only its owner can read the gradebook" test "$(stat -c %a "$work/o/gradebook.sqlite")" = 600

# ---- A course file alone ----

course "[course]" "name = GPU" "device = sim:h200" "[all]" "deadline = 2026-01-01 00:00 Z" "seed = abc" "late_factor = 0.9" "[6]" "bar = 1.7"
checks() { TZ=Europe/Berlin "$gradebook" check-course "$work/course.ini" "$@"; }
check "a course file alone" status_is 0 checks
check "is explained" says "device: sim:h200 .*06_transpose +1.7 +1 +2026-01-01 01:00 CET .*late: 0.9 of the marks are left per 1d \(all labs\)" checks
course "[course]" "late_days = 3" "times = files" "[all]" "deadline = 2026-01-01 00:00 Z" "late_grace = 15m"
check "with grace, late days and times of files" says "on time up to 15m late \(all labs\) late days: 3 .*else the file's" checks
course "[course]" "name = GPU" "device = sim:h200" "[all]" "deadline = 2026-01-01 00:00 Z" "seed = abc" "late_factor = 0.9" "[6]" "bar = 1.7"
check "with what is unusual" says "reach the bar 1.7 \(06_transpose\) .*01:00 CET is in the past .*line 6: a seed shorter than" checks
rows=$(sql "$work/o" "SELECT count(*) FROM terms") kept=$(cat "$work/o/course.ini")
check "and what it would change" says "06_transpose: 4 kernels are graded again 07_reduction: 1 kernel is graded again" checks --out "$work/o"
check "but nothing changes" test "$(sql "$work/o" "SELECT count(*) FROM terms") $(cat "$work/o/course.ini")" = "$rows $kept"
check "a gradebook that is not there is not created" status_is 3 checks --out "$work/none"
cp "$work/o/course.ini" "$work/course.ini"
check "the stored course file changes nothing" says "no kernel is graded again" checks --out "$work/o"
course "[course]" "device = simm:h200" "[all]" "weight = heavy"
check "mistakes are listed, each with its line" says "course.ini:2: device = simm:h200: .*course.ini:4: weight = heavy" checks
check "by their status, too" status_is 2 checks
check "grade refuses the same" status_is 2 grade --course "$work/course.ini"

# ---- The device that counts ----

course "[course]" "device = sim:h200"
check "the course's device is the default" says "Grading on Scripted \(sim:h200\)" grade --course "$work/course.ini"
kernel "$work/class/eve/06_transpose/kernel.cu" 6
check "another simulated GPU is refused" says "sim:t4 is taken out of service: .*in this course only results on sim:h200 count" grade --devices sim:t4
course "[course]" "device = H200"
check "another real GPU is refused, too" says "Device 0 is taken out of service: it is Scripted, but in this course only results on H200" \
    grade --devices 0 --course "$work/course.ini"
course "[course]" "device = scripted"
check "a real GPU is accepted by its name" status_is 0 grade --devices 0 --course "$work/course.ini"

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
check "submission times from the learning system" status_is 0 late --course "$work/course.ini"
check "a submission on time" marks_are "Ann 06_transpose 100"
check "14 hours late" marks_are "Bo 06_transpose 72"
check "a submission after the cutoff" marks_are "Cy 06_transpose 0"
mv "$work/folders" "$work/class"
check "grading with file times only" status_is 0 grade --devices sim --replace
check "file times do not count by default" marks_are "ann 06_transpose 100"
course "[course]" "times = files" "[all]" "deadline = 2026-10-31 12:00 Z" "late_factor = 0.5"
check "file times count if the course says so" marks_are "ann 06_transpose 50" --course "$work/course.ini"

# ---- The roster ----

roster() { printf '%s\n' "$@" > "$work/roster.csv"; }
import() { "$gradebook" import-roster "$work/roster.csv" --out "$work/o"; }
roster "id,name" "1,ann" "1,bob" "2"
check "a roster with mistakes" status_is 2 import
check "its errors are reported with line numbers" says "roster.csv:3: the id 1 is already on line 2" import
roster "id,name,section" "1,Ann,A" "2,Zoe Zed,B" "cid,Cyrus,B" "4,=SUM(1),B"
check "a roster" says "4 people" import
check "students without a submission are reported" says "Zoe Zed, B: all labs are missing" "$gradebook" report --out "$work/o"
check "such a student has a row in the export" marks_are "Zoe Zed 06_transpose 0"
check "students who are not on the roster are reported" says "bob: no id, e-mail address, alias or name on the roster" "$gradebook" report --out "$work/o"
check "a folder named by an id is matched" test -z "$("$gradebook" report --out "$work/o" | grep 'cid: no id')"
check "no formula is exported" test -z "$("$gradebook" export --format csv --out "$work/o" | grep -E '(^|,)"?=')"
check "import-roster without a file" status_is 2 "$gradebook" import-roster --out "$work/o"
check "import-roster with a missing file" status_is 2 "$gradebook" import-roster "$work/none.csv" --out "$work/o"

# ---- An older gradebook ----

mkdir "$work/old"
sqlite3 "$work/old/gradebook.sqlite" < tests/gradebook/gradebook_v1.sql
check "a gradebook of version 1 is upgraded" says "ann" "$gradebook" report --out "$work/old"
check "and keeps its contents" test "$(sql "$work/old" "SELECT group_concat(verdict) FROM verdicts")" = pass,slow

# ---- The real warpbook ----

unset GRADEBOOK_WARPBOOK
rm -rf "$work/class" "$work/o"
kernel "$work/class/ann/06_transpose/kernel.cu" r1
kernel "$work/class/bob/06_transpose/kernel.cu" r2
real() { "$gradebook" grade "$work/class" --out "$work/o" --labs 6 --devices 0 --quick --trust-submissions "$@"; }
course "[6]" "seed = $secret" "bar of square = 1.9"
check "the real warpbook accepts the course file" status_is 0 real --course "$work/course.ini"
check "it grades with the course's bar" test "$(sql "$work/o" "SELECT group_concat(DISTINCT value) FROM figures WHERE name = 'case.2.bar'")" = 1.9000
check "and with the course's seed" test "$(sql "$work/o" "SELECT group_concat(DISTINCT seed) FROM verdicts")" = "$secret"
check "so both kernels are slow" test "$(sql "$work/o" "SELECT group_concat(verdict) FROM verdicts")" = slow,slow

finish
