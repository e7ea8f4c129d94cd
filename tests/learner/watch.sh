#!/bin/bash
# watch.sh BUILD - tests make watch and make reset on a pseudo terminal, in a pipe and without either, with a scripted
# compiler and a scripted simulated GPU. Works in a copy of the workbook. Needs neither nvcc nor a GPU.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
warpbook=$build/warpbook terminal=$PWD/tests/learner/watch_terminal.py
. tests/check.sh
if ! command -v python3 > /dev/null; then
    echo "watch.sh needs python3 for a pseudo terminal: make setup" >&2
    exit 3
fi

export WARPBOOK_NVCC=$PWD/tests/fake_nvcc WARPBOOK_READELF=$PWD/tests/fake_nvcc
export WARPBOOK_RUNNER=$build/fake_runner WARPBOOK_SIM_RUNNER=$build/fake_runner WARPBOOK_FAKE_GPU=none
export WARPBOOK_BUILD=$work/build TMPDIR=$work TERM=xterm
unset NO_COLOR

copy=$work/copy
mkdir -p "$copy"
tar -c --exclude=./build --exclude=./.git --exclude=./.warpbook . | tar -x -C "$copy"
cd "$copy" || exit 3
kernel=$copy/labs/06_transpose/kernel.cu
starter=solutions/06_transpose/0_starter.cu

