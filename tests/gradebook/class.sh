#!/bin/bash
# class.sh BUILD [STUDENTS [LABS [KEPT]]] - a generated class, graded from end to end on the simulated GPU, or on
# DEVICES (0,1,2,3: these GPUs).
#
# Each student submits one kernel per lab: a rung, a kernel of beyond/ or wrong/, an honest kernel of tests/honest, a
# cheat of tests/cheats, or the starter. Its first line names the verdict that it must get. An unused constant makes
# each kernel distinct. The submissions use all layouts that gradebook knows. At the end the script reports unexpected
# verdicts, the rate, the accuracy of the estimated time left, and gradebook's own memory. It fails if a verdict is
# unexpected or one of these figures exceeds its limit.
#
# LABS: as in gradebook's --labs (1,2,...). KEPT: a folder in which to keep the class and the gradebook. FROM=cheats
# takes only kernels whose path contains that word; SEED=N draws other kernels; JOBS=N runs N gradings at the same
# time; COURSE=FILE is a course file. Needs nvcc, libarchive, SQLite, jq and sqlite3, and bubblewrap unless TRUST=1.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build} students=${2:-6} labs=${3:-} kept=${4:-}
case $build in /*) ;; *) build=$PWD/$build ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
class=${kept:-$work}/class out=${kept:-$work}/results
devices=${DEVICES:-sim}
[ ! -e "$class" ] || { echo "class.sh: $class already exists"; exit 2; }
mkdir -p "$class" "$work/pool"
export WARPBOOK_BUILD=$build

# ---- Kernels and their expected verdicts ----

# Prints the verdict that a file's first line promises, as a pattern (see keeps in grader/judge/selfcheck.c).
expected() { # FILE
    local line word
    IFS= read -r line < "$1"
    case $1 in */0_starter.cu) echo unchanged; return ;; esac
    word=$(sed -nE 's/.*expect: ([a-z_]+).*/\1/p' <<< "$line")
    if [[ $devices == sim* ]]; then
        [[ $line =~ \(sim:\ ([a-z_]+)\) ]] && word=${BASH_REMATCH[1]}
        # Known errors of modelled time (tests/sim/time/check.sh).
        grep -qF "sim	$(cut -d/ -f2 <<< "$1")	$(cut -d/ -f3- <<< "$1")	" tests/sim/time/known.txt && word=device
    fi
    case $word in
    pass) echo 'pass|close|correct' ;;
    device) echo 'slow|pass|close|correct' ;;
    wrong_or_unsafe) echo 'wrong|unsafe' ;;
    any) echo 'slow|pass|close|correct|wrong|unsafe|stray|crash|timeout' ;;
    unsafe_or_stray) [[ $devices == sim* ]] && echo 'unsafe|wrong|stray' || echo 'unsafe|wrong|stray|crash' ;;
    correct) [[ $devices == sim* ]] && echo 'slow|pass|close|correct' || echo correct ;; # on the simulated GPU, its trick has no effect
    unsafe) [[ $devices == sim* ]] && echo unsafe || echo 'unsafe|wrong|crash|timeout' ;;
    *) echo "${word:-nothing}" ;;
    esac
}

# Prints the kernels of a lab in random order, one per student, the starter only once.
pool() { # LAB
    {
        ls solutions/"$1"/*.cu solutions/"$1"/*/*.cu tests/honest/"$1"_*.cu 2> /dev/null
        grep -l "^// lab: ${1#*_}$" tests/cheats/*.cu
    } | grep -e "${FROM:-.}" | while read -r file; do
        case $file:$(expected "$file") in
        *:skipped | *:unsound) ;; # needs a clock, or a feature that the simulated GPU lacks
        */0_starter.cu:*) echo "$file" ;;
        *:unchanged) ;; # the added constant would change its verdict
        *) echo "$file" ;;
        esac
    done | sort -R --random-source=<(yes "${SEED:-1} $1") > "$work/pool/$1"
    [ -s "$work/pool/$1" ] || return
    cat "$work/pool/$1"
    n=$(wc -l < "$work/pool/$1")
    grep -v 0_starter "$work/pool/$1" > "$work/pool/again"
    for (( ; n < students && $(wc -l < "$work/pool/again"); n += $(wc -l < "$work/pool/again"))); do
        cat "$work/pool/again"
    done
}

# ---- Layouts: the path of a student's kernel of a lab, and the student's name in the gradebook ----

hand_in() { # STUDENT LAB FILE: sets $who to the student's name
    local s=$1 lab=$2 top at
    printf -v top 'student%03d' "$s"
    who=$top,
    case $((s % 8)) in
    0) at=$top/labs/$lab/kernel.cu ;;
    1) at=zip/$top/labs/$lab/kernel.cu ;;
    2) at=tar/$top/warpbook-main/labs/$lab/kernel.cu ;;
    3) at="$top/my work/warpbook/labs/$lab/kernel.cu" ;;
    4) at=$top/labs/$lab/kernel.cu
        mkdir -p "$class/$top/.git" && echo "ref: refs/heads/main" > "$class/$top/.git/HEAD" ;;
    5) at=${top}_4$s"_assignsubmission_file_/$lab/kernel.cu" who=$top,4$s ;;
    6) at=zip/${top}_4$s"_assignsubmission_file_lab/$lab/kernel.cu" who=$top,4$s ;;
    7) at=${top}_4${s}_9${lab%%_*}_$lab.cu who=$top,4$s ;;
    esac
    mkdir -p "$class/$(dirname "$at")"
    cp "$3" "$class/$at"
    case $3 in
    */0_starter.cu) ;;
    *) printf '\nenum { handed_in_by = %d };\n' "$s" >> "$class/$at" ;;
    esac
}

