#!/bin/bash
# messages.sh BUILD - the texts of gradebook's commands, compared with tests/gradebook.golden: a class with most faults
# is imported, graded by a scripted warpbook and reported. WARPBOOK_GOLDEN=write stores them. Needs neither nvcc nor a
# GPU.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
gradebook=$build/gradebook
. tests/check.sh
. tests/golden.sh
export WARPBOOK_BUILD=$work/build TMPDIR=$work GRADEBOOK_WARPBOOK=$PWD/tests/gradebook/fake_warpbook
mkdir "$work/build"

# kernel FILE NUMBER [DIRECTIVE]: a distinct kernel, with a directive for the scripted warpbook.
kernel() {
    mkdir -p "$(dirname "$1")"
    { cat solutions/06_transpose/5_padded.cu; echo "#define MARK_$2"; } > "$1"
    [ -z "${3:-}" ] || echo "// grader: $3" >> "$1"
}
# printed NAME COMMAND...: what the command prints, and its status. Paths, dates and times differ from run to run.
printed() {
    local name=$1 status=0
    shift
    "$gradebook" "$@" > "$work/printed" 2>&1 || status=$?
    { sed -E "s#$work/##g; s/[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]{5,8}Z?/DATE/g; s/ graded in [0-9]+ s/ graded in N s/" "$work/printed"; echo "status $status"; } |
        golden tests/gradebook.golden "$name"
}
grade() { # NAME SUBMISSIONS RESULTS
    printed "$1" grade "$work/$2" --out "$work/$3" --devices sim --jobs 1 --labs 6,7 --trust-submissions
}

c=$work/class
kernel "$c/ada/labs/06_transpose/kernel.cu" 1
echo "int lab;" > "$c/ada/labs/06_transpose/lab.c"
kernel "$c/bob/06_transpose/kernel.cu" 2 "verdict wrong"
mkdir -p "$c/dan/06_transpose" "$c/fay/labs/06_transpose" "$c/hal/06_transpose" "$c/kim"
cp "$c/ada/labs/06_transpose/kernel.cu" "$c/dan/06_transpose/kernel.cu"
ln -s /etc/passwd "$c/fay/labs/06_transpose/kernel.cu"
kernel "$c/gil/a/06_transpose/kernel.cu" 5
kernel "$c/gil/b/06_transpose/kernel.cu" 6
head -c 300000 /dev/zero | tr '\0' x > "$c/hal/06_transpose/kernel.cu"
kernel "$c/ian/06_transpose/kernel.cu" 8 "die"
kernel "$c/lea/06_transpose/kernel.cu" 10 "verdict suspect"
kernel "$c/mia/06_transpose/kernel.cu" 11
echo 'const char *const where = "/proc";' >> "$c/mia/06_transpose/kernel.cu"
kernel "$c/ned/deep/$(printf 'a/%.0s' {1..30})/06_transpose/kernel.cu" 12
mkdir -p "$work/nobody"
printf 'id,name,section\n1,ada,A\n2,zoe,B\n' > "$work/roster.csv"
printf 'id,name\n7,A\n7,B\n' > "$work/twice.csv"

check "grade" grade "grade: a class" class results
check "grade again" grade "grade: again" class results
check "a roster" printed "import-roster" import-roster "$work/roster.csv" --out "$work/results"
check "a roster with a mistake" printed "import-roster: a mistake" import-roster "$work/twice.csv" --out "$work/results"
check "report" printed "report: a class" report --out "$work/results"
check "status" printed "status" status --out "$work/results"
check "no submissions" grade "grade: no submissions" nobody o1
check "one student's folder" grade "grade: one student's folder" class/ada o2
check "no such folder" grade "grade: no such folder" none o3
check "an unknown student" printed "regrade: an unknown student" regrade --student zoe --lab 6 --out "$work/results" --trust-submissions
check "nothing submitted" printed "regrade: nothing submitted" regrade --student ada --lab 7 --out "$work/results" --trust-submissions
check "regrade" printed "regrade" regrade --student ada --lab 6 --note "a shared device" --out "$work/results" --devices sim --trust-submissions
check "its reason is stored" test "$(sqlite3 -readonly "$work/results/gradebook.sqlite" "SELECT note FROM requests WHERE id = 1")" = "a shared device"
regrades=$("$gradebook" history ada 6 --out "$work/results" | grep -E "^[0-9-]+ [0-9:]+Z +(regrade|requested) ")
check "history has the request once" test "$(wc -l <<< "$regrades") ${regrades##*: }" = "1 a shared device"
printf 'Student,Lab,Note\nzoe,6,\nada,66,\n,,\nada,7,why\nbob,6,"he says, it is right"\n' > "$work/requests.csv"
check "requests with mistakes" printed "regrade: requests with mistakes" regrade --requests "$work/requests.csv" --out "$work/results" --trust-submissions
check "nothing was stored" test "$(sqlite3 -readonly "$work/results/gradebook.sqlite" "SELECT count(*) FROM requests")" = 1
printf 'student;lab;note\nada;transpose;\nbob;06_transpose;"he says; it is right"\n' > "$work/requests.csv"
check "requests" printed "regrade: requests" regrade --requests "$work/requests.csv" --out "$work/results" --devices sim --trust-submissions
check "the reason is stored" test "$(sqlite3 -readonly "$work/results/gradebook.sqlite" "SELECT note FROM requests WHERE id = 3")" = "he says; it is right"
check "a whole lab" printed "regrade: a whole lab" regrade --lab 6 --all --out "$work/results" --devices sim --trust-submissions
check "too much" printed "regrade: wrong usage" regrade --student ada --requests x --out "$work/results"
check "no gradebook" printed "report: no gradebook" report --out "$work/none"
check "a device that cannot grade" printed "grade: a broken device" grade "$c" --out "$work/o4" --devices 9 --labs 6 --trust-submissions
check "inside the submissions" grade "grade: inside the submissions" class class/results

kernel "$c/ada/labs/06_transpose/kernel.cu" 31
"$gradebook" grade "$c" --out "$work/results" --devices sim --labs 6,7 --trust-submissions > /dev/null 2>&1
imports() { "$gradebook" history "$1" 6 --out "$work/results" | grep " imported " | sed 's/.*; //'; }
check "history marks the import that a later one replaced" test "$(imports ada | grep -c "^replaced by a later import$") $(imports ada | wc -l)" = "1 2"
check "and no other" test "$(imports bob | grep -c "replaced")" = 0

finish
