#!/bin/bash
# slurm.sh BUILD [real] - gradebook --executor slurm from end to end: arrays, tasks that are cancelled, requeued or
# lost, and a gradebook that is killed. Uses a scripted Slurm (tests/gradebook/fake_slurm), or, with `real`, this
# machine's slurmctld and slurmd in a separate cluster (make test-slurm). warpbook is always scripted.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build} kind=${2:-scripted}
case $build in /*) ;; *) build=$PWD/$build ;; esac
gradebook=$build/gradebook
. tests/check.sh

export WARPBOOK_NVCC=$PWD/tests/fake_nvcc WARPBOOK_READELF=$PWD/tests/fake_nvcc
export GRADEBOOK_WARPBOOK=$PWD/tests/gradebook/fake_warpbook WARPBOOK_PATIENCE=0.1 TMPDIR=$work/tmp
mkdir "$work/tmp"

if [ "$kind" = real ]; then
    . tests/gradebook/slurm_cluster.sh
    for program in munged slurmctld slurmd sbatch; do
        command -v $program > /dev/null && continue
        echo "skipped: gradebook with Slurm: $program is not installed (Debian, Ubuntu: apt install slurmctld slurmd slurm-client munge)"
        exit 0
    done
    trap 'cluster_stop; rm -rf "$work"' EXIT
    echo "gradebook with a Slurm cluster on this machine: about five minutes."
    cluster_start || exit 1
else
    export FAKE_SLURM=$work/slurm
    mkdir -p "$FAKE_SLURM/bin"
    for program in sbatch squeue scancel scontrol sacct controller; do
        ln -s "$PWD/tests/gradebook/fake_slurm" "$FAKE_SLURM/bin/$program"
    done
    export PATH=$FAKE_SLURM/bin:$PATH
    echo "gradebook with a scripted Slurm: about two minutes."
fi

kernel() { # FILE NUMBER [DIRECTIVE]
    mkdir -p "$(dirname "$1")"
    { cat solutions/06_transpose/5_padded.cu; echo "#define MARK_$2"; } > "$1"
    [ -z "${3:-}" ] || echo "// grader: $3" >> "$1"
}
states() {
    "$gradebook" export --format json --out "$1" | jq -r '.students[] | .name as $who
        | .labs[] | [$who, .lab, .state, .marks // "-"] | map(tostring) | join(",")'
}
state_is() { # DIR "STUDENT,LAB,STATE"
    grep -q "^$2" <(states "$1") && return
    echo "no row $2"
    states "$1"
    return 1
}
sql() { sqlite3 -readonly "$1/gradebook.sqlite" "$2"; }

trust=--trust-submissions
slurm() { # CLASS OUT OPTION...
    local class=$1 out=$2
    shift 2
    timeout 200 "$gradebook" grade "$class" --out "$out" --labs 6,7 --executor slurm --devices sim $trust "$@"
}
local_too() { "$gradebook" grade "$1" --out "$2" --labs 6,7 --devices sim --jobs 4 $trust; }

job_of() { cat "$1/slurm/batch/job"; }
running() { # OUT: prints the running tasks of its array, as 12_3
    squeue --noheader --array --states=all --jobs "$(job_of "$1")" '--format=%i|%T|%N|%r' | sed -n 's/|RUNNING|.*//p'
}
has_running() { [ -n "$(running "$1")" ]; }
logs() { cat "$1"/slurm/batch/warpbook-*/*/*.txt; } # prints the logs of its attempts; fails if none exists
grading() { # OUT: prints a task that is grading now
    local log kernel task
    log=$(grep -l "^outcome: begun" "$1"/slurm/batch/warpbook-*/*/*.txt | head -n 1)
    kernel=$(basename "$log" .txt)
    task=$(sed 's/$/,/' "$1/slurm/batch/tasks" | grep -n "[ ,]$kernel," | cut -d: -f1)
    echo "$(job_of "$1")_$((task - 1))"
}
task_pids() { pgrep -f -- "gradebook grade $1/slurm/batch/kernels "; } # the gradebooks of its tasks
parent_of() { sed -n 's/^PPid:\t//p' "/proc/$1/status"; }
attempts() { sql "$1" "SELECT count(*), count(DISTINCT kernel) FROM attempts WHERE outcome = 'graded'"; }
submissions() { # the number of arrays submitted so far
    if [ "$kind" = real ]; then
        grep -c _slurm_rpc_submit_batch_job "$work/cluster/slurmctld.log"
    else
        ls -d "$FAKE_SLURM"/[0-9]*/ | wc -l
    fi
}
nothing_left() { [ -z "$(task_pids "$1")" ]; }
no_folder_left() { [ -z "$(ls -A "$work/tmp")" ]; }

