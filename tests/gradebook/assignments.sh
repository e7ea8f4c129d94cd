#!/bin/bash
# assignments.sh BUILD - a course of three assignments over three weeks, from exports of Moodle, Canvas and Gradescope:
# umlauts, two students of one name, a latecomer, a withdrawal, a submission that cannot be read. Every mark is worked
# out by hand below. A scripted warpbook grades, so the script needs neither nvcc nor a GPU. About 5 s of processor time.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
gradebook=$build/gradebook
. tests/check.sh
export WARPBOOK_BUILD=$build GRADEBOOK_WARPBOOK=$PWD/tests/gradebook/fake_warpbook TMPDIR=$work
out=$work/results

kernel() { # FILE MARK [DIRECTIVE]
    mkdir -p "$(dirname "$1")"
    printf '#define MARK %s\n// grader: %s\n' "$2" "${3:-verdict pass}" > "$1"
}
grade() { "$gradebook" grade "$@" --out "$out" --devices sim --jobs 2 --trust-submissions; }
roster() { printf '%s\n' id,name,email,lms,status "$@" > "$work/roster.csv" && "$gradebook" import-roster "$work/roster.csv" --out "$out"; }
marks() { # "NUMBER LAB STATE MARKS" of every student and lab
    "$gradebook" export --format json --out "$out" | jq -r '.students[] | (.number // .name) as $who
        | .labs[] | [$who, .lab[0:2], .state, .marks // "-"] | map(tostring) | join(" ")'
}
marks_are() { # EXPECTATION: these rows, and no others
    diff <(grep . <<< "$1" | sort) <(marks | sort)
}
sql() { sqlite3 -readonly "$out/gradebook.sqlite" "$@"; }

echo "three assignments."

# ---- Week 1: Moodle ----

m=$work/moodle
kernel "$m/Jörg Müller_51_assignsubmission_file_/kernel.cu" 11
kernel "$m/Zoë Ünal_52_assignsubmission_file_/Kernel.cu" 12 "verdict wrong"
kernel "$m/Ann Lee_53_assignsubmission_file_/kernel.cu" 13
kernel "$m/Ann Lee_54_assignsubmission_file_/01_coalescing/kernel.cu" 14 "verdict wrong"
kernel "$m/Bo Ek_55_assignsubmission_file_/kernel.cu" 15
kernel "$m/Cy Fox_56_assignsubmission_file_/solution.rar" 16
kernel "$m/Cy Fox_56_assignsubmission_onlinetext_/onlinetext.html" 17
week1=$work/lab1.zip
(cd "$m" && zip -qr "$week1" .)

one=('1,"Müller, Jörg",joerg@x.org,4711,' '2,Zoë Ünal,zoe@x.org,4712,' '3,Ann Lee,ann@x.org,4713,' '4,Ann Lee,ann2@x.org,4714,'
    '6,Cy Fox,cy@x.org,,')
check "grade the first export" status_is 0 grade "$week1"
check "only its lab counts, as its name says" test "$(sql "SELECT group_concat(lab) FROM asked")" = 01_coalescing
check "without a roster, students have Moodle's numbers" marks_are "
51 01 pass 100
52 01 wrong 0
53 01 pass 100
54 01 wrong 0
55 01 pass 100
56 01 unreadable 0"
check "the nearly right name is listed" says "Zoë Ünal, Kernel.cu: was taken" "$gradebook" report --out "$out"
check "and so is the archive that cannot be read" says "Cy Fox, 01_coalescing: RAR archives cannot be read" "$gradebook" report --out "$out"
check "a roster" status_is 0 roster "${one[@]}" '5,Bo Ek,bo@x.org,4715,'
check "two students of one name stay apart" marks_are "
1 01 pass 100
2 01 wrong 0
53 01 pass 100
54 01 wrong 0
3 01 missing 0
4 01 missing 0
5 01 pass 100
6 01 unreadable 0"
check "match lists them, with candidates" says "Ann Lee_53: somebody else has the same name 3 Ann Lee 4 Ann Lee" "$gradebook" match --out "$out"
check "an answer for a student who does not exist" status_is 3 "$gradebook" match "Ann Lee_99" 3 --out "$out"
check "an ambiguous answer" says "several people match 'Ann Lee'" "$gradebook" match "Ann Lee_53" "Ann Lee" --out "$out"
check "a wrong answer" status_is 0 "$gradebook" match "Ann Lee_53" 4 --out "$out"
check "is undone" status_is 0 "$gradebook" match "Ann Lee_53" --undo --out "$out"
check "the right answer" status_is 0 "$gradebook" match "Ann Lee_53" 3 --out "$out"
check "identifies both" says "Every student is identified" "$gradebook" match --out "$out"
check "each answer is kept, with its author" test "$(sql "SELECT count(*), count(DISTINCT author), min(length(at)) FROM answers")" = "3|1|20"
first="
1 01 pass 100
2 01 wrong 0
3 01 pass 100
4 01 wrong 0
5 01 pass 100
6 01 unreadable 0"
check "the first week's marks" marks_are "$first"

# ---- Week 2: Canvas, a latecomer ----

c=$work/canvas
kernel "$c/müllerjörg_4711_900_kernel.cu" 21 "verdict wrong"
kernel "$c/müllerjörg_4711_911_kernel-1.cu" 22
kernel "$c/ünalzoë_LATE_4712_901_transpose.cu" 23 "ratio 0.5 0.25
// grader: verdict slow"
kernel "$c/leeann_4713_902_kernel.cu" 24 "verdict wrong"
kernel "$c/leeann_4714_903_kernel.cu" 25
kernel "$c/foxcy_4716_905_kernel.cu" 26
kernel "$c/newneil_4717_906_kernel.cu" 27
check "the second export" status_is 0 grade "$c" --labs 6 --assignment "week 2"
check "a roster with the latecomer" status_is 0 roster "${one[@]}" '5,Bo Ek,bo@x.org,4715,' "7,Neil New,neil@x.org,,"
second="$first
1 06 pass 100
2 06 slow 75
3 06 wrong 0
4 06 pass 100
5 06 missing 0
6 06 pass 100
7 06 pass 100
7 01 missing 0"
check "marks of both weeks" marks_are "$second"

# ---- The latecomer's first lab, a withdrawal ----

kernel "$m/Neil New_57_assignsubmission_file_/kernel.cu" 31
rm "$week1" && (cd "$m" && zip -qr "$week1" .)
check "the first export again, with one student more" status_is 0 grade "$week1"
second=${second/7 01 missing 0/7 01 pass 100}
check "adds this student's mark only" marks_are "$second"
check "nothing was graded twice" test "$(sql "SELECT max(number) FROM attempts")" = 1
rm -r "$m/Bo Ek_55_assignsubmission_file_"
rm "$week1" && (cd "$m" && zip -qr "$week1" .)
check "a roster with a withdrawal" status_is 0 roster "${one[@]}" '5,Bo Ek,bo@x.org,4715,withdrawn' "7,Neil New,neil@x.org,,"
imports=$(sql "SELECT count(*) FROM imports")
check "an export without that student is refused" says "lab 01: 1 of 6 students would become missing .Bo Ek, withdrawn." grade "$week1"
check "and stores nothing" test "$(sql "SELECT count(*) FROM imports")" = "$imports"
check "the wrong export for an assignment" says "lab 06: 1 of 6 students would become missing .Cy Fox." grade "$week1" --labs 6 --assignment "week 2"
check "unless it is meant" status_is 0 grade "$week1" --replace
second=$(grep -v "^5 " <<< "$second")
check "a withdrawn student without submissions has no row" marks_are "$second"
check "and all others keep their marks" test "$(marks | wc -l)" = 12

# ---- Week 3: Gradescope, without numbers ----

g=$work/gradescope/assignment_9_export
kernel "$g/submission_101/reduction.cu" 41
kernel "$g/submission_102/07_reduction/kernel.cu" 42 "verdict wrong"
kernel "$g/submission_103/Lab 7/kernel.cu" 43
kernel "$g/submission_104/kernel.cu" 44
kernel "$g/submission_105/notes.txt" 45
cat > "$g/submission_metadata.yml" << 'YAML'
submission_101:
  :submitters:
  - :name: "J\xF6rg M\xFCller"
    :sid:
    :email: JOERG@x.org
  :created_at: 2026-10-01 12:30:00 Z
submission_102:
  :submitters:
  - :name: Ann Lee
    :sid:
    :email: ann@x.org
submission_103:
  :submitters:
  - :name: Ann Lee
    :sid: ''
    :email: ann2@x.org
submission_104:
  :submitters:
  - :name: 'Zoë "Z" Ünal'
    :sid: '2'
    :email: z@home
submission_105:
  :submitters:
  - :name: Neil New
    :sid: 7
YAML
check "the third export" status_is 0 grade "$work/gradescope" --labs 7
check "marks of three weeks" marks_are "$second
1 07 pass 100
2 07 pass 100
3 07 wrong 0
4 07 pass 100
6 07 missing 0
7 07 unreadable 0"
check "seven people, one row each" test "$(marks | cut -d' ' -f1 | sort -u | tr '\n' ' ')" = "1 2 3 4 6 7 "
check "and everyone is identified" says "Every student is identified" "$gradebook" match --out "$out"

# ---- The wrong file is imported, and taken back ----

imports() { "$gradebook" imports "$@" --out "$out"; }
marks | sort > "$work/before"
check "the wrong file" status_is 0 grade "$week1" --labs 6 --assignment "week 2" --replace
wrong=$(sql "SELECT max(id) FROM imports")
check "changes marks" not diff "$work/before" <(marks | sort)
check "a reason is required" status_is 2 imports "$wrong" --undo
check "an import that does not exist" status_is 2 imports 99 --undo --note x
check "it is taken back" says "Import $wrong was taken back.*[1-9] results are now of another submission" imports "$wrong" --undo --note "the wrong file" --author kim
check "and all marks are as before" diff "$work/before" <(marks | sort)
check "only once" status_is 2 imports "$wrong" --undo --note again
check "the list says by whom, and why" says "$wrong .* taken back .*lab1.zip .week 2.; taken back by kim: the wrong file" imports
check "and so does the history" says "taken back +06_transpose +import $wrong .*by kim: the wrong file" "$gradebook" history 7 6 --out "$out"
check "an import whose students would lose a submission is not taken back" says "lab 07: 4 of 4 students would become missing" imports $((wrong - 1)) --undo --note "wrong course"
check "and nothing changes" diff "$work/before" <(marks | sort)
check "nor does it count again by accident" status_is 3 imports "$wrong" --redo --note "it was right"
check "unless it is meant" status_is 0 imports "$wrong" --redo --note "it was right" --replace
check "and taken back again" status_is 0 imports "$wrong" --undo --note "it was wrong"
check "all marks are as before" diff "$work/before" <(marks | sort)
check "no row was removed" test "$(sql "SELECT group_concat(undone, '') FROM import_undos")" = 101

# ---- Three exports in one folder, in a new gradebook ----

mkdir "$work/all" && cp "$week1" "$work/all/Lab 1.zip"
(cd "$c" && zip -qr "$work/all/Lab 6 Canvas.zip" .)
(cd "$work/gradescope" && zip -qr "$work/all/Lab 7.zip" .)
cp "$work/roster.csv" "$work/all"
marks | sort > "$work/before"
answered=$(sql "SELECT count(*) FROM answers")
out=$work/again
check "three exports in one folder" status_is 0 grade "$work/all"
check "are three assignments" test "$(sql "SELECT group_concat(assignment) FROM imports")" = "Lab 1,Lab 6 Canvas,Lab 7"
check "the roster" status_is 0 "$gradebook" import-roster "$work/all/roster.csv" --out "$out"
check "the answer" status_is 0 "$gradebook" match "Ann Lee_53" 3 --out "$out"
check "the same marks" diff "$work/before" <(marks | sort)
check "three answers before, one now" test "$answered $(sql "SELECT count(*) FROM answers")" = "3 1"

finish
