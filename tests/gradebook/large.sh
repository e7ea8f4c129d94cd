#!/bin/bash
# large.sh BUILD [STUDENTS] - a large class whose results are already stored: import, queue, status, report, publishing
# and exports together must take at most one minute of processor time, which does not depend on other load, and each
# of them at most 200 MiB. The verdicts are written directly into the database, each with 40 figures, as many as a
# grading on a GPU has.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build} students=${2:-300}
case $build in /*) ;; *) build=$PWD/$build ;; esac
gradebook=$build/gradebook
. tests/check.sh
export WARPBOOK_BUILD=$build GRADEBOOK_WARPBOOK=$PWD/tests/gradebook/fake_warpbook TMPDIR=$work
most_s=60

mkdir "$work/class"
for lab in solutions/0[1-9]*; do
    text=$(< "$(ls "$lab"/[1-9]*.cu | head -1)") lab=${lab#solutions/}
    eval "mkdir -p $work/class/student{1..$students}/labs/$lab"
    for ((s = 1; s <= students; s++)); do
        printf '%s\nenum { handed_in_by = %d };\n' "$text" $s > "$work/class/student$s/labs/$lab/kernel.cu"
    done
done
grade() { measured "$gradebook" grade "$work/class" --out "$work/stored" --devices "$1" --labs 1,2,3,4,5,6,7,8,9 --trust-submissions; }

# Moodle's grading worksheet and Canvas's gradebook of this class.
{ echo "Identifier,Full name,Email address,Status,Grade,Maximum Grade"; seq "$students" | awk '{ print "Participant " $1 ",student" $1 ",,Submitted,,10.00" }'; } > "$work/moodle.csv"
{ printf '%s\n' "Student,ID,SIS Login ID,Section,Lab 6 (1)" "    Points Possible,,,,10.00"; seq "$students" | awk '{ print "student" $1 "," $1 ",,A," }'; } > "$work/canvas.csv"
# The options that a format needs.
options_of() { # FORMAT
    case $1 in
    moodle*) echo "--worksheet $work/moodle.csv --lab 6" ;;
    canvas) echo "--worksheet $work/canvas.csv --lab 6" ;;
    gradescope | classroom | feedback | pictures) mkdir -p "$work/files/$1" && echo "--to $work/files/$1" ;;
    esac
}
# Runs a command and notes its memory.
measured() {
    python3 -c 'import resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, *sys.argv[3:6], file=open(sys.argv[1], "a"))
sys.exit(status)' "$work/peaks" "$@"
}
processor_s() { awk '{ print ($14 + $15 + $16 + $17) / 100 }' /proc/$$/stat; } # of this shell and its finished children

began=$(date +%s.%N) began_cpu=$(processor_s)
check "a broken device grades no kernel" status_is 3 grade 9
imported=$(date +%s.%N) imported_cpu=$(processor_s)
sqlite3 "$work/stored/gradebook.sqlite" "
    INSERT INTO attempts (kernel, number, device, began, seconds, outcome, why, log)
        SELECT id, 1, '0', '2026-01-01T00:00:00Z', 5, 'graded', '', 'logs/none' FROM kernels;
    INSERT INTO verdicts SELECT a.id, CASE k.id % 3 WHEN 0 THEN 'pass' WHEN 1 THEN 'slow' ELSE 'wrong' END,
        k.id % 101, (k.id % 120) / 100.0, 'a reason', '', '', 'a GPU', 'GPU-0', '', '1', '1', '0', 'full', '0', '0', '0'
        FROM attempts a JOIN kernels k ON k.id = a.kernel;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
        INSERT INTO figures SELECT a.id, 'case.' || i || '.ratio', '0.5' FROM attempts a, n;" || exit 1
stored=$(date +%s.%N) stored_cpu=$(processor_s)
check "no kernel is left to grade" status_is 0 grade sim
queued=$(date +%s.%N)
check "status" status_is 0 measured "$gradebook" status --out "$work/stored"
check "report" status_is 0 measured "$gradebook" report --out "$work/stored"
check "publish" status_is 0 measured "$gradebook" publish --labs 1,2,3,4,5,6,7,8,9 --out "$work/stored"
for format in $("$gradebook" export --out "$work/stored" --format nothing 2>&1 | sed -n 's/.*--format //p' | tr -d ','); do
    began_one=$(date +%s.%N)
    check "export $format" measured "$gradebook" export --format "$format" --out "$work/stored" $(options_of "$format")
    [ -s "$work/said" ] || [ -n "$(ls "$work/files/$format" 2> /dev/null)" ] || { echo "FAILED: export $format is empty"; failed=$((failed + 1)); }
    spans="${spans:-}, $format $(awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $began_one }")"
done
over=$(date +%s.%N)
cpu=$(awk "BEGIN { printf \"%.1f\", $imported_cpu - $began_cpu + $(processor_s) - $stored_cpu }")
took=$(awk "BEGIN { printf \"%.1f\", $imported - $began + $over - $stored }")
echo "$students students x 9 labs: import $(awk "BEGIN { printf \"%.1f\", $imported - $began }") s, again" \
    "$(awk "BEGIN { printf \"%.1f\", $queued - $stored }") s, all together $took s, $cpu s of a processor (exports${spans})"
peak_mib=$(sort -rn "$work/peaks" | head -1)
echo "most memory: ${peak_mib%% *} MiB (${peak_mib#* })"
check "at most 200 MiB" test "${peak_mib%% *}" -le 200
check "at most $most_s s of processor time" awk "BEGIN { exit !($cpu <= $most_s) }"
[ $failed = 0 ]