# ---- Without disturbance: the same results as with the local executor ----

c=$work/class
for i in {1..6}; do
    kernel "$c/s$i/06_transpose/kernel.cu" "$i" "verdict $([ $((i % 3)) = 0 ] && echo wrong || echo slow)
// grader: sleep 0.4"
    kernel "$c/s$i/07_reduction/kernel.cu" "r$i" "sleep 0.4"
done
check "the local executor" status_is 0 local_too "$c" "$work/local"
check "undisturbed" status_is 0 slurm "$c" "$work/calm" --batch 3
check "the same results" diff <(states "$work/local") <(states "$work/calm")
check "one attempt per kernel" test "$(attempts "$work/calm")" = "12|12"
check "in one array" test "$(submissions)" = 1
check "attempts record the node" test "$(sql "$work/calm" "SELECT count(*) FROM attempts WHERE device LIKE '%: sim'")" = 12
check "no process is left" until_true nothing_left "$work/calm"
check "and no folder is left on the nodes" until_true no_folder_left
check "no batch, either" test ! -e "$work/calm/slurm/batch"
check "no kernel is graded twice" status_is 0 slurm "$c" "$work/calm"
check "and nothing is submitted twice" test "$(submissions)" = 1
if bwrap --unshare-all --ro-bind / / true 2> /dev/null; then
    trust=
    check "in bubblewrap" status_is 0 slurm "$c" "$work/cell" --batch 6
    check "the same results" diff <(states "$work/local") <(states "$work/cell")
    trust=--trust-submissions
else
    skip "bubblewrap does not work here"
fi

# ---- Options and names ----

odd="$work/o'dd %j \$(touch $work/oops) \`x\`"$'\n'"line"
check "an odd name" status_is 0 slurm "$c" "$odd" --batch 12
check "the same results" diff <(states "$work/local") <(states "$odd")
check "the name was not run as a command" test ! -e "$work/oops"
mkdir "$work/shared"
check "a shared folder elsewhere" status_is 0 slurm "$c" "$work/apart" --shared "$work/shared"
check "the same results" diff <(states "$work/local") <(states "$work/apart")
check "the shared folder is empty afterwards" test -z "$(ls -A "$work/shared")" -a ! -L "$work/apart/slurm"
check "a shared folder that does not exist" says "cannot make a folder for Slurm's tasks in /nonexistent" slurm "$c" "$work/refused" --shared /nonexistent
check "a rejected job" says "Slurm rejected the job: .*[Ii]nvalid partition" slurm "$c" "$work/refused" --partition nosuch
check "exits with the status of a machine error" status_is 3 slurm "$c" "$work/refused" --partition nosuch
check "and leaves no batch behind" test ! -e "$work/refused/slurm/batch"
check "a reserved option" says "invalid value for --slurm-option: .--array=7" slurm "$c" "$work/refused" --slurm-option=--array=7
check "--devices with a real GPU is refused" says "Slurm chooses the GPUs" "$gradebook" grade "$c" --out "$work/refused" --executor slurm --devices 1
check "an unknown executor is refused" status_is 2 "$gradebook" grade "$c" --out "$work/refused" --executor pbs
check "an invalid list of kernels" status_is 2 "$gradebook" grade "$c" --kernels 17 --labs 6 --out "$work/listed"
check "listed kernels of two labs" status_is 2 "$gradebook" grade "$c" --kernels 17.1 --labs 6,7 --out "$work/listed"
check "a folder of logs without listed kernels" status_is 2 "$gradebook" grade "$c" --logs "$work" --labs 6 --out "$work/listed"
mkdir "$work/sources"
kernel "$work/sources/17.cu" listed "verdict slow"
check "listed kernels" status_is 0 "$gradebook" grade "$work/sources" --kernels 17.2 --labs 6 --devices sim $trust --out "$work/listed"
check "have the log of that attempt" grep -q "^outcome: graded" "$work/listed/logs/06_transpose/17.2.txt"
check "a listed kernel that is missing" status_is 3 "$gradebook" grade "$work/sources" --kernels 18.1 --labs 6 --devices sim $trust --out "$work/listed"
if [ "$kind" = real ]; then
    "$gradebook" grade "$c" --out "$work/gpu" --labs 6 --executor slurm $trust --account x --partition lab \
        --slurm-option=--cpus-per-task=1 --slurm-option=--comment="it's" > "$work/out" 2>&1
    check "one GPU per task" test $? = 0
    check "too many GPUs per task" status_is 3 slurm "$c" "$work/gpus" --gres gpu:3