pack() {
    local folder
    for folder in "$class"/zip/*; do
        [ ! -d "$folder" ] || find "$folder" -type f -printf "file %P %p\n" |
            "$build/make_archive" zip "$class/${folder##*/}.zip"
    done
    for folder in "$class"/tar/*; do
        [ ! -d "$folder" ] || tar -C "$folder" -czf "$class/${folder##*/}.tar.gz" .
    done
    rm -rf "$class/zip" "$class/tar"
}

generate() {
    local folder lab s file
    for folder in labs/*/lab.c; do
        lab=${folder%/lab.c} lab=${lab#labs/}
        [ "$lab" != 00_first ] || continue
        [[ -z $labs || ,$labs, == *,$((10#${lab%%_*})),* ]] || continue
        echo $((10#${lab%%_*})) >> "$work/labs"
        s=0
        pool "$lab" | head -n "$students" > "$work/chosen"
        while read -r file; do
            s=$((s + 1))
            hand_in $s "$lab" "$file"
            printf '%s,%s\t%s\t%s\n' "$who" "$lab" "$(expected "$file")" "$file" >> "$work/manifest"
        done < "$work/chosen"
    done
    pack
}

# ---- Grading: messages with their times, and peak memory ----

watch_memory() { # PID: records the peak memory of gradebook and its archive reader, in KiB
    local most=0 now one pid
    while kill -0 "$1" 2> /dev/null; do
        now=0
        for pid in $1 $(cat "/proc/$1/task/$1/children" 2> /dev/null); do
            [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = gradebook ] || continue
            one=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2> /dev/null)
            now=$((now + ${one:-0}))
        done
        [ $now -le $most ] || { most=$now; echo $most > "$work/memory"; }
        sleep 0.5
    done
}

grade() {
    local began=$SECONDS status line
    mkfifo "$work/said"
    "$build/gradebook" grade "$class" --out "$out" --devices "$devices" --labs "$(paste -sd, "$work/labs")" \
        ${JOBS:+--jobs "$JOBS"} ${COURSE:+--course "$COURSE"} ${TRUST:+--trust-submissions} 2> "$work/said" &
    local pid=$!
    watch_memory $pid &
    while IFS= read -r line; do
        echo "$line" >&2
        echo "$((SECONDS - began)) $line"
    done < "$work/said" > "$work/log"
    wait $pid
    status=$?
    took=$((SECONDS - began))
    return $status
}

# ---- Judging ----

# Prints unexpected rows: student, lab, file, expected and actual verdict. A flag on an honest kernel is unexpected,
# too.
compare() {
    "$build/gradebook" export --format json --out "$out" | jq -r '.students[] | .name + "," + (.number // "") as $who
        | .labs[] | [$who + "," + .lab, .state, .flag // ""] | @tsv' > "$work/states"
    awk -F'\t' 'NR == FNR { got[$1] = $2; flag[$1] = $3; next }
        { state = $1 in got ? got[$1] : "missing"
          honest = $3 !~ /wrong\/|cheats\//
          if (state !~ "^(" $2 ")$") print "  " $1 ": " $3 ": expected " $2 ", is " state
          else if (honest && flag[$1] != "") print "  " $1 ": " $3 ": an honest kernel is flagged: " flag[$1] }' \
        "$work/states" "$work/manifest"
}

# The error of the first estimate of the time left after a tenth of the gradings: "FACTOR after M s: estimated N s,
# took N s".
foresight() {
    awk -v took=$took '
        $3 == "of" && $5 ~ /^graded/ && $2 * 10 >= $4 && match($0, /about .* left/) {
            split(substr($0, RSTART, RLENGTH), word, " ")
            left = word[3] == "h" ? word[2] * 3600 + word[4] * 60 : word[3] == "min" ? word[2] * 60 : word[2]
            were = took - $1
            if (were < 60 || left <= 0) exit
            printf "%.2f after %d s: estimated %d s, took %d s\n", (left > were ? left / were : were / left), $1, left, were
            exit }' "$work/log"
}

generate
count=$(wc -l < "$work/manifest")
echo "$students students, $count kernels of $(wc -l < "$work/labs") labs."
if ! grade; then
    echo "gradebook failed"
    failed=1
fi
compare > "$work/unexpected"
distinct=$(sqlite3 -readonly "$out/gradebook.sqlite" "SELECT count(DISTINCT kernel) FROM counted")
attempts=$(sqlite3 -readonly "$out/gradebook.sqlite" "SELECT count(*) FROM attempts")
memory_mib=$(($(cat "$work/memory") / 1024)) foresight=
[ "$count" -lt 100 ] || foresight=$(foresight) # with fewer kernels, the first tenth says little
cut -f2 "$work/states" | sort | uniq -c | sort -rn | sed 's/^/  /'
head -40 "$work/unexpected"
echo "$distinct distinct kernels, $attempts gradings in $took s: $(awk "BEGIN { printf \"%.1f\", $attempts * 60 / ($took ? $took : 1) }") per minute."
echo "Estimated time left, wrong by a factor of: ${foresight:-unknown, the run was too short}"
echo "Memory of gradebook itself: $memory_mib MiB."
echo "$(wc -l < "$work/unexpected") of $count verdicts are unexpected."
[ "$distinct" = "$count" ] || { echo "some distinct kernels count as identical"; failed=1; }
[ "$memory_mib" -le 1024 ] || { echo "this exceeds 1 GiB"; failed=1; }
[ -z "$foresight" ] || awk "BEGIN { exit ${foresight%% *} > 1.5 }" || { echo "the estimate of the time left is wrong by more than a factor of 1.5"; failed=1; }
[ -z "${failed:-}" ] && [ ! -s "$work/unexpected" ]