# submission NAME DIRECTIVE...: the reference with directives for the scripted GPU; another text each time.
submission() {
    local file=$work/$1.cu
    shift
    { cat solutions/06_transpose/5_padded.cu; echo "// $RANDOM$RANDOM"; } > "$file"
    [ $# = 0 ] || printf '// fake: %s\n' "$@" >> "$file"
}
submission good "ms 0.5"
submission wrong "wrong tail"
submission slow "ms 10"
submission long "silent at go"
submission broken
echo "int x = ; // nvcc: error expected an expression" >> "$work/broken.cu"

# on_terminal [ENV...]: make watch LAB=6 on a pseudo terminal; the script comes on standard input.
on_terminal() { env "$@" "$terminal" "$warpbook" watch 6; }
save() { echo "run cp $work/$1.cu $kernel"; }
fresh() { cp "$starter" "$kernel"; rm -rf .warpbook; }
# What a grading started and left: processes of this script's runner.
no_runner_left() { until_true not pgrep -f "^$build/[f]ake_runner"; }

# ---- From a save to a verdict ----

fresh
verdicts() {
    on_terminal << SCRIPT
see 60 not started
see 60 each save of kernel.cu is graded
$(save wrong)
see 60 ^06 transpose .*wrong\$
see 60 labs/06_transpose/kernel.cu
$(save good)
see 60 ^06 transpose .*pass\$
$(save broken)
see 60 ^06 transpose .*build\$
see 60 labs/06_transpose/kernel.cu:[0-9]+
type q
ends 0
restored
raw 1 \x1b\[\?1049l
SCRIPT
}
check "each save gets its verdict" verdicts
check "which progress remembers" grep -q "^lab:06_transpose verdict:build best:pass .*best_lab:" .warpbook/progress

same_verdict() { # the same line of progress as make grade writes
    cp "$work/slow.cu" "$kernel"
    "$warpbook" grade 6 > /dev/null && sed 's/ \(time\|attempts\|hints\|first\|told\|explained\):[^ ]*//g' .warpbook/progress > "$work/by_grade"
    rm -r .warpbook
    printf '' | "$warpbook" watch 6 > /dev/null
    sed 's/ \(time\|attempts\|hints\|first\|told\|explained\):[^ ]*//g' .warpbook/progress | diff "$work/by_grade" -
}
fresh
check "the verdict is the one of make grade" same_verdict

# ---- Two processes check the large cases ----

# By one process and by two: the same seed gives the same page.
as_by_one() { # DIRECTIVE
    { cat solutions/01_coalescing/2_*.cu; echo "// fake: $1"; } > "$work/case.cu"
    taskset -c 0 "$warpbook" grade 1 --seed 77 --submission "$work/case.cu" > "$work/by_one" 2>&1
    "$warpbook" grade 1 --seed 77 --submission "$work/case.cu" 2>&1 | diff "$work/by_one" - &&
        grep -q "$2" "$work/by_one"
}
check "all right" as_by_one "ms 0.5" "PASS: all 18 cases right"
check "a large case that is endless" as_by_one "endless 14" "17 cases that ran are right"
check "right on the first 12 calls only" as_by_one "stop-after 12" "WRONG: 12 right, 1 wrong, 5 not run"
check "wrong in the last call only" as_by_one "stop-after 18" "WRONG: 17 right, 1 wrong"

# ---- A long kernel, and keys while it runs ----

fresh
busy() {
    on_terminal WARPBOOK_PATIENCE=100 << SCRIPT
see 60 not started
$(save long)
see 60 compiles
run for i in \$(seq 200); do pgrep -f $build/[f]ake_runner && exit 0; sleep 0.05; done; exit 1
type h
see 5 Hint 1 of 3
lasted 2000
see 5 Enter: back
see 5 h: the next hint
type ?
see 5 each save is graded here
type l
see 5 A lab's number and Enter
type \x1b
hide 5 A lab's number and Enter
see 5 compiles
$(save good)
see 60 ^06 transpose .*pass\$
run ! pgrep -f $build/[f]ake_runner
type q
ends 0
SCRIPT
}
check "keys are answered while a kernel runs, and a save kills it" busy
check "nothing is left of it" no_runner_left

# Explain takes up to half a minute: its steps are shown, next to those of the grading, and keys are answered.
explains() {
    on_terminal WARPBOOK_PATIENCE=100 << SCRIPT
see 60 not started
$(save long)
see 60 compiles
type e
see 60 make explain is running, [1-9][0-9]* s so far
see 60 (?s)so far.*compiles.*being graded.*compiles
type ?
see 5 each save is graded here
lasted 100
type e
see 60 (?s)so far.*compiles
type l
see 5 A lab's number and Enter
lasted 100
type q
ends 0
SCRIPT
}
fresh
check "the steps of explain are shown, and a key ends it at once" explains
check "and nothing is left of it" no_runner_left

quits_while_busy() {
    on_terminal WARPBOOK_PATIENCE=100 << SCRIPT
$(save long)
see 60 compiles
$1
ends $2
restored
SCRIPT
}
for way in "type q|0" "type \\x03|0" "signal INT|-2" "signal TERM|-15" "signal HUP|-1" "signal QUIT|-3"; do
    fresh
    check "${way%|*} ends it and restores the terminal" quits_while_busy "${way%|*}" "${way#*|}"
    check "and leaves no process" no_runner_left
done
crashes() {
    on_terminal WARPBOOK_PATIENCE=100 << SCRIPT
$(save long)
see 60 compiles
run kill -SEGV \$PID
ends -11
restored
SCRIPT
}
fresh
check "even a crash restores the terminal" crashes
check "and leaves no process either" no_runner_left
child_crashes() {
    on_terminal WARPBOOK_PATIENCE=100 << SCRIPT
$(save long)
see 60 compiles
run kill -KILL \$(pgrep -P \$PID)
see 60 killed by signal 9
$(save good)
see 60 ^06 transpose .*pass\$
type q
ends 0
restored
SCRIPT
}
fresh
check "a grading that is killed is reported, and the next one works" child_crashes

stops() {
    on_terminal << SCRIPT
see 60 not started
type \x1a
state T
restored
$(save good)
signal CONT
see 60 ^06 transpose .*pass\$
type q
ends 0
restored
SCRIPT
}
fresh
check "Ctrl-Z stops it with the terminal restored, and it continues" stops

# ---- Editors ----

editors() {
    on_terminal << SCRIPT
see 60 not started
run cp $work/wrong.cu $kernel.swp && mv $kernel $kernel~ && mv $kernel.swp $kernel
see 60 ^06 transpose .*wrong\$
run rm $kernel
see 60 ^06 transpose .*file missing\$
run cp $work/good.cu $kernel
see 60 ^06 transpose .*pass\$
run mv labs/06_transpose labs/gone && sleep 0.2 && mv labs/gone labs/06_transpose && cp $work/wrong.cu $kernel
see 60 ^06 transpose .*wrong\$
run touch labs/06_transpose/.kernel.cu.swx labs/06_transpose/4913 && rm labs/06_transpose/4913 && sleep 0.3
see 1 ^06 transpose .*wrong\$
type q
ends 0
SCRIPT
}
fresh
check "an editor may rename, remove, create" editors
fresh
WARPBOOK_NO_INOTIFY=1 check "also where inotify fails" editors
rm -f labs/06_transpose/.kernel.cu.swx "$kernel~"

# ---- Terminals ----

sizes() {
    on_terminal << SCRIPT
see 60 not started
resize 12 40
see 5 more lines
type \x1b[6~
type j
see 5 quit
resize 2 10
resize 1 1
resize 50 200
hide 5 more lines
see 5 n next  h hint .* q quit
type q
ends 0
SCRIPT
}
fresh
check "the screen follows the terminal's size" sizes
dumb() {
    on_terminal TERM=dumb > "$work/dumb" << SCRIPT
see 60 Next: 
type h
see 5 Hint 1 of 3
$(save good)
see 60 cases right
see 60 PASS|: pass
raw 1 ^[^\x1b]+\$
type q
ends 0
restored
SCRIPT
}
fresh
check "a dumb terminal gets plain lines, and keys work" dumb
no_colour() {
    on_terminal NO_COLOR=$1 << SCRIPT
see 60 not started
$2
type q
ends 0
SCRIPT
}
fresh
check "NO_COLOR" no_colour 1 "raw 1 (?s)^(?!.*\\x1b\\[[0-9;]*m)"
check "and without it there are colours" no_colour "" "raw 1 \\x1b\\[1m06 transpose"

# ---- Without a terminal ----

fresh
cp "$work/good.cu" "$kernel"
in_pipe() { printf '' | "$warpbook" watch 6 > "$work/piped" 2>&1; }
check "the end of the input ends it, after a verdict" in_pipe
check "with the steps" holds "compiles .* cases right .* of the reference" "$work/piped"
keys_in_pipe() { printf l | "$warpbook" watch 6 2>&1 | grep -c "^09 sgemm\|^  12 of 12 cases right"; }
check "a key in a pipe is answered, too" test "$(keys_in_pipe)" = 2
# A SIGTERM for a job that had just been forked once ended watch itself.
many_keys() { { for _ in $(seq 60); do printf ghl; sleep 0.01; done; } | "$warpbook" watch 6; }
check "jobs that are killed as soon as they start" status_is 0 many_keys
check "and the result" holds "PASS|pass" "$work/piped"
check "without escapes" not grep -q $'\033' "$work/piped"
two_saves() {
    fresh
    mkfifo "$work/keys"
    "$warpbook" watch 6 < "$work/keys" > "$work/piped" 2>&1 &
    local pid=$!
    exec 7> "$work/keys"
    until_true grep -q "^Next: " "$work/piped" || return
    cp "$work/good.cu" "$kernel.new" && mv "$kernel.new" "$kernel" # cp alone could be seen half done
    until_true grep -qE "PASS|: pass" "$work/piped" || return
    printf h >&7
    until_true grep -q "solutions/06_transpose" "$work/piped" || return # the hint after a pass
    kill -TERM $pid
    wait $pid
    [ $? = 143 ]
}
check "one grading for each save; keys; SIGTERM" two_saves
exec 7>&-
pkill -P $$ warpbook # if it failed
check "a grading for each of the two" test "$(grep -c "kernel.cu: grading" "$work/piped")" = 2
full() { printf '' | "$warpbook" watch 6 > /dev/full 2> "$work/out"; }
check "a full disk for the output is reported" full
check "once" test "$(grep -c "cannot write the results" "$work/out")" = 1
# No file may grow, as on a full disk; then there is room again.
full_disk() {
    trap '' XFSZ
    "$terminal" prlimit --fsize=0:unlimited "$warpbook" watch 6 << SCRIPT
see 60 File too large
run prlimit --pid \$PID --fsize=unlimited:unlimited
$(save good)
see 60 ^06 transpose .*pass\$
type q
ends 0
restored
SCRIPT
    local status=$?
    trap - XFSZ
    return $status
}
fresh
check "a full disk is reported, and watch goes on" full_disk

# ---- Labs ----

all_but() { # LAB: every lab is passed except this one
    mkdir -p .warpbook
    for lab in labs/*/; do
        lab=$(basename "$lab")
        [ "$lab" = "$1" ] || echo "lab:$lab verdict:pass best:pass ratio:1.0000 hints:0 date:2026-11-21${2-}"
    done > .warpbook/progress
}
first_open() { printf '' | "$warpbook" watch > "$work/piped" 2>&1; cat "$work/piped"; grep -q "^$1" "$work/piped"; }
fresh
all_but 06_transpose
check "without a lab: the first that is not passed" first_open "labs/06_transpose/kernel.cu: grading"
all_but none
check "all are passed" first_open "All labs are done"
all_but none " format:2 best_lab:0123456789abcdef"
check "a lab that has changed is checked again" first_open "The lab has changed since you passed it"
changed() {
    on_terminal << SCRIPT
see 60 The lab has changed since you passed it\. Your kernel $1 passes\.
see 60 ^06 transpose .*$2\$
$(save slow)
see 60 ^06 transpose .*slow\$
hide 1 The lab has changed
type q
ends 0
SCRIPT
}
cp "$work/good.cu" "$kernel"
check "with success" changed still pass
all_but none " format:2 best_lab:0123456789abcdef"
cp "$work/wrong.cu" "$kernel"
check "or without" changed "no longer" wrong
check "then it is no longer passed" grep -q "^lab:06_transpose verdict:slow best:slow" .warpbook/progress
next() {
    on_terminal << SCRIPT
see 60 ^06 transpose
type n
see 60 ^07 reduction
type l
see 60 Next: lab 08 tail_effect: press n
type n
see 60 ^08 tail_effect
type l
see 60 A lab's number and Enter
type 17\r
see 5 There is no lab 17
type 3\x7f2\r
see 60 ^02 bank_conflicts
see 60 not started
type l
see 60 A lab's number and Enter
type ?
see 5 the starter back
type q
ends 0
SCRIPT
}
fresh
check "n turns to the next lab, l and a number to any" next
# What stays in the terminal after q names commands: there are no keys any more.
leaves() {
    on_terminal << SCRIPT
$(save slow)
see 60 ^06 transpose .*slow\$
see 60 Next: h shows a hint
type q
ends 0
raw 1 (?s)\x1b\[\?1049l.*Next: make hint LAB=transpose
raw 1 (?s)\x1b\[\?1049l(?!.*(shows a hint|press n|each save))
SCRIPT
}
fresh
check "the result stays in the terminal, with commands instead of keys" leaves
check "two labs are too many" status_is 2 "$warpbook" watch 1 2

# ---- Reset ----

fresh
check "the starter needs no reset" says "is the starter already" "$warpbook" reset 6 --yes
cp "$work/good.cu" "$kernel"
check "reset asks, so it needs a terminal" status_is 2 "$warpbook" reset 6
check "and changed nothing" cmp "$kernel" "$work/good.cu"
check "reset --yes" says "cp labs/06_transpose/kernel.cu.1 labs/06_transpose/kernel.cu" "$warpbook" reset 6 --yes
check "puts the starter back" cmp "$kernel" "$starter"
check "and keeps a copy" cmp "$kernel.1" "$work/good.cu"
cp "$work/slow.cu" "$kernel"
check "a second copy has a name of its own" says "kernel.cu.2" "$warpbook" reset 6 --yes
check "the first one stays" cmp "$kernel.1" "$work/good.cu"
asks() {
    "$terminal" "$warpbook" reset 6 << SCRIPT
see 5 \[y/N\]
type $1\r
ends 0
SCRIPT
}
cp "$work/good.cu" "$kernel"
check "no answer but y resets" asks n
check "so it is still there" cmp "$kernel" "$work/good.cu"
check "y does" asks y
check "there is the starter" cmp "$kernel" "$starter"
cp "$work/good.cu" "$kernel"
no_room() { (trap '' XFSZ; ulimit -f 0; "$warpbook" reset 6 --yes 2>&1 | cat); }
check "a full disk: nothing is changed" test "$(no_room | grep -c "^Nothing was changed: cannot keep a copy")" = 1
check "nor is an empty copy left" not test -e "$kernel.4"
check "the kernel is whole" cmp "$kernel" "$work/good.cu"
by_key() {
    on_terminal << SCRIPT
see 60 ^06 transpose .*pass\$
type r
see 5 Put the starter back
type n
hide 5 Put the starter back
type r
see 5 Put the starter back
type y
see 60 ^06 transpose .*not started
see 5 kernel.cu.4
type q
ends 0
SCRIPT
}
check "r asks once, resets, and says how to get back" by_key
check "reset for which lab?" status_is 2 "$warpbook" reset

finish