else
    check "one GPU per task" grep -qE -- "--gres=gpu:1 --cpus-per-task=4 --account=a b --partition=p" <(
        slurm "$c" "$work/options" --devices sim > /dev/null 2>&1
        "$gradebook" grade "$c" --out "$work/gpu" --labs 6 --executor slurm $trust --account "a b" --partition p --jobs 1 \
            --slurm-option=--comment=x > /dev/null 2>&1
        cat "$FAKE_SLURM/submitted")
    check "--jobs limits the number of simultaneous tasks" grep -q -- "--array=0-0%1 .*--comment=x /" "$FAKE_SLURM/submitted"
fi

# ---- Tasks that are lost ----

s=$work/slow
for i in {1..4}; do
    kernel "$s/s$i/06_transpose/kernel.cu" "$i" "verdict slow
// grader: sleep 1"
    kernel "$s/s$i/07_reduction/kernel.cu" "r$i" "sleep 1"
done
check "slow ones, locally" status_is 0 local_too "$s" "$work/slow-local"

# disturb OUT WHAT: grades, and calls the function WHAT once a task has begun a grading.
disturb() {
    local out=$1
    slurm "$s" "$out" --batch 4 > "$work/said-disturbed" 2>&1 &
    local pid=$! task=
    until_true logs "$out" || return 1
    sleep 0.5
    "$2" "$out"
    wait $pid
}
cancel_one() { scancel "$(grading "$1")"; }
requeue_one() { scontrol requeue "$(grading "$1")"; }
kill_script() { kill -9 "$(parent_of "$(task_pids "$1" | head -n 1)")"; }
kill_step() { kill -9 "$(parent_of "$(parent_of "$(task_pids "$1" | head -n 1)")")"; }
kill_task() { kill -9 "$(task_pids "$1" | head -n 1)"; }
for what in cancel_one requeue_one kill_step kill_script kill_task; do
    check "$what" status_is 0 disturb "$work/$what" $what
    check "$what: the same results" diff <(states "$work/slow-local") <(states "$work/$what")
    check "$what: each graded once" test "$(attempts "$work/$what")" = "8|8"
    check "$what: the lost attempt is a machine error" test "$(sql "$work/$what" "SELECT count(*) > 0 FROM attempts
        WHERE outcome = 'died' AND why LIKE '%Slurm%task%before this kernel was graded%'")" = 1
    check "$what: no process is left" until_true nothing_left "$work/$what"
done
kernel "$work/bad/ann/06_transpose/kernel.cu" b1 "murder"
kernel "$work/bad/ben/06_transpose/kernel.cu" b2
kernel "$work/bad/cid/06_transpose/kernel.cu" b3 "first unsound"
kernel "$work/bad/dot/06_transpose/kernel.cu" b4 "verdict wrong"
check "a kernel that kills its task" status_is 3 slurm "$work/bad" "$work/murder" --batch 4
check "is given up" state_is "$work/murder" "ann,06_transpose,not graded"
check "after three attempts" test "$(sql "$work/murder" "SELECT count(*) FROM attempts a JOIN kernels k ON k.id = a.kernel
    WHERE instr(CAST(k.source AS TEXT), 'murder')")" = 3
check "other kernels of the task are graded" state_is "$work/murder" "ben,06_transpose,pass"
check "and get their own verdicts" state_is "$work/murder" "dot,06_transpose,wrong"
check "machine errors are reported" says "ann, 06_transpose: died: Slurm's task .* before this kernel was graded" "$gradebook" report --out "$work/murder"
printf '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "warpbook: no GPU is usable" >&2\nexit 3\n' > "$work/broken"
chmod +x "$work/broken"
check "nodes that cannot grade" status_is 3 env GRADEBOOK_WARPBOOK="$work/broken" timeout 120 "$gradebook" grade "$s" \
    --out "$work/unfit" --labs 6,7 --executor slurm --devices sim $trust
check "are reported with the reason" grep -qE "and graded nothing: Device sim is taken out of service: .*no GPU is usable" "$work/out"
check "and give no verdict" test "$(sql "$work/unfit" "SELECT count(*) FROM attempts")" = 0
check "once they can grade, the same command continues" status_is 0 slurm "$s" "$work/unfit"

# ---- A gradebook that is killed or stopped ----

