#!/bin/bash
# reports.sh BUILD [STUDENTS] - gradebook's reports of stored results: every export of a class with hostile names and
# files. 300 students x 9 labs must take at most 60 s of processor time in total. If Chromium is on the PATH, the
# script opens the class's page, sorts it and filters it. Needs neither nvcc nor a GPU.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build} students=${2:-40}
case $build in /*) ;; *) build=$PWD/$build ;; esac
gradebook=$build/gradebook
. tests/check.sh
export TMPDIR=$work GRADEBOOK_WARPBOOK=$PWD/tests/gradebook/fake_warpbook
labs="01_coalescing 02_bank_conflicts 03_divergence 04_ilp_tlp 05_streams 06_transpose 07_reduction 08_tail_effect 09_sgemm"

grade() { "$gradebook" grade "$work/class" --out "$work/results" --devices 9 --labs "${labs// /,}" --trust-submissions; }
export_to() { # FORMAT FILE
    "$gradebook" export --format "$1" --out "$work/results" > "$2"
}
export_files() { # FORMAT
    "$gradebook" export --format "$1" --to "$work/$1" --unpublished --out "$work/results"
}
sql() { sqlite3 "$work/results/gradebook.sqlite" "$@"; }

echo "reports of $students students."
mkdir "$work/class"
tests/gradebook/reports/make_class.sh "$students" "$labs" "$work/class"
rm "$work/class.names"
cpu_s() { awk -v hz="$(getconf CLK_TCK)" '{ print ($16 + $17) / hz }' /proc/$$/stat; } # of finished children
began_cpu=$(cpu_s) began=$(date +%s)
check "import (device 9 grades no kernel)" status_is 3 grade
check "no kernel is graded yet" test "$(sql 'SELECT count(*) FROM attempts')" = 0
check "an export for students with open marks" export_files gradescope
check "open labs count neither for nor against the score" jq -es 'all(.[]; .score == 0) and any(.[].tests[]; .max_score == 0)' $(find "$work/gradescope" -name '*.json' ! -name index.json)
check "results" sql ".read tests/gradebook/reports/results.sql"
check "grading the class" status_is 0 grade
check "status" "$gradebook" status --out "$work/results"
check "report" "$gradebook" report --out "$work/results"
check "CSV" export_to csv "$work/marks.csv"
check "JSON" export_to json "$work/marks.json"
check "HTML" export_to html "$work/class.html"
check "alike" export_to alike "$work/alike.csv"
check "Gradescope" export_files gradescope
check "Classroom" export_files classroom
check "feedback" export_files feedback
took=$(awk -v a="$began_cpu" -v b="$(cpu_s)" 'BEGIN { printf "%.1f", b - a }')
echo "import, queue, report and all exports: $took s of processor time, $(($(date +%s) - began)) s of wall time."
check "at most 60 s of one core" test "${took%.*}" -lt 60

check "an unknown format" status_is 2 "$gradebook" export --format pdf --out "$work/results"
check "a format with one file per student requires --to" status_is 2 "$gradebook" export --format feedback --out "$work/results"
mkdir "$work/closed" && : > "$work/closed/feedback"
check "a folder that cannot be created" status_is 3 "$gradebook" export --format feedback --unpublished --to "$work/closed/feedback" --out "$work/results"

# ---- CSV ----

rows=$((students * 9))
if ! command -v python3 > /dev/null; then
    echo "reports.sh needs python3 to read CSV and indexes: make setup" >&2
    exit 1
fi
check "begins with a byte-order mark" test "$(head -c 3 "$work/marks.csv" | od -An -tx1 | tr -d ' \n')" = efbbbf
python3 - "$work/marks.csv" > "$work/cells" << 'PYTHON'
import csv, sys
rows = list(csv.reader(open(sys.argv[1], encoding="utf-8-sig", newline="")))
print("rows", len(rows) - 1, "columns", sorted({len(row) for row in rows}))
for row in rows[1:]:
    for name, cell in zip(rows[0], row):
        if cell[:1] in tuple("=+-@\t\r\n＝＋－＠"):
            print("formula:", name, cell)
print("apostrophes", sum(row[0].startswith("'") for row in rows))
PYTHON
check "one row per student and lab, all with the same number of columns" grep -q "^rows $rows columns \[40\]" "$work/cells"
check "no cell is a formula" not grep -q formula "$work/cells"
check "names that would be formulas begin with an apostrophe" grep -q "^apostrophes 27" "$work/cells"

# ---- JSON ----

if python3 -c 'import jsonschema' 2> /dev/null; then
    check "JSON follows its schema" python3 tests/gradebook/reports/validate.py docs/gradebook.schema.json "$work/marks.json"
    jq '.students[0].labs[0].colour = 1' "$work/marks.json" > "$work/odd.json"
    check "and the schema rejects other documents" not python3 tests/gradebook/reports/validate.py docs/gradebook.schema.json "$work/odd.json"
    jq 'del(.students[0].labs[0].state)' "$work/marks.json" > "$work/odd.json"
    check "nor fewer" not python3 tests/gradebook/reports/validate.py docs/gradebook.schema.json "$work/odd.json"
else
    echo "skipped: the schema of the JSON export: python3-jsonschema is not installed (make setup)"
    skipped=$((skipped + 3))
fi
check "all students" test "$(jq '.students | length' "$work/marks.json")" = "$students"
check "names are exported unchanged" jq -e '.students[] | select(.name == "<img src=x onerror=alert(1)>")' "$work/marks.json"

# ---- One file per student ----

file_of() { # FORMAT NAME: prints the path of the student's file, from the index
    python3 - "$work/$1" "$2" << 'PYTHON'
import csv, os, sys
for row in csv.DictReader(open(sys.argv[1] + "/index.csv", encoding="utf-8-sig", newline="")):
    if row["student"].lstrip("'") == sys.argv[2]:
        print(os.path.join(sys.argv[1], row["file"]))
PYTHON
}
for format in gradescope classroom; do
    check "$format: one file per student" test "$(find "$work/$format" -name '*.json' ! -name index.json | wc -l)" = "$students"
done
jose=$(file_of gradescope "José Núñez")
check "Gradescope: the score is the sum" jq -e '.score == ([.tests[].score] | add)' "$jose"
check "Gradescope: nine tests of 100" jq -e '[.tests[].max_score] == [range(9) | 100]' "$jose"
check "Gradescope: output is plain text, not HTML" jq -e '.output_format == "text" and all(.tests[]; .output_format == "text")' "$jose"
check "Gradescope: visible only after publication" jq -e '.visibility == "after_published" and .stdout_visibility == "hidden"' "$jose"
jose=$(file_of classroom "José Núñez")
check "Classroom: whole numbers" jq -e '.schema == "classroom50/result/v1" and .score == ([.tests[].score] | add)
    and ."max-score" == 900 and all(.tests[]; .score == (.score | floor) and (keys == ["max-score", "passed", "score", "test-name"]))' "$jose"
check "names that would give the same file name get two files" test "$(find "$work/feedback" -iname 'ann_lee*.txt' | wc -l)" = 2

# ---- Pictures ----

check "pictures" export_files pictures
check "marks and speeds of each lab, as XML" python3 -c 'import glob, sys, xml.dom.minidom
files = glob.glob(sys.argv[1] + "/*-marks.svg") + glob.glob(sys.argv[1] + "/*-speed.svg")
assert len(files) == 18, files
for file in files: xml.dom.minidom.parse(file)' "$work/pictures"

# ---- Feedback ----

all_feedback() { cat "$work"/feedback/*.txt "$work"/feedback/*.html "$work"/gradescope/*.json; }
check "feedback: text and page" test "$(find "$work/feedback" -name '*.html' | wc -l) $(find "$work/feedback" -name '*.txt' | wc -l)" = "$students $students"
all_feedback > "$work/all_feedback"
check "no seed" not grep -qi feedc0de5eed0001 "$work/all_feedback"
check "no log" not grep -q "logs/" "$work/all_feedback"
sql "INSERT INTO remarks (submission, kind, entry, sentence)
    SELECT max(submission), 'suspicious', '', 'a thing for humans only' FROM seen;"
check "feedback again" export_files feedback
check "feedback does not contain remarks on suspicious words" not grep -rq "for humans only" "$work/feedback"
check "feedback contains no flags for humans" not grep -qi "interference" "$work/all_feedback"
others() { # prints a name that appears in another student's file; fails if there is one
    local name file own
    while IFS= read -r name; do
        own=$(file_of feedback "$name")
        for file in "$work"/feedback/*.txt; do
            [ "$file" = "$own" ] || ! grep -qF -- "$name" "$file" || { echo "$name: $file"; return 1; }
        done
    done < <(jq -r '.students[].name' "$work/marks.json" | head -12)
}
check "no file contains another student's name" others
check "the wrong element" grep -rqs "element 2048 (row 31, column 32) is NaN, right is 0.7243" "$work/feedback" --include=*.html
check "the ratio and the bar" grep -rqsE "case flat: 0\.[0-9]+ of the reference.*s speed .*; the bar is 0.75" "$work/feedback" --include=*.html
check "the source line" grep -rqs "^ *12: " "$work/feedback" --include=*.txt
check "a hint" grep -rqs "What to try next" "$work/feedback" --include=*.txt
check "pages: hostile text is escaped" not grep -qE "<(img|svg|script>doc)" <(cat "$work"/feedback/*.html)
check "pages: the policy forbids loading and running" test "$(grep -lF "default-src 'none'" "$work"/feedback/*.html | wc -l)" = "$students"

# Two students with the same kernel share one grading. A kernel with another comment is a different kernel.
two=$work/two
mkdir -p "$two"/{ann,ben,cleo}/06_transpose
{ cat solutions/06_transpose/1_naive.cu; echo "#define OWN 1 // a secret remark"; } > "$two/ann/06_transpose/kernel.cu"
cp "$two/ann/06_transpose/kernel.cu" "$two/ben/06_transpose"
{ cat solutions/06_transpose/1_naive.cu; echo "#define OWN 1 // cleo's"; } > "$two/cleo/06_transpose/kernel.cu"
"$gradebook" grade "$two" --out "$work/out2" --devices 9 --labs 6 --trust-submissions 2> /dev/null
line=$(wc -l < "$two/ann/06_transpose/kernel.cu")
sqlite3 "$work/out2/gradebook.sqlite" ".read tests/gradebook/reports/results.sql" "UPDATE verdicts SET verdict = 'build',
    why = 'it does not compile' || char(10) || 'kernel.cu:$line: error: odd' || char(10) || '#define OWN 1 // a secret remark'
    WHERE attempt IN (SELECT a.id FROM attempts a JOIN kernels k ON k.id = a.kernel
        WHERE instr(k.source, CAST('secret remark' AS BLOB)))"
"$gradebook" export --format feedback --to "$work/two_feedback" --unpublished --out "$work/out2" 2> /dev/null
same_as_others() { jq -c '[.students[].labs[].same_as_others]' <("$gradebook" export --format json --out "$work/out2"); }
check "two students share a kernel, the third has another" test "$(same_as_others)" = "[1,1,0]"
check "a student with a distinct kernel sees no other's line" not grep -q "secret remark" "$work/two_feedback/cleo.txt"
check "the compiler's message" grep -q "kernel.cu:$line: error: odd" "$work/two_feedback/ben.txt"

# ---- The page ----

check "page: one script" test "$(grep -c "<script nonce" "$work/class.html")" = 1
check "page: hostile text is escaped" not grep -qE "<(img|svg [^v]|script>doc|b>)" "$work/class.html"
check "page: needs no other file" not grep -qiE "(src|href)=\"?(https?:|//|[a-z]+\.(css|js))" "$work/class.html"
if command -v sim_c > /dev/null; then
    check "page: kernels made from one file are marked as similar" grep -q "⚑ 1\?[0-9]*[0-9] %" "$work/class.html"
    check "alike: the most similar pairs come first" awk -F, '{ sub(/\r$/, ""); kind = $1 ($NF ~ /^(beyond|[1-9]_).*\.cu$/) }
        NR > 2 && kind == last && $2 > percent { exit 1 }
        NR > 1 { last = kind; percent = $2; n++ } END { exit n < 10 }' "$work/alike.csv"
    "$gradebook" export --format alike --student "Student 12" --labs 1,6 --to "$work/his.csv" --out "$work/results"
    check "alike: of one student" test "$(wc -l < "$work/his.csv") $(grep -vc "Student 12" "$work/his.csv")" = "$(($(grep -cE '^(01|06).*Student 12' "$work/alike.csv") + 1)) 1"
    mkdir "$work/earlier" && sqlite3 "$work/results/gradebook.sqlite" ".backup $work/earlier/gradebook.sqlite"
    "$gradebook" export --format alike --against "$work/earlier" --student "Student 12" --labs 6 --to "$work/years.csv" --out "$work/results"
    check "alike: kernels of an earlier class" grep -q "^06_transpose,100,.*Student 12.* in $work/earlier" "$work/years.csv"
    check "alike: a folder that is no gradebook" status_is 3 "$gradebook" export --format alike --against "$work/class" --out "$work/results"
    check "page: similar kernels of the ladder are listed" grep -q "<bdi>[1-9]_[a-z0-9_]*.cu</bdi>" "$work/class.html"
else
    check "page: without sim_c it says that nothing was compared" grep -q "sim_c is not installed" "$work/class.html"
fi
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$chromium" ]; then
    nonce=$(sed -n 's/.*<script nonce="\([0-9a-f]*\)">.*/\1/p' "$work/class.html")
    { sed 's#</main>##; s#</body>##; s#</html>##' "$work/class.html"
        echo "<script nonce=\"$nonce\">"; cat tests/gradebook/reports/exercise.js; echo "</script></main></body></html>"; } > "$work/exercise.html"
    cp tests/gradebook/reports/narrow.html "$work/"
    for page in exercise narrow; do
        timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" --window-size=1280,900 \
            --virtual-time-budget=20000 --dump-dom "file://$work/$page.html" > "$work/dom" 2> "$work/chromium.log"
        check "page, $page: the exercise runs to its end" grep -q "end of exercise" "$work/dom"
        check "page, $page: it sorts, filters and runs no foreign script" not grep "^NO " "$work/dom"
    done
    if command -v pdftotext > /dev/null; then
        timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/chromium" --no-pdf-header-footer \
            --print-to-pdf="$work/class.pdf" "file://$work/class.html" > "$work/chromium.log" 2>&1
        check "page, printed: the table's head repeats on the second sheet" grep -q 09_sgemm <(pdftotext -f 2 -l 2 "$work/class.pdf" -)
    else
        skip "the page on paper: pdftotext is not installed (apt install poppler-utils)"
    fi
    check "page, narrow: the layout is as wide as a phone" grep -qE "wide: 3(75|90)" "$work/dom"
else
    echo "skipped: the page in a browser: Chromium is not installed (apt install chromium)"
    skipped=$((skipped + 6))
fi

finish
