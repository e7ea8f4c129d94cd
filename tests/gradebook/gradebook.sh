#!/bin/bash
# gradebook.sh BUILD - gradebook from end to end: submissions in every layout, hostile archives, machines that fail,
# kill -9 at random moments. Uses mostly a scripted warpbook, then the real warpbook with a scripted compiler and
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
export WARPBOOK_PATIENCE=0.3

# kernel FILE NUMBER [DIRECTIVE]: a distinct kernel, with directives for the scripted warpbook.
kernel() {
    mkdir -p "$(dirname "$1")"
    { cat solutions/06_transpose/5_padded.cu; echo "#define MARK_$2"; } > "$1"
    [ -z "${3:-}" ] || echo "// grader: $3" >> "$1"
}

grade() { "$gradebook" grade "$@" --devices sim --jobs 4 --labs 6,7; }
fast() { grade "$@" --trust-submissions; }
# Prints student, lab and state. They must not depend on interruptions.
states() {
    "$gradebook" export --format json --out "$1" | jq -r '.students[] | .name + "," + (.number // "") as $who
        | .labs[] | [$who, .lab, .state, .marks // "-"] | map(tostring) | join(",")'
}
state_is() { # DIR "STUDENT,NUMBER,LAB,STATE": true if the gradebook has this row
    grep -q "^$2" <(states "$1") && return
    echo "no row $2"
    states "$1"
    return 1
}
# remarks_are DIR STUDENT KIND...: the kinds of remarks on a student's submission. tests/gradebook.golden has the texts.
remarks_are() {
    local dir=$1 student=$2 kinds
    shift 2
    kinds=$("$gradebook" export --format json --out "$dir" | jq -r --arg who "$student" '.students[] | select(.name == $who) | .remarks[].kind' | tr '\n' ' ')
    [ "${kinds% }" = "$*" ] || { echo "$student: $kinds" && return 1; }
}
sql() { sqlite3 -readonly "$1/gradebook.sqlite" "$2"; }

echo "gradebook from end to end: about two minutes."

# ---- Wrong usage ----

check "no command" status_is 2 "$gradebook"
check "help" status_is 0 "$gradebook" --help
helps() { # the help, and that of each command
    "$gradebook" --help
    for command in $("$gradebook" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do "$gradebook" "$command" --help || return 1; done
}
check "the help of each command lists its options" says "usage: gradebook grade SUBMISSIONS.*--shared DIR.*usage: gradebook doctor.*--memory MIB" helps
check "each line of help fits 80 columns" not grep -E ".{81}" <(helps)
check "each option and command has its help" not grep . <(helps | awk 'bare != "" && !/^        / { print bare } { bare = /^  [a-z-]+( [^ ]+)*$/ ? $0 : "" }')
check "an unknown command" says "unknown command" "$gradebook" frobnicate
check "an unknown option" says "unknown option" "$gradebook" grade x --out y --frob
check "no folder for the gradebook" says "missing --out DIR" "$gradebook" grade x
check "an unknown lab" says "there is no lab '99'" "$gradebook" grade x --out y --labs 99
check "an unknown format" status_is 2 "$gradebook" export --out y --format pdf
check "and the known formats are listed" says "csv, marks, json" "$gradebook" export --out y --format pdf
check "the same device twice" status_is 2 "$gradebook" grade x --out y --devices 0,0
check "a gradebook that does not exist" status_is 3 "$gradebook" status --out "$work/none"
check "submissions that do not exist" status_is 3 grade "$work/none" --out "$work/o0"
mkdir "$work/nobody"
check "an empty folder" status_is 3 fast "$work/nobody" --out "$work/o0"
kernel "$work/single/labs/06_transpose/kernel.cu" 0
check "one student's folder is not a class" status_is 3 fast "$work/single" --out "$work/o0"
check "the gradebook in a folder that submissions see" says "choose another" grade "$work/single" --out labs/x
rm -rf labs/x
check "the gradebook inside the submissions" says "is inside the submissions" fast "$work/single" --out "$work/single/results"
check "is refused before its folder exists" test ! -e "$work/single/results"

# ---- Two assignments in succession ----

# Earlier, a second import removed all marks of the first import, with exit status 0.
kernel "$work/first/ann/06_transpose/kernel.cu" 1
kernel "$work/first/ben/06_transpose/kernel.cu" 2
kernel "$work/second/ann/07_reduction/kernel.cu" 3
fast "$work/first" --out "$work/both" > /dev/null 2>&1
states "$work/both" > "$work/of_first"
check "another assignment" status_is 0 fast "$work/second" --out "$work/both"
for row in $(grep ",06_transpose,pass" "$work/of_first") ann,,07_reduction,pass ben,,07_reduction,missing; do
    check "$row after both" state_is "$work/both" "$row"
done
check "two students had passed the first assignment" test "$(grep -c ",06_transpose,pass" "$work/of_first")" = 2
rm -r "$work/first/ben"
check "importing the first again, with one student less, is refused" says "lab 06: 1 of 2 students would become missing .ben." fast "$work/first" --out "$work/both"
check "and changes nothing" test "$(sql "$work/both" "SELECT count(*) FROM imports")" = 2
check "unless it is meant" status_is 0 fast "$work/first" --out "$work/both" --replace
check "a removed student no longer counts" not grep -q "^ben" <(states "$work/both")
check "the second assignment keeps its marks" state_is "$work/both" ann,,07_reduction,pass

# ---- Doctor ----

# Only the rows about scripted GPUs and the exit status are tested; the other rows depend on this machine.
doctor() { # HOW OPTION...
    FAKE_SMI=$1 GRADEBOOK_NVIDIA_SMI=$PWD/tests/fake_nvidia_smi "$gradebook" doctor "${@:2}"
}
rows_of() { doctor "$@" | grep -E "^(ok|warn|fail) +GPU"; }
check "fit GPUs" test -z "$(rows_of fit --devices 0,1 | grep -v "^ok")"
check "each GPU has rows" test "$(rows_of fit --devices 0,1 | grep -c "Scripted GPU")" = 2
check "without --devices only the first GPU is checked" test "$(rows_of fit | grep -c "Scripted GPU")" = 1
check "a process on one of them" says "fail +GPU 1: idle +no: 1 process, first 4711 python3" rows_of busy --devices 0,1
check "but no process on the other GPU" says "ok +GPU 0: idle" rows_of busy --devices 0,1
check "a compute mode that prevents grading" status_is 3 doctor exclusive --devices 0
check "and the remedy" says "nvidia-smi -i 0 -c DEFAULT" doctor exclusive --devices 0
check "a GPU that does not exist" says "fail +GPU +there is no GPU 5" doctor fit --devices 5
check "no GPU" says "warn +GPU +not found" doctor none
check "no GPU, but one is requested" says "fail +GPU +not found" doctor none --devices 0
check "no driver" says "NVIDIA-SMI has failed" doctor broken
check "no nvidia-smi" says "GPU +not found; nvidia-smi: not installed" env GRADEBOOK_NVIDIA_SMI=/nonexistent "$gradebook" doctor
check "an nvidia-smi whose output never ends" says "GPU +not found|ok +GPU 0|fail +GPU" doctor flood
check "a driver older than the toolkit" says "fail +driver and toolkit +CUDA 12.8, 13.0" doctor old
check "a simulated GPU" test -z "$(rows_of busy --devices sim)"
check "no bubblewrap" says "fail +bubblewrap" env GRADEBOOK_BWRAP=/nonexistent "$gradebook" doctor --devices sim
check "without bubblewrap this machine cannot grade" status_is 3 env GRADEBOOK_BWRAP=/nonexistent "$gradebook" doctor --devices sim
check "no nvcc" says "fail +CUDA Toolkit" env WARPBOOK_NVCC=/nonexistent "$gradebook" doctor --devices sim
check "doctor without --out creates no folder" test ! -e "$work/doctor-out"
check "--out is accepted" says "disk for results" "$gradebook" doctor --devices sim --out "$work/doctor-out"
check "and its folder is not created" test ! -e "$work/doctor-out"
check "root is warned about" says "$([ "$(id -u)" = 0 ] && echo warn || echo ok) +user" "$gradebook" doctor --devices sim
check "80 columns" test -z "$(doctor busy --devices 0,1 | grep -E '^.{81}')"

# ---- Folders: verdicts, nesting, duplicates, changed files ----

c=$work/class
kernel "$c/ada/labs/06_transpose/kernel.cu" 1
kernel "$c/bob/06_transpose/kernel.cu" 2 "verdict wrong"
kernel "$c/carol/my project/warpbook-main/labs/06_transpose/kernel.cu" 3 "verdict slow"
cp "$c/ada/labs/06_transpose/kernel.cu" "$work/copy.cu"
mkdir -p "$c/dan/06_transpose" "$c/eve/.git" "$c/fay/labs/06_transpose"
cp "$work/copy.cu" "$c/dan/06_transpose/kernel.cu"
kernel "$c/eve/labs/07_reduction/kernel.cu" 4
echo "ref: refs/heads/main" > "$c/eve/.git/HEAD"
echo "int lab;" > "$c/ada/labs/06_transpose/lab.c"
cp labs/06_transpose/kernel.h "$c/ada/labs/06_transpose/kernel.h"
echo "sectors: 32" > "$c/ada/labs/06_transpose/predictions.txt"
ln -s /etc/passwd "$c/fay/labs/06_transpose/kernel.cu"
kernel "$c/gil/a/06_transpose/kernel.cu" 5
kernel "$c/gil/b/06_transpose/kernel.cu" 6
head -c 300000 /dev/zero | tr '\0' x > "$work/large"
mkdir -p "$c/hal/06_transpose" && cp "$work/large" "$c/hal/06_transpose/kernel.cu"
kernel "$c/=cmd()/06_transpose/kernel.cu" 7
check "a folder of students" status_is 0 fast "$c" --out "$work/o1"
for row in ada,,06_transpose,pass,100 ada,,07_reduction,missing bob,,06_transpose,wrong,0 \
    carol,,06_transpose,slow dan,,06_transpose,pass eve,,07_reduction,pass fay,,06_transpose,unreadable \
    gil,,06_transpose,unreadable hal,,06_transpose,unreadable; do
    check "$row" state_is "$work/o1" "$row"
done
check "identical kernels are graded once" test "$(grep -c 06_transpose "$work/o1/fake.log")" = 4
check "a changed file is listed, an unchanged one is not" remarks_are "$work/o1" ada changed
check "a link is refused" remarks_are "$work/o1" fay refused
check "two different kernels for a lab" remarks_are "$work/o1" gil ambiguous
check "a kernel that is too large" remarks_are "$work/o1" hal refused
check "a formula as a student's name" says "^\"'=cmd\(\)\"," "$gradebook" export --format csv --out "$work/o1"
check "predictions are taken" says ",ada,yes,[0-9]+,1,1,Scripted" "$gradebook" export --format csv --out "$work/o1"
check "JSON is JSON" jq -e '.students | length == 9' <("$gradebook" export --format json --out "$work/o1")
check "status" says "06_transpose +5 +5 +0" "$gradebook" status --out "$work/o1"
check "no kernel is graded twice" status_is 0 fast "$c" --out "$work/o1"
check "really nothing" test "$(wc -l < "$work/o1/fake.log")" = 5
check "and no submission is stored twice" test "$(sql "$work/o1" "SELECT count(*) FROM submissions")" = 9

kernel "$c/bob/06_transpose/kernel.cu" 8
check "new submissions are graded" status_is 0 fast "$c" --out "$work/o1"
check "and counts" state_is "$work/o1" "bob,,06_transpose,pass"
rm -r "$c/carol"
check "grading after a student's folder was removed" status_is 0 fast "$c" --out "$work/o1" --replace
check "the export no longer contains this student" test -z "$(states "$work/o1" | grep carol)"

check "regrade in a folder without a gradebook" status_is 3 "$gradebook" regrade --student ada --lab 6 --out "$work/nowhere"
check "creates no folder there" test ! -e "$work/nowhere"
check "regrade for an unknown student" status_is 3 "$gradebook" regrade --student zoe --lab 6 --out "$work/o1" --trust-submissions
check "regrade of a lab that was not submitted" status_is 3 "$gradebook" regrade --student eve --lab 6 --out "$work/o1" --trust-submissions
check "regrade" says "Grading 1 kernel again, for 2 students" "$gradebook" regrade --student ada --lab 6 --out "$work/o1" \
    --trust-submissions --devices sim
check "regrade adds one grading" test "$(sql "$work/o1" "SELECT max(number) FROM attempts WHERE outcome = 'graded'")" = 2
check "and all earlier rows are still there" test "$(sql "$work/o1" "SELECT count(*) FROM verdicts")" = 7

odd=$work/odd
kernel "$odd"/$'new\nline'/06_transpose/kernel.cu o1
kernel "$odd"/$'caf\xe9'/06_transpose/kernel.cu o2
kernel "$odd"/$'\e[31mred'/06_transpose/kernel.cu o3
mkdir -p "$odd/fifo/06_transpose" "$odd/deep/$(printf 'd/%.0s' {1..30})"
mkfifo "$odd/fifo/06_transpose/kernel.cu"
ln -s "$c/ada" "$odd/thief"
check "odd names and files" status_is 0 fast "$odd" --out "$work/odd-out"
for row in 'new␊line,,06_transpose,pass' 'café,,06_transpose,pass' '␛.31mred,,06_transpose,pass' 'fifo,,06_transpose,unreadable'; do
    check "$row" state_is "$work/odd-out" "$(sed 's/?/[?]/g' <<< "$row")"
done
check "a student's folder that is a link" says "^  thief: it is a symbolic link" "$gradebook" report --out "$work/odd-out"
check "folders nested too deeply" remarks_are "$work/odd-out" deep refused

kernel "$work/one/ida/kernel.cu" 9
check "a bare kernel.cu, with one lab requested" "$gradebook" grade "$work/one" --out "$work/o2" --devices sim --labs 7 --trust-submissions
check "is taken for that lab" state_is "$work/o2" "ida,,07_reduction,pass"

# ---- Archives ----

archive() { "$build/make_archive" "$1" "$2"; } # zip|tar|tar.gz FILE < recipe
a=$work/archives
mkdir "$a" "$work/k"
for i in 1 2 3 4 5 6 7 8 9; do kernel "$work/k/$i.cu" "a$i"; done
archive zip "$a/ann.zip" <<< "file labs/06_transpose/kernel.cu $work/k/1.cu"
archive tar.gz "$a/ben.tar.gz" <<< "file ben-main/labs/06_transpose/kernel.cu $work/k/2.cu
file ben-main/labs/07_reduction/kernel.cu $work/k/3.cu"
mkdir "$a/cid"
archive zip "$a/cid/first.zip" <<< "file 06_transpose/kernel.cu $work/k/4.cu"
kernel "$work/k/again.cu" again "verdict slow"
archive zip "$a/cid/second.zip" <<< "file 06_transpose/kernel.cu $work/k/again.cu"
touch -d 2026-01-01 "$a/cid/first.zip"
touch -d 2026-01-02 "$a/cid/second.zip"
check "one or more archives per student" status_is 0 fast "$a" --out "$work/o3"
check "a zip" state_is "$work/o3" "ann,,06_transpose,pass"
check "a tar" state_is "$work/o3" "ben,,07_reduction,pass"
check "the later one counts" state_is "$work/o3" "cid,,06_transpose,slow"
check "and the earlier archive is listed" says "cid, cid/first.zip: an earlier submission" "$gradebook" report --out "$work/o3"
touch -d 2026-01-03 "$a/cid/first.zip"
check "grading again after the archive's times changed" status_is 0 fast "$a" --out "$work/o3"
check "now the other archive counts" state_is "$work/o3" "cid,,06_transpose,pass"

# Exports of learning systems, as zip files.
archive zip "$work/inner.zip" <<< "file transpose/06_transpose/kernel.cu $work/k/1.cu"
archive zip "$work/moodle.zip" <<< "file Jane_Doe_4711_assignsubmission_file_/06_transpose.cu $work/k/1.cu
file José_Núñez_4712_assignsubmission_file/work.zip $work/inner.zip
file Ann_Lee_4713_assignsubmission_file_lab.zip $work/inner.zip
text Ann_Lee_4713_assignsubmission_onlinetext_/onlinetext.html hello"
check "Moodle" status_is 0 fast "$work/moodle.zip" --out "$work/o4"
check "a folder" state_is "$work/o4" "Jane_Doe,4711,06_transpose,pass"
check "an archive in a student's folder" state_is "$work/o4" "José_Núñez,4712,06_transpose,pass"
check "a single file" state_is "$work/o4" "Ann_Lee,4713,06_transpose,pass"
archive zip "$work/canvas.zip" <<< "file doejane_4711_900_transpose-1.cu $work/k/1.cu
file doejane_4711_901_reduction.cu $work/k/3.cu
file leeann_LATE_4712_902_lab6.zip $work/inner.zip
file leeann_LATE_4712_999_evil_1_2_x.txt $work/k/2.cu"
check "Canvas" status_is 0 fast "$work/canvas.zip" --out "$work/o5"
check "single files of one student" state_is "$work/o5" "doejane,4711,07_reduction,pass"
check "and a resubmitted file" state_is "$work/o5" "doejane,4711,06_transpose,pass"
check "a late submission is exported as late" says ",yes,,leeann_LATE_4712_902_lab6.zip," "$gradebook" export --format csv --out "$work/o5"
cat > "$work/metadata" << YAML
submission_101:
  :submitters:
  - :name: Jane Doe
    :sid: '4711'
    :email: jane@example.org
  - :name: Ann Lee
    :sid: '4712'
  :created_at: 2026-10-01 12:30:00.000000000 Z
  :score: 3.0
  :results:
    tests:
      - :name: Not A Student
submission_102:
  :submitters:
  - :name: Bo Ek
    :sid: '4713'
  :created_at: 2026-10-02T12:30:00-07:00
YAML
archive zip "$work/gradescope.zip" <<< "file assignment_9_export/submission_metadata.yml $work/metadata
file assignment_9_export/submission_101/labs/06_transpose/kernel.cu $work/k/1.cu
file assignment_9_export/submission_102/transpose.cu $work/k/2.cu"
check "Gradescope" status_is 0 fast "$work/gradescope.zip" --out "$work/o6"
for row in "Jane Doe,4711,06_transpose,pass" "Ann Lee,4712,06_transpose,pass" "Bo Ek,4713,06_transpose,pass"; do
    check "$row" state_is "$work/o6" "$row"
done
check "and no further student appears" test "$(states "$work/o6" | wc -l)" = 6
check "its submission time is exported" says "2026-10-02T19:30:00Z" "$gradebook" export --format csv --out "$work/o6"
archive tar "$work/wrapped.tar" <<< "file class/ann/06_transpose/kernel.cu $work/k/1.cu
file class/ben/06_transpose/kernel.cu $work/k/2.cu"
check "a class wrapped in one more folder" status_is 0 fast "$work/wrapped.tar" --out "$work/o7"
check "its submissions are found" state_is "$work/o7" "ben,,06_transpose,pass"

# ---- Hostile archives: each is refused with a message, and other students are not affected ----

h=$work/hostile
mkdir "$h"
good="file 06_transpose/kernel.cu $work/k/1.cu"
archive zip "$h/honest.zip" <<< "$good"
hostile() { # NAME PATTERN RECIPE: the report must match PATTERN
    archive "${4:-zip}" "$h/$1.${4:-zip}" <<< "$3"
    patterns+=("$1, $1[.a-z]*, $2")
}
patterns=()
hostile escape "../../evil.cu: its path leads out" "text ../../evil.cu x
$good"
hostile root "/etc/cron.d/evil: its path begins at the root" "text /etc/cron.d/evil x"
hostile windows "..*evil.cu: its path leads out" 'text ..\..\evil.cu x'
hostile drive "C:.evil.cu: its path begins with a drive" 'text C:\evil.cu x'
hostile link "06_transpose/kernel.cu: it is a symbolic link" "link 06_transpose/kernel.cu /etc/passwd" tar
hostile hard "06_transpose/kernel.cu: it is a hard link" "hardlink 06_transpose/kernel.cu /etc/passwd" tar
hostile device "dev: it is a device" "device dev" tar
hostile pipe "pipe: it is a pipe" "fifo pipe" tar
hostile bomb ".*(unpacks to more than|damaged)" "$good
zeros zeros.bin 1073741824"
hostile bombtar ".*unpacks to more than" "zeros zeros.bin 134217728" tar.gz
hostile crowd ".*holds more than 5000 files" "many f 6000"
hostile deep ".*it is nested in more than 24 folders" "text $(printf 'a/%.0s' {1..40})x y"
hostile nested "more.zip: an archive inside an archive" "file more.zip $work/inner.zip"
head -c 200 "$h/honest.zip" > "$h/torn.zip"
patterns+=("torn, torn.zip.*: the archive is damaged")
head -c 5000 /dev/urandom > "$h/noise.zip"
patterns+=("noise, noise.zip.*: the archive is damaged")
: > "$h/empty.zip"
check "hostile archives" status_is 0 fast "$h" --out "$work/o8"
"$gradebook" report --verbose --out "$work/o8" > "$work/report"
for pattern in "${patterns[@]}"; do
    check "refused: $pattern" grep -qE -- "$pattern" "$work/report"
done
check "the honest one is graded" state_is "$work/o8" "honest,,06_transpose,pass"
check "valid entries next to an invalid one are read" state_is "$work/o8" "escape,,06_transpose,pass"
check "no file of a zip bomb counts" state_is "$work/o8" "bomb,,06_transpose,unreadable"
check "nothing was written outside" test ! -e "$work/evil.cu" -a ! -e evil.cu
head -c 3000 "$work/moodle.zip" > "$work/half.zip"
check "a truncated export is refused" status_is 3 fast "$work/half.zip" --out "$work/o9"
check "with a message" says "half.zip" fast "$work/half.zip" --out "$work/o9"

# ---- Machine errors ----

f=$work/faults
kernel "$f/ann/06_transpose/kernel.cu" f1 "first unsound"
kernel "$f/ben/06_transpose/kernel.cu" f2 "first die"
kernel "$f/cid/06_transpose/kernel.cu" f3 "die"
kernel "$f/dot/06_transpose/kernel.cu" f4 "garble"
kernel "$f/eli/06_transpose/kernel.cu" f5 "hang"
kernel "$f/fay/06_transpose/kernel.cu" f6 "flood"
kernel "$f/gus/06_transpose/kernel.cu" f7 "silent"
kernel "$f/hal/06_transpose/kernel.cu" f8
check "machines fail" status_is 3 fast "$f" --out "$work/o10" --limit 2
for row in ann,,06_transpose,pass ben,,06_transpose,pass cid,,06_transpose,not dot,,06_transpose,not \
    eli,,06_transpose,not fay,,06_transpose,not gus,,06_transpose,not hal,,06_transpose,pass; do
    check "$row" state_is "$work/o10" "$row"
done
check "three attempts each" test "$(sql "$work/o10" "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM attempts GROUP BY kernel ORDER BY kernel)")" = 2,2,3,3,3,3,3,1
check "the reason for a machine error is reported" says "cid, 06_transpose: died: was killed by signal 9 .*out of host memory" "$gradebook" report --out "$work/o10"
check "and so is an exceeded time limit" says "eli, 06_transpose: late: did not end within 2 s" "$gradebook" report --out "$work/o10"
check "kernels that were given up are not tried again" status_is 3 fast "$f" --out "$work/o10" --limit 2
check "a regrade tries again" status_is 3 "$gradebook" regrade --student cid --lab 6 --out "$work/o10" --trust-submissions --devices sim
check "three times" test "$(sql "$work/o10" "SELECT max(number) FROM attempts")" = 6
check "a broken device grades no kernel" says "Device 9 is taken out of service: it cannot grade the workbook's starter" \
    "$gradebook" grade "$f" --out "$work/o11" --devices 9 --labs 6 --trust-submissions
check "and no student gets a verdict" test "$(sql "$work/o11" "SELECT count(*) FROM attempts")" = 0
kernel "$work/two/ann/06_transpose/kernel.cu" t1 "on-0 unsound"
kernel "$work/two/ben/06_transpose/kernel.cu" t2
check "another device tries again" status_is 0 "$gradebook" grade "$work/two" --out "$work/o12" --devices 0,1,9 --labs 6 --trust-submissions
check "and can" state_is "$work/o12" "ann,,06_transpose,pass"

# ---- Interruptions ----

s=$work/slow
for student in {1..12}; do
    for lab in 06_transpose 07_reduction 03_divergence; do
        kernel "$s/s$student/$lab/kernel.cu" "$student$lab" "verdict $([ $((student % 3)) = 0 ] && echo wrong || echo slow)
// grader: sleep 0.1"
    done
done
slow() { "$gradebook" grade "$s" --out "$1" --devices sim --jobs 4 --labs 3,6,7 --trust-submissions; }
check "undisturbed" status_is 0 slow "$work/calm"
check "36 gradings" test "$(sql "$work/calm" "SELECT count(*) FROM attempts")" = 36
all_gone() { # true if no process grades for this gradebook
    local all
    all=$(cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' ' ')
    [[ $all != *"$1/work/"* ]]
}
has_graded() { [ "$(sql "$1" "SELECT count(*) FROM attempts")" -gt 0 ]; }
kills=0
for _ in {1..40}; do
    "$gradebook" grade "$s" --out "$work/killed" --devices sim --jobs 4 --labs 3,6,7 --trust-submissions 2> /dev/null &
    sleep "0.$(printf %03d $((RANDOM % 600)))"
    kill -9 $! 2> /dev/null && kills=$((kills + 1))
    wait $! 2> /dev/null
    until_true all_gone "$work/killed" || { echo "FAILED: a grading outlives its gradebook"; failed=$((failed + 1)); }
done
check "killed $kills times, then continued" status_is 0 slow "$work/killed"
check "the results are the same" diff <(states "$work/calm") <(states "$work/killed")
check "nothing was graded twice" test "$(sql "$work/killed" "SELECT count(*), count(DISTINCT kernel), max(number) FROM attempts")" = "36|36|1"
check "the database is whole" test "$(sql "$work/killed" "PRAGMA integrity_check")" = ok
"$gradebook" grade "$s" --out "$work/stopped" --devices sim --jobs 2 --labs 3,6,7 --trust-submissions 2> "$work/said-stopped" &
until_true has_graded "$work/stopped"
kill -INT $!
wait $!
check "Ctrl-C" test $? = 130
check "the message says how to continue" grep -q "Run the same command to continue" "$work/said-stopped"
check "and the same command continues" status_is 0 slow "$work/stopped"
check "with the same results" diff <(states "$work/calm") <(states "$work/stopped")
"$gradebook" grade "$s" --out "$work/locked" --devices sim --jobs 1 --labs 3,6,7 --trust-submissions 2> /dev/null &
until_true has_graded "$work/locked"
check "a second gradebook process is refused" says "another gradebook is working" slow "$work/locked"
check "readers may" says "graded" "$gradebook" status --out "$work/locked"
check "and a backup can be made" status_is 0 "$gradebook" backup --to "$work/kept.sqlite" --out "$work/locked"
check "which is whole, one file, and private" test "$(sqlite3 "$work/kept.sqlite" "PRAGMA integrity_check; PRAGMA journal_mode" | paste -sd,) $(stat -c %a "$work/kept.sqlite") $(ls "$work"/kept.sqlite* | wc -l)" = "ok,delete 600 1"
check "and is not overwritten" status_is 3 "$gradebook" backup --to "$work/kept.sqlite" --out "$work/locked"
kill -INT $!
wait $!

# ---- The database ----

cp -r "$work/calm" "$work/newer"
sqlite3 "$work/newer/gradebook.sqlite" "PRAGMA user_version = 99"
check "another version's database" says "schema 99" slow "$work/newer"
cp -r "$work/calm" "$work/torn"
sqlite3 "$work/torn/gradebook.sqlite" "PRAGMA wal_checkpoint(TRUNCATE)" > /dev/null
dd if=/dev/urandom of="$work/torn/gradebook.sqlite" bs=4096 seek=2 count=6 conv=notrunc 2> /dev/null
check "a damaged database" says "is damaged" slow "$work/torn"
cp -r "$work/calm" "$work/lost"
rm -f "$work"/lost/gradebook.sqlite*
check "a missing database next to its logs" says "logs/ in the same folder has results" slow "$work/lost"
check "and no log is overwritten" diff -r "$work/calm/logs" "$work/lost/logs"
check "a new gradebook is made from them" status_is 0 "$gradebook" rebuild --from "$work/lost" --out "$work/found"
check "then the submissions are imported again" status_is 0 slow "$work/found"
check "with the same results" diff <(states "$work/calm") <(states "$work/found")
check "and no grading" test "$(sql "$work/found" "SELECT count(*) FROM attempts")$(ls "$work/found/fake.log" 2> /dev/null)" = 36
check "an existing gradebook is not replaced" status_is 2 "$gradebook" rebuild --from "$work/lost" --out "$work/found"
check "logs without a result make no gradebook" status_is 3 "$gradebook" rebuild --from "$work/foreign" --out "$work/found2"
check "and leave no folder" test -z "$(ls -d "$work"/found2* 2> /dev/null)"
mkdir "$work/foreign"
echo "not a database, whatever its name" > "$work/foreign/gradebook.sqlite"
check "a file that is not a database" status_is 3 "$gradebook" report --out "$work/foreign"

# ---- The real warpbook, in bubblewrap where that works ----

unset GRADEBOOK_WARPBOOK
check "without bubblewrap it refuses" says "bubblewrap is not installed" env GRADEBOOK_BWRAP=/nonexistent "$gradebook" grade "$c" --out "$work/b0"
check "and where bubblewrap does not work" says "does not work here" env GRADEBOOK_BWRAP=/bin/false "$gradebook" grade "$c" --out "$work/b0"
cell=()
if ! bwrap --unshare-all --ro-bind / / true 2> /dev/null; then
    skip "bubblewrap does not work here, so gradings run without it"
    cell=(--trust-submissions)
fi
r=$work/real
real() { # STUDENT NUMBER LINE...: writes the reference with lines for the scripted compiler and runner
    local file=$r/$1/06_transpose/kernel.cu
    kernel "$file" "$2"
    shift 2
    printf '%s\n' "$@" >> "$file"
}
real ann 1
real ben 2 "// fake: wrong one"
real cid 3 "// fake: crash at go"
real dot 4 "int x = ; // nvcc: error expected an expression"
real eli 5 "// nvcc: reads /etc/ld.so.cache"
real fay 6 "// fake: stray after"
real gus 7 "// fake: print-flood at go"
mkdir -p "$r/hal/06_transpose" && cp labs/06_transpose/kernel.cu "$r/hal/06_transpose/"
{ cat "$r/ann/06_transpose/kernel.cu"; printf '\0// 0'; } > "$work/nul.cu"
mkdir -p "$r/ann2/06_transpose" && cp "$work/nul.cu" "$r/ann2/06_transpose/kernel.cu"
check "grading with the real warpbook" status_is 0 "$gradebook" grade "$r" --out "$work/b1" --devices sim --labs 6 "${cell[@]}"
for row in ann,,06_transpose,pass ben,,06_transpose,wrong cid,,06_transpose,crash dot,,06_transpose,build \
    eli,,06_transpose,build fay,,06_transpose,stray gus,,06_transpose,timeout hal,,06_transpose,unchanged \
    ann2,,06_transpose,build; do
    check "$row" state_is "$work/b1" "$row"
done
for _ in 1 2 3 4 5 6; do
    "$gradebook" grade "$r" --out "$work/b2" --devices sim --labs 6 "${cell[@]}" 2> /dev/null &
    sleep "$((RANDOM % 3)).$((RANDOM % 10))"
    kill -9 $! 2> /dev/null
    wait $! 2> /dev/null
done
check "grading is killed, then continued" status_is 0 "$gradebook" grade "$r" --out "$work/b2" --devices sim --labs 6 "${cell[@]}"
check "with the same results" diff <(states "$work/b1") <(states "$work/b2")
check "grading on a scripted GPU" status_is 0 "$gradebook" grade "$work/one" --out "$work/b3" --devices 0 --quick --labs 6 "${cell[@]}"
check "passes" says "^ida,,06_transpose,(pass|close),100.0,[01]" "$gradebook" export --format csv --out "$work/b3"
check "the figures of its cases are stored" test "$(sql "$work/b3" "SELECT count(*) FROM figures WHERE name = 'case.1.ratio'")" = 1

if [ ${#cell[@]} = 0 ]; then # a submission in the judge's process is graded only with --trust-submissions
    mkdir -p "$work/shared/kim/06_transpose"
    { cat solutions/06_transpose/5_padded.cu; echo "// fake: shared"; } > "$work/shared/kim/06_transpose/kernel.cu"
    check "a submission loaded into the runner is not graded" status_is 3 "$gradebook" grade "$work/shared" --out "$work/b4" --devices sim --labs 6
    check "and why" says "use --trust-submissions" "$gradebook" report --out "$work/b4"
    check "unless trusted" status_is 0 "$gradebook" grade "$work/shared" --out "$work/b5" --devices sim --labs 6 --trust-submissions
fi

kernel "$work/one/ida/06_transpose/kernel.cu" 10
mkdir "$work/one/ida/07_reduction"
mv "$work/one/ida/kernel.cu" "$work/one/ida/07_reduction/"
check "grading two labs on a GPU" status_is 0 timeout 120 "$gradebook" grade "$work/one" --out "$work/b3" --devices 0 --quick --labs 6,7 "${cell[@]}"
exec 9> "$work/warpbook-GPU-00000000-0000-0000-0000-000000000000.lock"
flock 9
"$gradebook" regrade --student ida --lab 6 --out "$work/b3" --devices 0 --quick "${cell[@]}" 2> "$work/said-waiting" 9>&- &
check "the wait for a GPU is reported" until_true grep -q "Another grading is using device 0" "$work/said-waiting"
check "grading waits for another grading on that GPU" test "$(sql "$work/b3" "SELECT count(*) FROM regrades, attempts WHERE number > after")" = 0
exec 9>&-
wait $!
check "and then it continues" test $? = 0

finish