before=$(submissions) kills=0
for i in {1..6}; do
    "$gradebook" grade "$s" --out "$work/killed" --labs 6,7 --executor slurm --devices sim $trust --batch 2 2> /dev/null &
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    kill -9 $! 2> /dev/null && kills=$((kills + 1))
    wait $! 2> /dev/null
done
check "killed $kills times, then continued" status_is 0 slurm "$s" "$work/killed" --batch 2
check "the same results" diff <(states "$work/slow-local") <(states "$work/killed")
check "nothing was graded twice" test "$(sql "$work/killed" "SELECT count(*), count(DISTINCT kernel), max(number) FROM attempts")" = "8|8|1"
check "only one array was submitted" test "$(submissions)" = $((before + 1))
"$gradebook" grade "$s" --out "$work/stopped" --labs 6,7 --executor slurm --devices sim $trust --batch 2 --shared "$work/shared" 2> "$work/said-stopped" &
pid=$!
check "the array is running" until_true has_running "$work/stopped"
kill -INT $pid
wait $pid
check "Ctrl-C" test $? = 130
check "says that the array keeps running" grep -qE "array [0-9]+ keeps running; to cancel it: scancel [0-9]+" "$work/said-stopped"
check "and how to continue" grep -q "Run the same command to continue" "$work/said-stopped"
check "meanwhile the local executor refuses to grade" says "array [0-9]+ is still grading .*--executor slurm" local_too "$s" "$work/stopped"
check "the batch is in the shared folder" test -e "$work"/shared/warpbook-*/batch/job
check "it continues" status_is 0 slurm "$s" "$work/stopped"
check "and follows the same array" grep -q "Continuing with Slurm array" "$work/out"
check "the same results" diff <(states "$work/slow-local") <(states "$work/stopped")

# No gradebook runs while the array ends.
"$gradebook" grade "$s" --out "$work/away" --labs 6,7 --executor slurm --devices sim $trust --batch 2 2> /dev/null &
pid=$!
check "the array is running" until_true has_running "$work/away"
kill -9 $pid
wait $pid 2> /dev/null
check "and completes without gradebook" until_true eval '[ "$(logs "$work/away" | grep -c "^outcome: graded")" = 8 ]'
check "the next run imports its results" status_is 0 slurm "$s" "$work/away"
check "the same results" diff <(states "$work/slow-local") <(states "$work/away")
check "nothing was graded twice" test "$(attempts "$work/away")" = "8|8"

# ---- A controller that does not answer ----

"$gradebook" grade "$s" --out "$work/mute" --labs 6,7 --executor slurm --devices sim $trust --batch 2 2> "$work/said-mute" &
pid=$!
check "the array is running" until_true has_running "$work/mute"
if [ "$kind" = real ]; then
    kill "$controller_pid" # not -9, or it would lose the last seconds' requests
    wait "$controller_pid" 2> /dev/null
    check "the missing answer is reported" until_true grep -q "Slurm does not answer" "$work/said-mute"
    cluster_controller
else
    touch "$FAKE_SLURM/down"
    check "the missing answer is reported" until_true grep -q "Slurm does not answer" "$work/said-mute"
    rm "$FAKE_SLURM/down"
fi
wait $pid
check "gradebook waits for the controller" test $? = 0
check "the same results" diff <(states "$work/slow-local") <(states "$work/mute")
check "each graded once" test "$(attempts "$work/mute")" = "8|8"

if [ "$kind" = scripted ]; then
    before=$(submissions)
    touch "$FAKE_SLURM/loses"
    check "a lost answer of sbatch" status_is 0 slurm "$s" "$work/lost"
    check "does not submit a second array" test "$(submissions)" = $((before + 1))
    touch "$FAKE_SLURM/forgets"
    check "a Slurm that forgets ended arrays immediately" status_is 0 disturb "$work/forgotten" cancel_one
    check "the same results" diff <(states "$work/slow-local") <(states "$work/forgotten")
    rm "$FAKE_SLURM/forgets"
fi
kernel "$work/calm-class/ann/06_transpose/kernel.cu" z1

# A killed task leaves a folder on its node. The next task removes it once it is a minute old.
check "all tasks have ended" until_true eval '! pgrep -f -- "gradebook grade $work.*/slurm/batch/kernels"'
touch -c -d "2 minutes ago" "$work"/tmp/*
check "another array" status_is 0 slurm "$work/calm-class" "$work/tidy"
check "the folders of killed tasks are removed" eval 'until_true no_folder_left || ! ls -lA "$work"/tmp/*'

finish
