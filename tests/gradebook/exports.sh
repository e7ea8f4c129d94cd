#!/bin/bash
# exports.sh BUILD - marks in the files of learning systems: files of mode 600, filters, one row per student, Moodle's
# and Canvas's worksheets, and what was published. A scripted warpbook grades; needs neither nvcc nor a GPU.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
gradebook=$build/gradebook
. tests/check.sh
export WARPBOOK_BUILD=$work/build TMPDIR=$work GRADEBOOK_WARPBOOK=$PWD/tests/gradebook/fake_warpbook
mkdir "$work/build"
command -v python3 > /dev/null || { echo "exports.sh needs python3 to read CSV: make setup" >&2; exit 1; }

# kernel STUDENT LAB RATIO: a distinct kernel with this speed; the bar is 0.75.
kernel() {
    local file="$work/class/$1/$2/kernel.cu" verdict=slow
    mkdir -p "${file%/*}"
    awk -v r="$3" 'BEGIN { exit !(r >= 0.75) }' && verdict=pass
    printf '%s\n// grader: verdict %s\n// grader: ratio %s 0.05\nenum { of = %d };\n' "$(cat solutions/06_transpose/1_naive.cu)" \
        "$verdict" "$3" $((++kernels)) > "$file"
}
kernels=0
grade() { "$gradebook" grade "$work/class" --out "$work/o" --devices sim --labs 1,6 --trust-submissions; }
export_() { "$gradebook" export --out "$work/o" --format "$@"; }
report() { "$gradebook" report --out "$work/o" "$@"; }
# cells FILE: each row as Python prints it.
cells() { python3 -c 'import csv, sys
for row in csv.reader(open(sys.argv[1], encoding="utf-8-sig", newline="")): print(row)' "$1"; }

kernel "Ann Schmidt" 06_transpose 0.9
kernel "Ann Schmidt" 01_coalescing 0.8
kernel "Bob Öz" 06_transpose 0.4
kernel "Cem, Jr." 06_transpose 0.76
kernel "=HYPERLINK(1)" 06_transpose 0.8
cat > "$work/roster.csv" << 'CSV'
id,name,email,section
1001,Ann Schmidt,ann@example.org,A
1002,Bob Öz,bob@example.org,A
1003,"Cem, Jr.",cem@example.org,B
1004,=HYPERLINK(1),eve@example.org,B
1005,Dora Absent,dora@example.org,B
CSV
check "a roster" "$gradebook" import-roster "$work/roster.csv" --out "$work/o"
check "grading" status_is 0 grade

# ---- Files ----

check "an export to a file" export_ marks --to "$work/marks.csv"
check "only its owner may read it" test "$(stat -c %a "$work/marks.csv")" = 600
check "an existing file is kept" status_is 3 export_ csv --to "$work/marks.csv"
check "it is unchanged" grep -q "^.*id,name,email,section" "$work/marks.csv"
export_ marks > "$work/printed.csv"
check "standard output holds the same" cmp "$work/marks.csv" "$work/printed.csv"
check "--force replaces it" export_ csv --to "$work/marks.csv" --force
check "the file is replaced" grep -q "^.*student,number,lab" "$work/marks.csv"
check "no temporary file is left" test "$(find "$work" -maxdepth 1 -name 'marks.csv*' | wc -l)" = 1
check "a folder that does not exist" status_is 3 export_ csv --to "$work/none/marks.csv"
mkdir "$work/folder"
check "a folder in the file's place" status_is 3 export_ csv --to "$work/folder" --force

# ---- One row per student ----

check "marks: one row per student" diff <(cells "$work/printed.csv") - << 'ROWS'
['id', 'name', 'email', 'section', '01_coalescing', '06_transpose', 'total', 'open']
['1004', "'=HYPERLINK(1)", 'eve@example.org', 'B', '0.0', '100.0', '50.0', '0']
['1001', 'Ann Schmidt', 'ann@example.org', 'A', '100.0', '100.0', '100.0', '0']
['1002', 'Bob Öz', 'bob@example.org', 'A', '0.0', '75.0', '37.5', '0']
['1003', 'Cem, Jr.', 'cem@example.org', 'B', '0.0', '100.0', '50.0', '0']
['1005', 'Dora Absent', 'dora@example.org', 'B', '0.0', '0.0', '0.0', '0']
ROWS

# ---- Filters ----

rows() { export_ csv "$@" | python3 -c 'import csv, sys
sys.stdin.reconfigure(encoding="utf-8-sig")
print(*sorted(row["student"] + " " + row["lab"][:2] for row in csv.DictReader(sys.stdin)), sep=", ")'; }
check "one section and lab" test "$(rows --section A --labs 6)" = "Ann Schmidt 06, Bob Öz 06"
check "one student by name" test "$(rows --student 'ann schmidt')" = "Ann Schmidt 01, Ann Schmidt 06"
check "one student by e-mail and one lab" test "$(rows --student bob@example.org --lab transpose)" = "Bob Öz 06"
check "one student by id" test "$(rows --student 1003 --lab 6)" = "Cem, Jr. 06"
check "nobody" status_is 2 export_ csv --student nobody
check "nobody in the report" status_is 2 report --student nobody
check "the report of a section" not says "Bob" report --section B
check "the report of one student lists each lab" says "06_transpose +slow +75.0 marks" report --student "Bob Öz"
check "the class has one line per student" says "^Bob Öz \(1002\) +37.5 +- +75.0" report
check "status of a lab" says "06_transpose +4 +4 +0" "$gradebook" status --out "$work/o" --labs 6
check "and not of the others" not says "01_coalescing" "$gradebook" status --out "$work/o" --labs 6

# ---- Moodle's worksheet: the numbers are those of the assignment, and other cells stay as they are ----

printf '\xef\xbb\xbf' > "$work/moodle.csv"
printf '%s\r\n' 'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed","Last modified (grade)","Feedback comments"' \
    'Participant 5296,"Ann Schmidt",ann@example.org,"Submitted for grading",,10.00,Yes,-,' \
    'Participant 5297,"Bob Öz",BOB@example.org,"Submitted for grading - Graded",1.00,10.00,Yes,"Friday, 6 November 2026","-5: see ""line 2"", please"' \
    'Participant 5298,"Cem, Jr.",,"No submission",,10.00,Yes,-,' \
    'Participant 1002,"Nobody Known",nobody@example.org,"No submission",,10.00,Yes,-,' \
    'Participant 5300,=HYPERLINK(1),eve@example.org,"Submitted for grading",,20.00,Yes,-,' >> "$work/moodle.csv"
moodle() { export_ moodle --worksheet "$work/moodle.csv" --unpublished "$@"; }
check "Moodle: the labs of the assignment are required" says "add --lab L" moodle
check "Moodle: one lab" moodle --lab 6 --to "$work/filled.csv"
check "Moodle: what is not filled is listed" says "Nobody Known: no student" moodle --lab 6
check "Moodle: who has no row is listed" says "Dora Absent: has no row" moodle --lab 6
sed -e '/Participant 5296/s/,,10.00/,10.00,10.00/' -e '/Participant 5297/s/,1.00,10.00/,7.50,10.00/' -e '/Participant 5298/s/,,10.00/,10.00,10.00/' \
    -e '/Participant 5300/s/,,20.00/,20.00,20.00/' "$work/moodle.csv" > "$work/expected.csv"
check "Moodle: only the grades change, byte for byte" cmp "$work/filled.csv" "$work/expected.csv"
check "Moodle: the weighted total of two labs" says "^Participant 5297,.*,3.75,10.00" moodle --labs 1,6
sed -e 's/Grade,"Maximum Grade"/Bewertung,"Beste Bewertung"/' -e 's/Participant /Teilnehmer\/in/' -e 's/10\.00/"10,00"/' "$work/moodle.csv" > "$work/german.csv"
check "Moodle: another language needs the name of the column" says "name the column" export_ moodle --worksheet "$work/german.csv" --lab 6 --unpublished
check "Moodle: with it, the same" says '^Teilnehmer/in5296,.*,10.00,"10,00"' export_ moodle --worksheet "$work/german.csv" --lab 6 --column Bewertung --unpublished
check "Moodle: one section" says "^1 of 1 rows" moodle --lab 6 --student ann@example.org
sed 's/, please"/, please/' "$work/moodle.csv" > "$work/cut.csv"
check "Moodle: a worksheet that is cut off" status_is 3 export_ moodle --worksheet "$work/cut.csv" --lab 6 --to "$work/none.csv" --unpublished
check "Moodle: nothing is written then" test ! -e "$work/none.csv"
check "Moodle: another file" status_is 3 export_ moodle --worksheet "$work/roster.csv" --lab 6 --unpublished
check "Moodle: no worksheet" status_is 2 export_ moodle --lab 6

check "Moodle: feedback files" export_ moodle-feedback --worksheet "$work/moodle.csv" --lab 6 --to "$work/feedback.zip" --unpublished
check "Moodle: a folder per student, with the assignment's number" diff <(python3 -c 'import sys, zipfile
print(*sorted(zipfile.ZipFile(sys.argv[1]).namelist()), sep="\n")' "$work/feedback.zip") - << 'NAMES'
=HYPERLINK(1)_5300_assignsubmission_file_/feedback.html
Ann Schmidt_5296_assignsubmission_file_/feedback.html
Bob Öz_5297_assignsubmission_file_/feedback.html
Cem, Jr._5298_assignsubmission_file_/feedback.html
NAMES

mkdir -p "$work/moodle_export/Kim Doe_7001_assignsubmission_file_"
printf '%s\nenum { kim };\n// grader: verdict slow\n// grader: ratio 0.4 0.05\n' "$(cat solutions/06_transpose/1_naive.cu)" > "$work/moodle_export/Kim Doe_7001_assignsubmission_file_/kernel.cu"
check "Moodle's own export" status_is 0 "$gradebook" grade "$work/moodle_export" --out "$work/m" --devices sim --labs 6 --trust-submissions
printf '%s\n' "Identifier,Status,Grade,Maximum Grade" "Participant 7001,Submitted,,10.00" "Participant 7002,Submitted,,10.00" > "$work/anonymous.csv"
check "Moodle: the participant's number suffices, also without names" says "Participant 7001,Submitted,7.50,10.00 Participant 7002,Submitted,,10.00" \
    "$gradebook" export --format moodle --worksheet "$work/anonymous.csv" --unpublished --out "$work/m"

# ---- Canvas's gradebook: its own columns and the assignments of labs; other assignments are left out ----

cat > "$work/canvas.csv" << 'CSV'
Student,ID,SIS User ID,SIS Login ID,Section,"Lab 6 (4711)",Homework 1 (4712),"Coalescing, first (4713)",Final Score
,,,,,Manual Posting,,,
    Points Possible,,,,,50.00,10.00,20.00,(read only)
"Schmidt, Ann",901,1001,ann,A,,9.00,,12.00
"Öz, Bob",902,1002,bob@example.org,A,40.00,8.00,,
"Jr., Cem",903,,,B,EX,,N/A,
"Student, Test",999,,,B,,,,
CSV
canvas() { export_ canvas --worksheet "$work/canvas.csv" --unpublished "$@"; }
check "Canvas: both labs" diff <(canvas --labs 1,6 2> /dev/null) - << 'CSV'
Student,ID,SIS User ID,SIS Login ID,Section,"Lab 6 (4711)","Coalescing, first (4713)"
,,,,,Manual Posting,
    Points Possible,,,,,50.00,20.00
"Schmidt, Ann",901,1001,ann,A,50.00,20.00
"Öz, Bob",902,1002,bob@example.org,A,37.50,0.00
"Jr., Cem",903,,,B,EX,N/A
"Student, Test",999,,,B,,
CSV
check "Canvas: a named column" says "^.Öz, Bob.,902,1002,bob@example.org,A,3.75" canvas --labs 1,6 --column "Homework 1"
check "Canvas: no such column" says "no column has the name" canvas --lab 6 --column "Homework 2"
check "Canvas: a column without points" says "no points possible" canvas --lab 6 --column "Final Score"
check "Canvas: excused and unknown students are listed" says "Jr., Cem: left as it is.*Student, Test: no student" canvas --lab 6

# Two students of one name are told apart by ids, and never by their name.
sed -e 's/Schmidt, Ann/Öz, Bob/' -e 's/,901,1001,ann,/,901,,,/' "$work/canvas.csv" > "$work/twice.csv"
check "Canvas: two of one name" says "^.Öz, Bob.,901,,,A,$" export_ canvas --worksheet "$work/twice.csv" --lab 6 --unpublished
check "Canvas: the id decides" says "^.Öz, Bob.,902,1002,bob@example.org,A,37.50" export_ canvas --worksheet "$work/twice.csv" --lab 6 --unpublished

# ---- An excused student is excused everywhere, and counts nowhere ----

labs_row() { export_ html | tr -d '\n' | grep -o '<th scope="row">06_transpose</th>.*' | sed 's/<\/tr>.*//; s/<[^>]*>/ /g'; }
check "one lab is missing before" says "06_transpose +3 +1 +0 +0 +1 " labs_row
check "an absent student is excused" "$gradebook" excuse 1005 6 --note ill --author kim --out "$work/o"
check "the class page says so" says 'data-state="excused" data-lab="06_transpose">– excused' export_ html
check "and its lab is not missing" says "06_transpose +3 +1 +0 +0 +0 " labs_row
check "so does the CSV file" says "Dora Absent,1005,06_transpose,excused," export_ csv
check "the legend has no other word" not says "exc excused" report
check "the excuse is taken back" "$gradebook" excuse 1005 6 --undo --note well --author kim --out "$work/o"

# ---- A suspect kernel is open until somebody decides; then the feedback names the decision first ----

mkdir -p "$work/suspects/Eli/06_transpose"
printf '%s\nenum { eli };\n// grader: verdict suspect\n' "$(cat solutions/06_transpose/1_naive.cu)" > "$work/suspects/Eli/06_transpose/kernel.cu"
on_suspect() { "$gradebook" "$@" --out "$work/s"; }
eli() { on_suspect export --format feedback --to "$work/s-$1" --unpublished 2> /dev/null && cat "$work/s-$1/Eli.txt"; }
check "a suspect kernel" status_is 0 on_suspect grade "$work/suspects" --devices sim --labs 6 --trust-submissions
check "is not published" says "0 changed, 0 new, 1 open" on_suspect publish --labs 6 --dry-run
check "and counts neither way" says "^Eli +open!" on_suspect report
check "its marks will follow" says "suspect: .* marks will follow: " eli 1
check "the decision" on_suspect decide Eli 6 zero --note "prints the answer" --author kim
check "comes first in the feedback" says "06_transpose: decided: the course staff decided the marks" eli 2
check "which says nothing of suspicion" not says "06_transpose: suspect|not trusted" eli 3
check "and gives no hint" not says "What to try next" eli 4
check "it is published" says "^1 result published" on_suspect publish --labs 6

# ---- So is a kernel that the simulated GPU does not support ----

mkdir -p "$work/unsupported/Uma/06_transpose"
printf '%s\nenum { uma };\n// grader: verdict unsupported\n' "$(cat solutions/06_transpose/1_naive.cu)" > "$work/unsupported/Uma/06_transpose/kernel.cu"
on_unsupported() { "$gradebook" "$@" --out "$work/u"; }
check "a kernel that is not supported" status_is 0 on_unsupported grade "$work/unsupported" --devices sim --labs 6 --trust-submissions
check "waits" says "Uma, 06_transpose: unsupported: .*1 waits" on_unsupported waiting
check "is open, not 0" says "^Uma +open!" on_unsupported report
check "and is not published" says "0 changed, 0 new, 1 open" on_unsupported publish --labs 6 --dry-run

# ---- A result of --quick is named everywhere, and graded again without it ----

mkdir -p "$work/quick/Quin/06_transpose"
printf '%s\nenum { quin };\n' "$(cat solutions/06_transpose/1_naive.cu)" > "$work/quick/Quin/06_transpose/kernel.cu"
on_quick() { "$gradebook" "$@" --out "$work/q"; }
grade_quick() { on_quick grade "$work/quick" --devices sim --labs 6 --trust-submissions "$@"; }
attempts() { sqlite3 -readonly "$work/q/gradebook.sqlite" "SELECT count(*) FROM attempts"; }
check "grade --quick" status_is 0 grade_quick --quick
check "the report names the result" says "Quin +100.0 +100.0!.*Graded with --quick.*Quin, 06_transpose: pass" on_quick report
check "and so does the CSV file" says "Quin,,06_transpose,pass,100.0,[^,]*,[^,]*,[^,]*,quick," on_quick export --format csv
check "every export says so" says "1 result is rough" on_quick export --format marks
check "and publishing, too" says "1 result is rough.*1 result published" on_quick publish --labs 6
check "a student's feedback" on_quick export --format feedback --to "$work/q-1"
check "says that it is an estimate" grep -q "quick grading" "$work/q-1/Quin.txt"
check "and gives no file's time as the time of submission" not grep -q "submitted 2" "$work/q-1/Quin.txt"
printf '%s\n' "[all]" "deadline = 2020-01-01 00:00 Z" > "$work/due.ini"
check "with a deadline, the report says that the time is unknown" says "1 result has no time of submission" on_quick report --course "$work/due.ini"
check "once more with --quick" status_is 0 grade_quick --quick
check "grades nothing again" test "$(attempts)" = 1
check "without --quick" says "1 kernel was graded with --quick only" grade_quick
check "grades it again" test "$(attempts)" = 2
check "and the report names nothing" not says "quick" on_quick report
check "with --quick again" status_is 0 grade_quick --quick
check "the full grading stays" test "$(attempts)" = 2

# ---- A withdrawn student's labs without a hand-in: neither for nor against, and never 0 ----

cp -r "$work/o" "$work/w"
withdrawn() { "$gradebook" "$@" --out "$work/w"; }
sed '/^1002/s/$/,withdrawn/; /^id/s/$/,status/; /^100[1345]/s/$/,/' "$work/roster.csv" > "$work/withdrawn.csv"
check "a roster with a withdrawal" withdrawn import-roster "$work/withdrawn.csv"
check "the total is that of what he handed in" says "^Bob Öz \(1002\), withdrawn +75.0 +- +75.0" withdrawn report
check "the lab is not missing" says "Bob Öz,1002,01_coalescing,withdrawn,," withdrawn export --format csv
check "the class page says so" says 'data-state="withdrawn" data-lab="01_coalescing">– withdrawn' withdrawn export --format html
check "Canvas gets no 0" says "^.Öz, Bob.,902,1002,bob@example.org,A,37.50,$" withdrawn export --format canvas --worksheet "$work/canvas.csv" --labs 1,6 --unpublished
check "nothing of it is published" says "^4 results published" withdrawn publish --labs 1
check "feedback" withdrawn export --format feedback --to "$work/w-feedback"
check "says that it does not count, not that marks will follow" grep -q "^01_coalescing: withdrawn: this lab does not count" "$work/w-feedback/Bob_Öz-1002.txt"

# ---- Publishing: each mark as it was shown, and what has changed since ----

publish() { "$gradebook" publish --out "$work/o" "$@"; }
score() { python3 -c 'import csv, json, sys
rows = {row["student"]: row["file"] for row in csv.DictReader(open(sys.argv[1] + "/index.csv", encoding="utf-8-sig", newline=""))}
result = json.load(open(sys.argv[1] + "/" + rows[sys.argv[2]]))
print(*[test["name"][:2] + " " + str(test["score"]) for test in result["tests"]], sep=", ")' "$work/$1" "$2"; }
check "nothing is published" status_is 3 export_ gradescope --to "$work/g0"
check "and nothing is written" test ! -e "$work/g0"
check "the labs are required" status_is 2 publish
check "a dry run says what is new" says "06_transpose: 0 changed, 5 new, 0 open" publish --labs 6 --dry-run
check "and publishes nothing" status_is 3 export_ gradescope --to "$work/g0"
check "one lab" says "5 results published" publish --labs 6 --note "as in the lecture"
check "again: nothing is new" says "^0 results published" publish --labs 6
check "nothing to report" not says "Not as published" report
check "only the published lab is exported" export_ gradescope --to "$work/g1"
check "with its marks" test "$(score g1 'Bob Öz')" = "06 75.0"

kernel "Bob Öz" 06_transpose 0.9
check "a better kernel is graded" status_is 0 grade
check "the report says what has changed" says "Bob Öz \(1002\): slow 75.0 -> pass 100.0 \(" report
check "an export" export_ gradescope --to "$work/g2"
check "students still see the published marks" test "$(score g2 'Bob Öz')" = "06 75.0"
check "an export" export_ gradescope --to "$work/g3" --unpublished
check "a preview shows the current ones" test "$(score g3 'Bob Öz')" = "01 0.0, 06 100.0"
check "withheld until a date" says "1 result published; students see them from 2999" publish --labs 6 --visible-from "2999-01-01 00:00 +00:00"
check "an export" export_ gradescope --to "$work/g4"
check "before that date, the old marks" test "$(score g4 'Bob Öz')" = "06 75.0"
check "Moodle's worksheet holds them, too" says "^Participant 5297,.*,7.50,10.00" export_ moodle --worksheet "$work/moodle.csv" --lab 6
check "a lab that is not published" status_is 3 export_ moodle --worksheet "$work/moodle.csv" --lab 1
sqlite3 "$work/o/gradebook.sqlite" "UPDATE publications SET visible = 0"
check "an export" export_ gradescope --to "$work/g5"
check "after that date, the new ones" test "$(score g5 'Bob Öz')" = "06 100.0"
check "every published mark is kept, with its author" test "$(sqlite3 "$work/o/gradebook.sqlite" "SELECT p.marks, c.author <> ''
    FROM published p JOIN publications c ON c.id = p.publication WHERE p.person = 'id:1002'" | tr '\n' ' ')" = "75.0|1 100.0|1 "

check "a decision" "$gradebook" decide "Bob Öz" 6 40 --note "as agreed" --out "$work/o"
check "the report says who changed a published mark, and why" says "Bob Öz \(1002\): pass 100.0 -> pass 40.0 \(decided by .*: as agreed\)" report
check "a decision is undone" "$gradebook" decide "Bob Öz" 6 --undo --note "not agreed" --out "$work/o"

# A lab whose marks are open does not withhold the others.
kernel "Ann Schmidt" 01_coalescing 0.9
echo "// grader: die" >> "$work/class/Ann Schmidt/01_coalescing/kernel.cu"
check "a kernel that cannot be graded" status_is 3 grade
check "is published as open" says "01_coalescing: 0 changed, 4 new, 1 open" publish --labs 1,6
check "an export" export_ gradescope --to "$work/g6"
check "an open lab does not withhold the others" test "$(score g6 'Ann Schmidt')" = "01 0.0, 06 100.0"

# ---- Gradescope's autograder finds the result by the submission's number or an e-mail address ----

autograde() { # METADATA: as Gradescope runs it
    rm -rf "$work/ag" && mkdir -p "$work/ag/results" && cp -r "$work/g6" "$work/ag/source" && echo "$1" > "$work/ag/submission_metadata.json"
    sed "s#/autograder#$work/ag#" "$work/g6/run_autograder" > "$work/ag/run" && python3 "$work/ag/run" && jq ".tests[1].score | round" "$work/ag/results/results.json"
}
check "the autograder can be run" test -x "$work/g6/run_autograder" -a -x "$work/g6/setup.sh"
check "by e-mail address" test "$(autograde '{"id": 7, "users": [{"email": "Bob@Example.org", "id": 1, "name": "B"}]}')" = 100
check "somebody without a result" not autograde '{"id": 7, "users": [{"email": "zoe@example.org", "id": 1, "name": "Z"}]}'
mkdir -p "$work/gradescope/submission_812/06_transpose"
{ cat "$work/class/Cem, Jr./06_transpose/kernel.cu"; echo "enum { mine };"; } > "$work/gradescope/submission_812/06_transpose/kernel.cu"
cat > "$work/gradescope/submission_metadata.yml" << 'YML'
submission_812:
  :submitters:
  - :name: Kim Doe
    :sid: '55'
    :email: kim@example.org
YML
check "a Gradescope export" status_is 0 "$gradebook" grade "$work/gradescope" --out "$work/gs" --devices sim --labs 1,6 --trust-submissions
check "its results" "$gradebook" export --format gradescope --unpublished --to "$work/gs_files" --out "$work/gs"
check "are found by the submission's number" test "$(jq -r '.submissions["812"] == "Kim_Doe-55.json"' "$work/gs_files/index.json")" = true

# ---- Names ----

mkdir -p "$work/names/＝1/06_transpose" "$work/names/-x/06_transpose"
cp "$work/gradescope/submission_812/06_transpose/kernel.cu" "$work/names/＝1/06_transpose/"
sed 's/mine/yours/' "$work/gradescope/submission_812/06_transpose/kernel.cu" > "$work/names/-x/06_transpose/kernel.cu"
printf '[course]\nname = GPU & more\n' > "$work/course.ini"
check "names that would be formulas" status_is 0 "$gradebook" grade "$work/names" --out "$work/n" --devices sim --labs 6 --trust-submissions --course "$work/course.ini"
check "their feedback" "$gradebook" export --format feedback --unpublished --to "$work/n_files" --out "$work/n"
check "the index names files that exist" python3 -c 'import csv, os, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/index.csv", encoding="utf-8-sig", newline="")))
assert len(rows) == 2 and all(os.path.exists(os.path.join(sys.argv[1], row["file"])) for row in rows), rows' "$work/n_files"
check "feedback names the course" grep -q "^GPU & more$" "$work/n_files"/*.txt
check "so does the class page" says "<title>GPU &amp; more: class report</title>" "$gradebook" export --format html --out "$work/n"
check "and JSON" test "$("$gradebook" export --format json --out "$work/n" | jq -r .course)" = "GPU & more"

# ---- Who is who can become clear after publishing ----

"$gradebook" publish --labs 6 --out "$work/n" > "$work/said"
printf 'id,name\n77,-x\n78,＝1\n' > "$work/late_roster.csv"
check "a roster after publishing" "$gradebook" import-roster "$work/late_roster.csv" --out "$work/n"
check "the same people: nothing is new" says "^0 results published" "$gradebook" publish --labs 6 --out "$work/n"
check "their marks are still published" "$gradebook" export --format feedback --student 77 --to "$work/n_77" --out "$work/n"

finish
