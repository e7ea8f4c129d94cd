#!/bin/bash
# term.sh BUILD - a whole term: three assignments from Moodle, Canvas and Gradescope, and what happens to their marks in
# between. The tables below hold each mark, worked out by hand, with its reason. A scripted warpbook grades, so the
# script needs neither nvcc nor a GPU.
#
# Marks of a slow kernel: 50 + 50 * (ratio - rung 1) / (bar - rung 1), with rung 1 at 0.25 and the bar at 0.75. Each day
# late leaves 0.9 of the marks; each student has two late days. Lab 7 has the weight 2.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
gradebook=$build/gradebook
. tests/check.sh
export WARPBOOK_BUILD=$build GRADEBOOK_WARPBOOK=$PWD/tests/gradebook/fake_warpbook TMPDIR=$work
out=$work/results
command -v python3 > /dev/null || { echo "term.sh needs python3 to read CSV: make setup" >&2; exit 1; }

kernel() { # FILE TIME [VERDICT [RATIO]]: a distinct kernel, last changed at this time
    mkdir -p "$(dirname "$1")"
    printf '#define MARK %d\n// grader: verdict %s\n' $((++kernels)) "${3:-pass}" > "$1"
    [ -z "${4:-}" ] || printf '// grader: ratio %s 0.25\n' "$4" >> "$1"
    touch -d "$2" "$1"
}
kernels=0
nfd() { python3 -c 'import sys, unicodedata; print(unicodedata.normalize("NFD", sys.argv[1]))' "$1"; }
latin1() { iconv -f UTF-8 -t LATIN1 <<< "$1"; }

