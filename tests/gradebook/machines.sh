#!/bin/bash
# machines.sh BUILD - gradebook on unreliable machines: GPUs that drift, are noisy, vanish or are used by others, full
# disks, submissions that exceed limits; and labs that change. Uses a scripted warpbook, then the real warpbook with a
# scripted compiler and runner. Needs neither nvcc nor a GPU.
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

# kernel FILE NUMBER [LINE...]: a distinct kernel, with directives for the scripted warpbook.
kernel() {
    local file=$1 number=$2
    shift 2
    mkdir -p "$(dirname "$file")"
    { cat solutions/06_transpose/5_padded.cu; echo "#define MARK_$number"; } > "$file"
    [ $# = 0 ] || printf '// grader: %s\n' "$@" >> "$file"
}

# class NAME COUNT [LINE...]: COUNT students with one kernel each, all with the same directives.
class() {
    local name=$1 count=$2 i
    shift 2
    for ((i = 1; i <= count; i++)); do
        kernel "$work/$name/s$(printf %02d "$i")/06_transpose/kernel.cu" "$name$i" "$@"
    done
}
grade() { "$gradebook" grade "$work/$1" --out "$work/$1-out" --labs 6 "${@:2}"; }
trust() { grade "$@" --trust-submissions; }
states() {
    "$gradebook" export --format json --out "$work/$1-out" |
        jq -r '.students[] | .name + "," + .labs[0].state' | sort
}
all_are() { # CLASS STATE COUNT
    [ "$(states "$1" | grep -c ",$2\$")" = "$3" ] && return
    states "$1"
    return 1
}
sql() { sqlite3 -readonly "$work/$1-out/gradebook.sqlite" "$2"; }

echo "gradebook on unreliable machines: about two minutes."

# ---- Unreliable devices ----

class drift 6
for i in 1 2 3 4 5 6; do
    ms=$([ $i -lt 3 ] && echo 1.0 || echo 1.2)
    printf '// grader: on-0 line case.1.%s\n' label:flat "dim:8 8 0 0" "reference_ms:$ms" >> "$work/drift/s0$i/06_transpose/kernel.cu"
done
check "a device that becomes slower is taken out of service" says "Device 0 is taken out of service: the reference became slower: 1.200 ms instead of 1.000 ms in case flat of 06_transpose" \
    trust drift --devices 0 --jobs 1
check "its earlier gradings are kept" all_are drift pass 5
check "it grades no more kernels" all_are drift queued 1
check "another device continues" status_is 0 trust drift --devices 1
check "and grades all kernels" all_are drift pass 6

class slower 6
for i in 1 2 3 4 5 6; do
    ms=$([ $((i % 3)) = 0 ] && echo 1.0 || echo 1.3)
    printf '// grader: on-0 line case.1.%s\n' label:flat "dim:$i 8 0 0" "reference_ms:$ms" >> "$work/slower/s0$i/06_transpose/kernel.cu"
done
check "problem sizes with different times are no drift" status_is 0 trust slower --devices 0 --jobs 1

class noisy 3 "on-0 line case.1.label:flat" "on-0 line case.1.resolution:0.08000"
check "a grading on a noisy machine" status_is 0 trust noisy --devices 0,1 --jobs 1
check "another device repeats it" test "$(sql noisy "SELECT group_concat(DISTINCT device) FROM attempts WHERE outcome = 'graded'")" = 1
check "and the first attempt counts as a machine error" says "^noisy$" sql noisy "SELECT outcome FROM attempts WHERE device = '0' LIMIT 1"
class jumpy 2 "verdict correct" "on-0 line flag:disturbed"
check "a kernel whose every sample is disturbed" status_is 0 trust jumpy --devices 0
check "is graded three times, and the last grading counts" test "$(sql jumpy "SELECT group_concat(outcome) FROM attempts WHERE kernel = 1")" = noisy,noisy,graded
check "and carries the flag" test "$(sql jumpy "SELECT count(*) FROM verdicts WHERE verdict = 'correct' AND flag = 'disturbed'")" = 2
class loud 1
check "a device that is noisy from the start grades no kernel" says "Device 8 is taken out of service: its measurements are too noisy: 06_transpose, case flat: the reference compared with itself varies by 9 %" \
    trust loud --devices 8

class vanish 6
echo "// grader: vanish" >> "$work/vanish/s02/06_transpose/kernel.cu"
check "a GPU that vanishes is taken out of service" says "Device 0 is taken out of service: it cannot grade the workbook's starter of 06_transpose: .*no CUDA-capable device" \
    trust vanish --devices 0 --jobs 1
check "the other kernels stay open" says "run the same command to continue" trust vanish --devices 0
check "and gradings are kept" test "$(sql vanish "SELECT count(*) FROM verdicts")" -ge 1
rm "$work"/gone-*
sed -i '/vanish/d' "$work/vanish/s02/06_transpose/kernel.cu" # only a comment, so it is the same kernel to gradebook
sqlite3 "$work/vanish-out/gradebook.sqlite" "UPDATE kernels SET source = replace(source, '// grader: vanish', '')"
check "once it is back, grading continues" status_is 0 trust vanish --devices 0
check "every student has a result" all_are vanish pass 6

# ---- Early builds ----

class ahead 4 "sleep 0.2"
kernel "$work/ahead/s05/06_transpose/kernel.cu" ahead5 "verdict build"
check "grading with early builds" status_is 0 trust ahead --devices 0 --jobs 2
check "the built kernels are graded" all_are ahead pass 4
check "a kernel that does not build needs no GPU" test "$(wc -l < "$work/ahead-out/fake.log")" = 4
check "but its verdict names the device" says "^build.Scripted.GPU-0.not C$" sql ahead "SELECT verdict, device, uuid, why FROM verdicts WHERE verdict = 'build'"

# ---- A process without student code keeps each GPU initialised ----

ln -s "$build/fake_runner" "$work/keeper"
is_up() { pgrep -f "^$work/keeper --device $1" > "$work/pids"; }
soon() { # WORDS...: true if the command succeeds within ten seconds
    local i
    for ((i = 0; i < 100; i++)); do
        "$@" && return
        sleep 0.1
    done
    return 1
}
none_is_up() { ! is_up .; }
kept() {
    WARPBOOK_RUNNER=$work/keeper "$gradebook" grade "$work/kept" --out "$work/$1-out" --labs 6 --devices 0,1 \
        --trust-submissions > "$work/said-kept" 2>&1 &
}
class kept 4 "sleep 1"
kept kept
check "during gradings, a process keeps the first GPU initialised" soon is_up 0
check "and another process the second GPU" soon is_up 1
check "grading succeeds meanwhile" wait $!
check "both processes end with gradebook" none_is_up
kept killed
check "during another run, the process is there again" soon is_up 1
kill -9 $!
check "it ends even if gradebook is killed" soon none_is_up

# ---- Resources that the GPUs of one host share ----

# side_by_side: prints the largest number of simultaneous gradings
side_by_side() { awk '{ now += $1; if (now > most) most = now } END { print most + 0 }' "$work/spans"; }

class apart 0
for i in 1 2 3 4; do kernel "$work/apart/s0$i/05_streams/kernel.cu" "apart$i" "sleep 0.3"; done
class beside 4 "sleep 0.3"
: > "$work/spans"
check "a lab that moves data through the host" status_is 0 "$gradebook" grade "$work/apart" --out "$work/apart-out" --labs 5 --devices 0,1 --trust-submissions
check "is measured on one GPU at a time" test "$(side_by_side)" = 1
check "and no grading is missing" test "$(wc -l < "$work/spans")" -ge 10
: > "$work/spans"
check "grading of other labs" status_is 0 trust beside --devices 0,1
check "uses two GPUs at the same time" test "$(side_by_side)" = 2
rm "$work/spans"

# ---- Limits ----

class hold 1
kernel "$work/hold/s02/06_transpose/kernel.cu" hold2 "hold 400"
check "a grading that uses too much memory" status_is 3 trust hold --devices sim --jobs 2 --memory 200
check "is killed" says "s02, 06_transpose: died: it held more than 200 MiB of memory and was killed" "$gradebook" report --out "$work/hold-out"
check "and no other student's grading is" all_are hold pass 1
class fork 1
kernel "$work/fork/s02/06_transpose/kernel.cu" fork2 "fork 300"
check "a grading with too many processes" status_is 3 trust fork --devices sim --jobs 2
check "is killed, too" says "s02, 06_transpose: died: it had more than 256 processes and was killed" "$gradebook" report --out "$work/fork-out"
works=yes
bwrap --unshare-all --ro-bind / / true 2> /dev/null || works=
if [ $works ]; then
    class fill 1
    kernel "$work/fill/s02/06_transpose/kernel.cu" fill2 "fill 700"
    check "a build that fills the disk" status_is 0 grade fill --devices 0 --jobs 2
    check "is killed, and the kernel is graded without that build" all_are fill pass 2
    check "no file of the build is left" test ! -e "$work/fill-out/work"
else
    skip "bubblewrap does not work here: the size limit of a build is not tested"
fi

# ---- A full disk ----

# small SIZE SCRIPT: runs SCRIPT with a small file system that exists only meanwhile.
small() {
    bwrap --bind / / --dev-bind /dev /dev --proc /proc --size "$1" --tmpfs "$work/small" bash -c "$2"
}
class full 40
if [ $works ] && mkdir "$work/small" && small 300000 true 2> /dev/null; then
    small 300000 "
        fast() { $gradebook grade $work/full --out $work/small/out --labs 6 --devices sim --jobs 2 --trust-submissions; }
        fast 2> $work/said-full; echo \$? > $work/status-full
        $gradebook status --out $work/small/out > $work/status-then 2>&1
        true" 2> /dev/null
    check "a full disk" test "$(cat "$work/status-full")" = 3
    check "is reported" grep -q "The disk is full" "$work/said-full"
    small 65536 "
        $gradebook grade $work/full --out $work/small/out --labs 6 --devices sim --trust-submissions 2> $work/said-tiny; echo \$? > $work/status-full
        ls -A $work/small > $work/left"
    check "a disk that cannot hold an empty gradebook" test "$(cat "$work/status-full")" = 3
    check "is reported, too" grep -q "The disk is full" "$work/said-tiny"
    check "and nothing is left there" test ! -s "$work/left"
    cp -r "$work/drift-out" "$work/fixed"
    bwrap --bind / / --dev-bind /dev /dev --proc /proc --ro-bind "$work/fixed" "$work/fixed" bash -c "
        $gradebook report --out $work/fixed > $work/report-fixed 2>&1; echo \$? > $work/status-fixed
        $gradebook grade $work/drift --out $work/fixed --labs 6 --trust-submissions > $work/said-fixed 2>&1; echo \$? >> $work/status-fixed"
    check "on a read-only disk, reports work and grading does not" test "$(paste -sd, "$work/status-fixed")" = 0,3
    check "the report is the same" diff <("$gradebook" report --out "$work/drift-out") "$work/report-fixed"
    check "and the reason is reported" grep -q "You may not write there" "$work/said-fixed"
    small 12000000 "
        fast() { $gradebook grade $work/full --out $work/small/out --labs 6 --devices sim --jobs 2 --trust-submissions; }
        verdicts() { sqlite3 -readonly $work/small/out/gradebook.sqlite 'SELECT count(*) FROM verdicts'; }
        (for ((i = 0; i < 600; i++)); do [ \"\$(verdicts)\" -ge 1 ] && break; sleep 0.1; done
            head -c 20000000 /dev/zero > $work/small/filler) 2> /dev/null &
        fast 2> $work/said-full; echo \$? > $work/status-full
        wait
        verdicts > $work/then
        rm $work/small/filler
        fast > $work/again 2>&1; echo \$? >> $work/status-full
        sqlite3 -readonly $work/small/out/gradebook.sqlite 'PRAGMA integrity_check; SELECT count(*), count(DISTINCT kernel), max(number) FROM attempts' > $work/now"
    check "a disk that fills up during a run" test "$(paste -sd, "$work/status-full")" = 3,0
    check "is reported, with the remedy" grep -qE "run the same command again" "$work/said-full"
    check "some kernels were graded before" test "$(cat "$work/then")" -ge 1 -a "$(cat "$work/then")" -lt 40
    check "with space it continues, and no kernel is graded twice" test "$(paste -sd' ' "$work/now")" = "ok 40|40|1"
else
    skip "bubblewrap cannot create a small file system here: a full disk is not tested"
fi

# ---- The real warpbook ----

unset GRADEBOOK_WARPBOOK
cell=()
if [ ! $works ]; then
    skip "bubblewrap does not work here, so gradings run without it"
    cell=(--trust-submissions)
fi

# Two gradebooks share a GPU: each grades all its kernels, but they never grade at the same time.
class one 3
class two 3
grade one --devices 0 --quick "${cell[@]}" 2> "$work/said-one" &
first=$!
sleep 0.3
grade two --devices 0 --quick "${cell[@]}" 2> "$work/said-two" &
second=$!
wait $first
status=$?
wait $second
check "two gradebooks on one GPU" test "$status$?" = 00
check "both grade all their kernels" test "$({ states one; states two; } | grep -cE ',(pass|close|slow|correct)$')" = 6
if [ $works ]; then
    check "one gradebook waits and reports it" grep -q "Another grading is using device 0; waiting for it to finish" "$work/said-one" "$work/said-two"
    check "the second begins after the first has finished" test "$(
        { sql one "SELECT 'a', began FROM attempts"; sql two "SELECT 'b', began FROM attempts"; } | sort -t'|' -k2 | cut -d'|' -f1 | uniq | wc -l)" -le 2
    check "references are built once" test "$(ls "$work/one-out/sealed/"* | wc -l)" = 1
    check "and their text is never shown" grep -rq "^// sealed" "$work/one-out/sealed"
    check "and no line of their code" test -z "$(grep -rl "__global__" "$work/one-out/sealed" --include='[1-9]*.cu')"
fi

# An early build is not repeated while a GPU waits.
class once 1
echo "// nvcc: sleep 12" >> "$work/once/s01/06_transpose/kernel.cu"
check "a slow build" status_is 0 grade once --devices 0 --quick "${cell[@]}"
check "is done ahead of the grading" test "$(sql once "SELECT seconds < 12 FROM attempts")" = 1

# A changed lab is graded again, in a copy of the workbook.
mkdir "$work/book"
cp -r labs common solutions "$work/book/"
class change 2
book() { (cd "$work/book" && "$gradebook" grade "$work/change" --out "$work/change-out" --labs 6 --devices sim "${cell[@]}"); }
check "grading in a copy of the workbook" status_is 0 book
check "grades both kernels" test "$(sql change "SELECT count(*) FROM verdicts")" = 2
check "a second run there" status_is 0 book
check "grades no kernel" test "$(sql change "SELECT count(*) FROM verdicts")" = 2
echo "// the reference, in other words" >> "$work/book/solutions/06_transpose/5_padded.cu"
check "a changed lab is reported" says "06_transpose has changed since 2 kernels were graded: grading again" book
check "and its kernels are graded again" test "$(sql change "SELECT count(*), count(DISTINCT lab_hash) FROM verdicts")" = "4|2"
check "a further run there" status_is 0 book
check "grades no kernel again" test "$(sql change "SELECT count(*) FROM verdicts")" = 4

finish