grade() { "$gradebook" grade "$@" --out "$out" --devices sim --jobs 2 --trust-submissions --course "$work/course.ini"; }
by() { "$gradebook" "${@:2}" --author "$1" --out "$out"; } # AUTHOR COMMAND...
export_() { "$gradebook" export --out "$out" --format "$@"; }
publish() { "$gradebook" publish --out "$out" "$@"; }
sql() { sqlite3 -readonly "$out/gradebook.sqlite" "$1"; }
# cells FILE COLUMN...: these columns of a CSV file, one row per line
cells() { python3 -c 'import csv, sys
for row in csv.reader(open(sys.argv[1], encoding="utf-8-sig", newline="")): print(*[row[int(c)] or "-" for c in sys.argv[2:]])' "$@"; }
# The table on stdin: NUMBER LAB STATE MARKS, then the reason, which is not compared. These rows, and no others.
marks_are() {
    diff <(awk 'NF { print $1, $2, $3, $4 }' | sort) <(export_ json | jq -r '.students[] | (.roster.id // .number // .name) as $who
        | .labs[] | [$who, .lab[0:2], (.state | gsub(" "; "_")), .marks // "-"] | map(tostring) | join(" ")' | sort)
}
roster() { # ROW...: added to those before
    printf '%s\n' "$@" >> "$work/people"
    { echo id,name,email,lms,status && cat "$work/people"; } > "$work/roster.csv"
    "$gradebook" import-roster "$work/roster.csv" --out "$out"
}
course() { # [LINE...]: more lines for lab 6
    printf '%s\n' "[course]" "name = Term" "times = files" "late_days = 2" "[all]" "late_factor = 0.9" "[1]" "deadline = 2026-10-05 23:59 Z" \
        "[7]" "deadline = 2026-10-19 23:59 Z" "weight = 2" "[6]" "deadline = 2026-10-12 23:59 Z" "close = human" "$@" > "$work/course.ini"
}

echo "a term of three assignments."

# ---- Week 1: Moodle. Names are in NFD, and one folder in Latin-1 ----

m=$work/moodle
moodle() { kernel "$m/$(nfd "$1")_$2_assignsubmission_file_/kernel.cu" "${@:3}"; } # NAME NUMBER TIME...
moodle "Jörg Müller" 51 "2026-10-05 12:00 Z"
moodle "Zoë Ünal" 52 "2026-10-05 23:58 Z" slow 0.5
moodle "Ann Lee" 53 "2026-10-06 09:00 Z"
moodle "Ann Lee" 54 "2026-10-04 09:00 Z" wrong
moodle "Bo Ek" 55 "2026-10-04 09:00 Z"
moodle "Çağla Öz" 56 "2026-10-04 09:00 Z"
moodle "Ida Fox" 59 "2026-10-08 12:00 Z"
kernel "$m/$(latin1 "Élodie Brû")_60_assignsubmission_file_/kernel.cu" "2026-10-07 09:00 Z" slow 0.55
course
check "a roster of eight" status_is 0 roster '1,"Müller, Jörg",joerg@x.org,4711,' '2,Zoë Ünal,zoe@x.org,4712,' '3,Ann Lee,ann@x.org,4713,' \
    '4,Ann Lee,ann2@x.org,4714,' '5,Bo Ek,bo@x.org,4715,' '6,Çağla Öz,cagla@x.org,4716,' '9,Ida Fox,ida@x.org,4719,' '10,Élodie Brû,elodie@x.org,4720,'
check "Moodle's export" status_is 0 grade "$m" --labs 1 --assignment "lab 1"
check "which Ann Lee is which is asked" says "Ann Lee_53.*3 Ann Lee 4 Ann Lee" "$gradebook" match --out "$out"
check "the first" status_is 0 "$gradebook" match "Ann Lee_53" 3 --out "$out"
check "and so the second" status_is 0 "$gradebook" match "Ann Lee_54" 4 --out "$out"
check "everyone is identified" says "Every student is identified" "$gradebook" match --out "$out"
check "an extension" says "10, 01|Brû, 01_coalescing: 80.0 marks|still 80.0" by kim extend 10 1 2d --note "train strike"
check "week 1" marks_are << 'TABLE'
1   01  pass   100   on time
2   01  slow   75    50 + 50 * 0.25 / 0.5; a minute before the deadline
3   01  pass   100   one day late: a late day, 1 of 2
4   01  wrong  0
5   01  pass   100
6   01  pass   100
9   01  pass   90    three days late: two late days, one day at 0.9
10  01  slow   80    50 + 50 * 0.3 / 0.5; two days late, extended by two days
TABLE
check "the report says how many late days are used" says "1 of 2 late days used" "$gradebook" report --student 3 --out "$out"
check "an extension uses none" says "0 of 2 late days used" "$gradebook" report --student 10 --out "$out"
check "published" says "8 results published" publish --labs 1 --note "week 1"

printf '%s\n' "Identifier,Full name,Email address,Status,Grade,Maximum Grade" "Participant 51,Jörg Müller,joerg@x.org,,,10.00" \
    "Participant 53,Ann Lee,,,,10.00" "Participant 54,Ann Lee,,,,10.00" "Participant 52,$(nfd "Zoë Ünal"),,,,10.00" "Participant 60,Élodie Brû,elodie@x.org,,,10.00" > "$work/worksheet.csv"
check "Moodle's worksheet" export_ moodle --worksheet "$work/worksheet.csv" --lab 1 --to "$work/filled.csv"
check "read back" diff <(cells "$work/filled.csv" 0 4) - << 'ROWS'
Identifier Grade
Participant 51 10.00
Participant 53 10.00
Participant 54 0.00
Participant 52 7.50
Participant 60 8.00
ROWS

# ---- Week 2: Canvas, names in Latin-1, and a student who joined late ----

c=$work/canvas
canvas() { kernel "$c/$1_$2_9$2_kernel.cu" "${@:3}"; } # NAME NUMBER TIME...
canvas "$(latin1 müllerjörg)" 4711 "2026-10-12 12:00 Z"
canvas "$(latin1 ünalzoë)" 4712 "2026-10-14 12:00 Z" slow 0.6
canvas leeann 4713 "2026-10-12 12:00 Z" close 0.74
canvas leeann 4714 "2026-10-12 12:00 Z" slow 0.5
canvas ekbo 4715 "2026-10-12 12:00 Z"
canvas özçağla 4716 "2026-10-12 12:00 Z" suspect
canvas newneil 4717 "2026-10-13 12:00 Z"
canvas foxida 4719 "2026-10-13 12:00 Z" slow 0.5
(cd "$c" && zip -qr "$work/canvas.zip" .)
check "a roster with a student who joined late" status_is 0 roster '7,Neil New,neil@x.org,4717,'
check "Canvas's export" status_is 0 grade "$work/canvas.zip" --labs 6 --assignment "lab 6"
kernel "$work/late/Neil New/01_coalescing/kernel.cu" "2026-10-14 12:00 Z"
check "the first lab of the student who joined late" status_is 0 grade "$work/late" --labs 1 --assignment "lab 1, late"
check "nine days late" says "Neil New, 01_coalescing: 47.8 marks -> 100.0 marks" by kim extend 7 1 14d --note "joined in week 2"
check "week 2" marks_are << 'TABLE'
1   01  pass     100
1   06  pass     100
2   01  slow     75
2   06  slow     85    50 + 50 * 0.35 / 0.5; two days late: 2 of 2 late days
3   01  pass     100
3   06  close    -     waits for a person
4   01  wrong    0
4   06  slow     75
5   01  pass     100
5   06  pass     100
6   01  pass     100
6   06  suspect  -     waits for a person
7   01  pass     100   extended by 14 days
7   06  pass     100   one day late: 1 of 2
9   01  pass     90
9   06  slow     67.5  75, one day late, and no late day is left
10  01  slow     80
10  06  missing  0
TABLE
check "two kernels wait, with their evidence" says "Ann Lee .3., 06_transpose: .*Öz .6., 06_transpose: suspect.*2 wait" "$gradebook" waiting --out "$out"
check "the close one" says "no marks -> 100.0 marks" by kim decide 3 6 pass --note "0.74 of 0.75, noise"
check "the suspect one" says "no marks -> 100.0 marks" by kim decide 6 6 pass --note "prints a debug message, nothing else"
check "nothing waits" says "^(0|Nothing) wait" "$gradebook" waiting --out "$out"

# An appeal: graded again, with the same result, then a decision. The first decision was a typing error.
printf '%s\n' student,lab,note "ann2@x.org,6,the GPU was busy" > "$work/requests.csv"
check "requests to grade again" status_is 0 "$gradebook" regrade --requests "$work/requests.csv" --out "$out" --devices sim --trust-submissions
check "are graded" status_is 0 grade "$work/canvas.zip" --labs 6 --assignment "lab 6"
check "once" test "$(sql "SELECT group_concat(number) FROM attempts WHERE kernel = (SELECT kernel FROM attempts WHERE number = 2)")" = 1,2
check "a decision" says "75.0 marks -> 8.0 marks" by lou decide 4 6 8 --note "appeal"
check "is taken back" says "8.0 marks -> 75.0 marks" by lou decide 4 6 --undo --note "typing error"
check "and decided again" says "75.0 marks -> 80.0 marks" by lou decide 4 6 80 --note "appeal: half of the loss"

check "lab 6 is withheld, lab 1 is not" says "10 results published; students see them from 2999" publish --labs 1,6 --visible-from "2999-01-01 00:00 Z"
printf '%s\n' "Student,ID,SIS User ID,SIS Login ID,Section,Lab 6 (77)" "    Points Possible,,,,,20.00" '"Müller, Jörg",4711,1,,A,' '"Ünal, Zoë",4712,,,A,' \
    '"Lee, Ann",4713,3,,A,' '"Lee, Ann",4714,4,,A,' '"Öz, Çağla",4716,,,A,' '"New, Neil",4717,,,A,' '"Fox, Ida",4719,,,A,' > "$work/gradebook.csv"
check "withheld marks are not exported" status_is 3 export_ canvas --worksheet "$work/gradebook.csv" --lab 6
check "published a second time" status_is 0 publish --labs 1,6 --note "after the appeals"

# ---- The bar of lab 6 is changed, and changed back ----

course "bar of flat = 0.6"
attempts=$(sql "SELECT count(*) FROM attempts")
check "another bar" status_is 0 grade "$work/canvas.zip" --labs 6 --assignment "lab 6"
check "lab 6 by the bar 0.6" diff <(export_ marks | cells /dev/stdin 0 5 | sort -n) - << 'TABLE'
id 06_transpose
1 100.0
2 100.0
3 100.0
4 80.0
5 100.0
6 100.0
7 100.0
9 77.1
10 0.0
TABLE
check "the report says what changed since publishing" says "Zoë Ünal .2.: slow 85.0 -> " "$gradebook" report --out "$out"
course
check "the bar as before" status_is 0 grade "$work/canvas.zip" --labs 6 --assignment "lab 6"
check "nothing differs from what was published" not says "Not as published" "$gradebook" report --out "$out"
check "no kernel was graded again" test "$(sql "SELECT count(*) FROM attempts")" = "$attempts"

check "Canvas's gradebook" export_ canvas --worksheet "$work/gradebook.csv" --lab 6 --to "$work/upload.csv"
check "read back" diff <(cells "$work/upload.csv" 1 5 | tail -n +3) - << 'ROWS'
4711 20.00
4712 17.00
4713 20.00
4714 16.00
4716 20.00
4717 20.00
4719 13.50
ROWS

# ---- Week 3: Gradescope, without numbers; another student who joined late, a withdrawal, an excuse ----

g=$work/gradescope
gradescope() { # SUBMISSION TIME "NAME EMAIL" [VERDICT [RATIO]]
    kernel "$g/submission_$1/kernel.cu" "2026-10-25 12:00 Z" "${@:4}"
    printf 'submission_%s:\n  :submitters:\n%b  :created_at: %s\n' "$1" "$3" "$2" >> "$g/submission_metadata.yml"
}
who() { printf '  - :name: "%s"\\n    :sid: ""\\n    :email: %s\\n' "$1" "$2"; }
mkdir "$g"
gradescope 101 "2026-10-19 12:30:00 Z" "$(who "J\\\\xF6rg M\\\\xFCller" JOERG@x.org)$(who "Élodie Brû" elodie@x.org)"
gradescope 102 "2026-10-20 12:30:00 Z" "$(who "Zoë Ünal" zoe@x.org)"
gradescope 103 "2026-10-19 12:30:00 Z" "$(who "Ann Lee" ann@x.org)" wrong
gradescope 104 "2026-10-21 12:30:00 Z" "$(who "Ann Lee" ann2@x.org)"
gradescope 106 "2026-10-19 12:30:00 Z" "$(who "Çağla Öz" cagla@x.org)" slow 0.5
gradescope 107 "2026-10-19 12:30:00 Z" "$(who "Neil New" neil@x.org)" wrong
gradescope 108 "2026-10-19 12:30:00 Z" "$(who "Åsa Äng" asa@x.org)"
gradescope 109 "2026-10-20 09:59:00 Z" "$(who "Ida Fox" ida@x.org)"
(cd "$work" && zip -qr "$work/assignment.zip" gradescope)
sed -i '/^5,/s/$/withdrawn/' "$work/people"
check "a roster with a withdrawal" status_is 0 roster '8,Åsa Äng,asa@x.org,4718,'
check "Gradescope's export" status_is 0 grade "$work/assignment.zip" --labs 7 --assignment "lab 7"
check "an extension by ten hours" says "Ida Fox, 07_reduction: 90.0 marks -> 100.0 marks" by kim extend 9 7 "2026-10-20 10:00 Z" --note "network failure"
check "an excuse" says "07_reduction: 0.0 marks -> no marks" by kim excuse 7 7 --note "ill"
check "another" says "01_coalescing: 0.0 marks -> no marks" by kim excuse 8 1 --note "joined in week 3"
"$gradebook" export --format csv --to "$work/all.csv" --out "$out"
check "decisions, extensions and excuses are in the CSV file" diff <(python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8-sig", newline="")))
for r in rows:
    if r["decided"] or r["extended"] or r["excused"]: print(r["roster_id"], r["lab"][:2], r["decided"], r["decided_by"], r["decided_note"], r["extended"], r["excused"], sep="|")' "$work/all.csv" | sort) - << 'ROWS'
10|01||||2d|
3|06|pass|kim|0.74 of 0.75, noise||
4|06|80|lou|appeal: half of the loss||
6|06|pass|kim|prints a debug message, nothing else||
7|01||||14d|
7|07|||||ill
8|01|||||joined in week 3
9|07||||2026-10-20 10:00 Z|
ROWS
check "and in the JSON file" test "$("$gradebook" export --format json --out "$out" | jq -s '[.. | objects | select(.decided or .extended or .excused)] | length')" = 8

check "week 3" marks_are << 'TABLE'
1   01  pass     100
1   06  pass     100
1   07  pass     100   with student 10, as a group
2   01  slow     75
2   06  slow     85    the bar is 0.75 again
2   07  pass     90    one day late, and no late day is left
3   01  pass     100
3   06  close    100   decided
3   07  wrong    0
4   01  wrong    0
4   06  slow     80    decided after an appeal
4   07  pass     100   two days late: 2 of 2, since the wrong and the decided lab use none
5   01  pass     100   withdrawn: the marks stay
5   06  pass     100
5   07  withdrawn -    neither for nor against
6   01  pass     100
6   06  suspect  100   decided
6   07  slow     75
7   01  pass     100
7   06  pass     100
7   07  wrong    -     excused
8   01  missing  -     excused
8   06  missing  0
8   07  pass     100
9   01  pass     90
9   06  slow     67.5
9   07  pass     100   ten hours late, extended until a minute later
10  01  slow     80
10  06  missing  0
10  07  pass     100
TABLE
check "totals, by the weights 1, 1 and 2" diff <(export_ marks | cells /dev/stdin 0 7 8 | sort -n) - << 'TABLE'
id total open
1 100.0 0
2 85.0 0
3 50.0 0
4 70.0 0
5 100.0 0
6 87.5 0
7 100.0 0
8 66.7 0
9 89.4 0
10 70.0 0
TABLE
check "everyone is identified" says "Every student is identified" "$gradebook" match --out "$out"
check "two labs that were published are unchanged" not says "[1-9][0-9]* changed since" "$gradebook" report --out "$out"

# ---- Nothing is lost: each change, with its author and reason ----

while IFS='|' read -r who lab event; do
    check "history of $who, lab $lab: $event" says "$event" "$gradebook" history "$who" "$lab" --out "$out"
done << 'EVENTS'
10|1|deadline extended: 2d .*, by kim: train strike
7|1|deadline extended: 14d .*, by kim: joined in week 2
3|6|marks: pass .on kernel [0-9]+., by kim: 0.74 of 0.75, noise
6|6|graded +06_transpose +kernel [0-9]+: suspect.*by kim: prints a debug message, nothing else
4|6|requested +06_transpose +to grade kernel [0-9]+ again, by .+: the GPU was busy
4|6|attempt 2.*marks: 8 .on kernel [0-9]+., by lou: appeal .*undone: marks 8 .*, by lou: typing error.*marks: 80 .* by lou: appeal: half of the loss
4|6|published +06_transpose +80.0 marks, slow, by .+: after the appeals
9|7|deadline extended: 2026-10-20 10:00.*, by kim: network failure
7|7|excused.*, by kim: ill
8|1|excused.*, by kim: joined in week 3
2|6|a new course file.*a new course file
EVENTS
check "four assignments" test "$(sql "SELECT count(*) FROM (SELECT DISTINCT assignment FROM imports)")" = 4
check "each decision has an author and a reason" test "$(sql "SELECT count(*), min(length(author)) > 2, min(length(note)) > 2 FROM decisions")" = "10|1|1"
check "each submission is kept" test "$(sql "SELECT count(*) FROM kernels")" = $kernels
check "and graded once, except for the appeal" test "$(sql "SELECT count(*) FROM attempts")" = $((kernels + 1))

finish
