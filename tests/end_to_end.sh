#!/bin/bash
# end_to_end.sh BUILD - tests the real programs from end to end, with a scripted compiler and runner instead of
# nvcc and the GPU: every verdict, bad input, interruption, two gradings at once. Needs neither nvcc nor a GPU.
set -uo pipefail
cd "$(dirname "$0")/.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
warpbook=$build/warpbook
. tests/check.sh

export WARPBOOK_NVCC=$PWD/tests/fake_nvcc WARPBOOK_READELF=$PWD/tests/fake_nvcc
export WARPBOOK_RUNNER=$build/fake_runner WARPBOOK_BUILD=$work/build TMPDIR=$work
export WARPBOOK_PATIENCE=0.3 # a hang is noticed after 3 s, not 10

# submission NAME DIRECTIVE...: the reference with directives for the scripted runner.
submission() {
    local file=$work/$1.cu
    shift
    cp solutions/06_transpose/5_padded.cu "$file"
    local directive
    for directive in "$@"; do echo "// fake: $directive" >> "$file"; done
    echo "$file"
}

grade_lines() { "$warpbook" grade 6 --quick --format lines --submission "$1"; }

verdict_is() { # VERDICTS FILE [SAW]: one of them (a|b), and the words of `saw` match
    grade_lines "$2" > "$work/out" 2>&1
    local got
    got=$(sed -n 's/^verdict://p' "$work/out")
    if grep -qE "^($1)$" <<< "$got" && grep -qE -- "${3:-.}" <<< "$(sed -n 's/^saw://p' "$work/out")x"; then
        grep -q '^end:06_transpose$' "$work/out" && return
    fi
    echo "verdict '$got', expected $1 with '${3:-}'"
    cat "$work/out"
    return 1
}

echo "End to end, with a scripted compiler and GPU: about two minutes, and two more with nvcc."

# ---- Verdicts ----

row() { # VERDICTS SAW DIRECTIVE...
    local verdicts=$1 saw=$2
    shift 2
    check "$* gets $verdicts" ${attempts:-} verdict_is "$verdicts" "$(submission case "$@")" "$saw"
}

# The scripted GPU sleeps for its times. While other programs use the processor, a few samples may be
# late enough to count for more than they took.
thrice() { "$@" || "$@" || "$@" || is_busy; }
# If more programs want to run than there are processors, what was measured says nothing. make test runs this alone.
is_busy() {
    awk -v processors="$(nproc)" '{ exit !($1 > processors) }' /proc/loadavg &&
        echo "(three times disturbed, and other programs use the processors: a pass was not seen)" >&2
}
attempts=thrice row pass "" "ms 0.5"
row slow "" "ms 10"
row wrong "unwritten" "wrong tail"
row wrong "" "wrong zero"
check "and its value" holds "^saw.got:0$" "$work/out"
row wrong "not_finite" "wrong nan"
row wrong "unwritten" "wrong unwritten"
row wrong "" "wrong one"
row wrong "" "wrong transposed"
row wrong "" "stop-after 3"
row stray "" "stray after"
row stray "input" "stray input"
row crash "launch" "launch-error"
row crash "signal" "crash at go"
row crash "exited" "exit at go"
row timeout "no_answer" "silent at go"
row timeout "no_answer" "hang at go"
row suspect "garbage" "flood at go"
row suspect "out_of_turn" "early at prepare"
row suspect "out_of_turn" "twice at go"
row suspect "untagged" "wrong-tag at go"
row suspect "untagged" "garbage at go"
row timeout "no_answer" "print-flood at go"
# A process's own threads do not extend its time limit: 3 s once became a minute.
crowded() {
    local began=$SECONDS
    verdict_is timeout "$(submission crowded "crowd at go")" "no_answer" && [ $((SECONDS - began)) -lt 25 ]
}
check "own threads do not stretch a time limit" crowded
WARPBOOK_PATIENCE=2 row crash "host_memory" "memory-hog at go"
row slow "" "ms 10" "lie 0.01"
check "that lie about time is flagged" holds "^flag:.*clock" "$work/out"
row slow "" "ms 0.4" "lazy 4"
check "a result made when it is asked for is flagged" holds "^flag:.*clock" "$work/out"
# An honest kernel of lab 14 was flagged once on an H200: its process replied late throughout. The first process
# checks results, the second one is timed, and a third one decides.
late_process() {
    verdict_is pass "$(submission late "ms 0.4" "lazy 4 2")" && not holds "^flag:" "$work/out"
}
check "a process that replies late is not flagged" thrice late_process
row slow "" "ms 0.4" "lazy 4 3"
check "if the next one does, too, it is" holds "^flag:.*clock" "$work/out"

check "a slow first call hides nothing" says "^flag:.*clock" grade_lines "$(submission first "ms 0.4" "lazy 4" "first 400")"
check "the starter is unchanged" verdict_is unchanged labs/06_transpose/kernel.cu
cp labs/06_transpose/kernel.cu "$work/commented.cu"
echo "/* my name */ // and more" >> "$work/commented.cu"
check "the starter with a comment too" verdict_is unchanged "$work/commented.cu"

# The whole protocol, not only --quick: twin, control case, marks. These take real time, and a busy machine
# may be too noisy for a verdict. So there are three attempts.
full() {
    local attempt
    for attempt in 1 2 3; do
        "$warpbook" grade 6 --format lines --submission "$1" > "$work/out" 2>&1
        grep -qE "^verdict:($2)$" "$work/out" && grep -q "^case.3.kind:control" "$work/out" && return
        grep -qE "^verdict:correct$" "$work/out" && grep -qE "^saw:(noisy|disturbed)$" "$work/out" || break
    done
    [ "$attempt" = 3 ] && echo "(three times too noisy: whether $2 comes was not seen)" >&2 && return
    grep -E "^(verdict|why|flag)" "$work/out"
    return 1
}
check "a full grading passes" thrice full "$(submission full "ms 0.5")" "pass|close"
check "a full grading is slow" full "$(submission full "ms 5")" slow
# A kernel that takes minutes for a control case is `slow`, not `timeout`: that case decides nothing.
check "a hopeless one's control is left out" full "$(submission hopeless "ms_case 13 1300" "ms_case 15 60000")" slow
# The same if noise hid how slow the kernel is: it was once stopped in the control case.
too_noisy() {
    WARPBOOK_FAKE_NOISE=1 "$warpbook" grade 6 --format lines --submission "$1" > "$work/out" 2>&1
    cat "$work/out"
    grep -q "^verdict:correct$" "$work/out" && grep -q "^case.3.saw:noisy$" "$work/out"
}
check "so is that of a kernel whose speed is unknown" too_noisy "$(submission unknown "ms_case 15 60000")"
# A disturbance passes. One grading of twenty was not judged on an H200, although the machine was quiet again.
quiet_again() {
    WARPBOOK_FAKE_NOISE=14 "$warpbook" grade 6 --format lines --submission "$1" > "$work/out" 2>&1
    grep -E "^(verdict|saw)" "$work/out"
    grep -qE "^verdict:(pass|close)$" "$work/out"
}
check "a machine that is noisy once is measured again" thrice quiet_again "$(submission quiet "ms 0.5")"

# ---- Bad input ----

mkdir -p "$work/empty"
check "a folder without kernels" status_is 2 "$warpbook" grade --submission "$work/empty"
check "and what was expected" says "holds no kernel.cu" "$warpbook" grade --submission "$work/empty"
# A link in a submission's folder may lead to another student's work.
mkdir -p "$work/linked" "$work/others/06_transpose"
cp solutions/06_transpose/5_padded.cu "$work/others/06_transpose/kernel.cu"
ln -s "$work/others" "$work/linked/labs"
ln -s "$work/others/06_transpose" "$work/linked/06_transpose"
check "linked folders are not followed" says "holds no kernel.cu" "$warpbook" grade --submission "$work/linked"
check "and grade nothing" status_is 2 "$warpbook" grade 6 --submission "$work/linked"
: > "$work/blank.cu"
check "an empty file" verdict_is build "$work/blank.cu" "^file"
submission broken > /dev/null
echo "int x = ; // nvcc: error expected an expression" >> "$work/broken.cu"
check "a compile error" verdict_is build "$work/broken.cu" "^compiler"
check "with the student's line" holds "^why:.*broken.cu:[0-9]+" "$work/out"
submission forking > /dev/null
echo "// readelf: U fork" >> "$work/forking.cu"
check "a forbidden symbol" verdict_is build "$work/forking.cu" "^forbidden"
submission reading > /dev/null
echo "// nvcc: reads /etc/passwd" >> "$work/reading.cu"
check "an include outside the lab" verdict_is build "$work/reading.cu" "^include"

check "an unknown lab" status_is 2 "$warpbook" grade nolab
check "an unknown option" status_is 2 "$warpbook" grade --fast
check "an unknown command" status_is 2 "$warpbook" shine
check "no command" status_is 2 "$warpbook"
check "a bad device" status_is 2 "$warpbook" grade --device -1
check "a bad seed" status_is 2 "$warpbook" grade --seed xyz
check "a missing value" status_is 2 "$warpbook" grade --seed
check "a submission that is not there" status_is 2 "$warpbook" grade 6 --submission "$work/none"
check "a file for every lab" status_is 2 "$warpbook" grade --submission labs/06_transpose/kernel.cu --format text --quick nolab
check "help" says "usage: warpbook" "$warpbook" --help
check "version" says "^warpbook [0-9]+\.[0-9]+" "$warpbook" --version
[ ! -x "$build/runner" ] || check "the runner's version" says "^runner [0-9]+\.[0-9]+" "$build/runner" --version
check "a lab by its folder's path" says "Hint . of 3" "$warpbook" hint labs/06_transpose/ --level 1
check "the list of labs" says "^06_transpose" "$warpbook" labs

no_gpu() { WARPBOOK_FAKE_GPU=none "$@"; }
check "no GPU: status 3" status_is 3 no_gpu "$warpbook" grade
check "no GPU: one sentence" says "^Cannot grade here: .*\.$" no_gpu "$warpbook" grade
no_nvcc() { env -i PATH=/nowhere WARPBOOK_NVCC=/nowhere/nvcc "$@"; }
check "no nvcc" status_is 3 no_nvcc "$warpbook" grade
check "no nvcc: what to do" says "cannot be run|CUDA Toolkit" no_nvcc "$warpbook" grade
no_place() { WARPBOOK_BUILD=/proc/nowhere "$@"; }
check "a build folder that cannot be written" status_is 3 no_place "$warpbook" grade
check "and what to do" says "another build folder|write" no_place "$warpbook" grade
elsewhere() { (cd / && "$@"); }
check "outside the workbook" says "workbook's folder" elsewhere "$warpbook" grade
check "a broken compiler is not the student's fault" status_is 3 env WARPBOOK_BUILD="$work/b2" \
    FAKE_NVCC_BROKEN="#error -- unsupported GNU version! gcc versions later than 15 are not supported!" \
    "$warpbook" grade --quick

# ---- Without a GPU: the simulated one, here a scripted one, too ----

export WARPBOOK_SIM_RUNNER=$work/none
check "no GPU, no simulated one: what is missing" says "simulated GPU is not available" no_gpu "$warpbook" grade
simulated() { WARPBOOK_FAKE_GPU=none WARPBOOK_SIM_RUNNER=$build/fake_runner "$@"; }
sim_lines() { "$warpbook" grade 6 --format lines --submission "$1"; }
sim_row() { # VERDICT PATTERN DIRECTIVE...: on a machine without a GPU; a line matches the pattern
    local verdict=$1 pattern=$2
    shift 2
    sim_lines "$(submission sim "$@")" > "$work/out" 2>&1
    grep -q "^verdict:$verdict$" "$work/out" && grep -qE "$pattern" "$work/out" && return
    cat "$work/out"
    return 1
}
check "no GPU: simulated, status 0" status_is 0 simulated "$warpbook" grade 6 --submission "$(submission good "ms 0.5")"
check "no GPU: which and why, in words" says "^Scripted runner \(no NVIDIA GPU is visible here\)" \
    simulated "$warpbook" grade 6 --submission "$(submission good "ms 0.5")"
check "no GPU: and in lines" says "^simulated:no NVIDIA GPU is visible" simulated sim_lines "$(submission good "ms 0.5")"
check "as fast as the reference there" holds "^verdict:pass" "$work/out"
check "by a model" holds "^case.1.clock:modelled" "$work/out"
check "slower there" simulated sim_row slow "^case.1.ratio:0.625" "ms 0.8"
check "what a bound explains" simulated sim_row slow "^saw:sectors_read" "ms 0.8" "sectors 8 24"
check "with its line" holds "^saw.line:24" "$work/out"
check "and does not decide" says "^verdict:pass" simulated sim_lines "$(submission good "ms 0.5" "sectors 8 24")"
printf '[all]\njudge = counts\n' > "$work/counts.ini"
counts() { "$warpbook" grade 6 --quick --format lines --course "$work/counts.ini" --submission "$(submission counts "$@")"; }
check "by counts a bound decides, whatever the speed" says "^verdict:slow" simulated counts "ms 0.5" "sectors 8 24"
check "which says so" holds "^why:.*by counts, not by speed" "$work/out"
check "and a slow kernel within the bounds passes" says "^verdict:pass" simulated counts "ms 50"
check "also next to a real GPU" says "^verdict:slow" env WARPBOOK_SIM_RUNNER="$build/fake_runner" \
    "$warpbook" grade 6 --quick --format lines --course "$work/counts.ini" --submission "$(submission counts "ms 0.5" "sectors 8 24")"
check "marks from rung 1 on" says "^marks:90.4" simulated sim_lines "$(submission good "ms 0.8")"
check "a time that the model lacks" simulated sim_row correct "^case.1.saw:untimed$" untimed
check "then a bound decides" simulated sim_row slow "^saw:sectors_read" untimed "sectors 8 24"
check "endless there" simulated sim_row timeout "^saw:endless" "endless 13"
check "but not in a control" says "^verdict:pass" simulated sim_lines "$(submission good "endless 15")"
check "which is reported" holds "^case.3.saw:too_large$" "$work/out"
check "a sample of blocks is reported" simulated sim_row slow "^case.1.timed_blocks:12" "ms 0.8" "sampled 12"
# Lab 13's starter was stopped as endless on four devices: the reference's call was a little too short, the case was
# doubled until it was long enough, and all taps of so large an image exceeded the limit.
inputs() { # MS_A_MILLION: of the control case, as it is timed
    WARPBOOK_FAKE_RATE=$1 WARPBOOK_BUILD=$work/rate-$1 simulated sim_lines "$(submission good "ms 0.5")" | awk '/^case.3.dim:/ { print $2 }'
}
grows_little() {
    local fits grown
    fits=$(inputs 1000)
    grown=$(inputs "$(awk "BEGIN { print 0.095 / $fits * 1e6 }")")
    awk "BEGIN { exit !($grown > $fits && $grown < 1.4 * $fits) }" || { echo "$fits inputs fit, not $grown"; return 1; }
}
check "a case that is a little too short becomes a little longer" grows_little
check "an impossible time" simulated sim_row suspect "^saw:too_fast" "lie 0.0000001"
check "a race there" simulated sim_row unsafe "^saw:race" unsafe
check "wrong there" simulated sim_row wrong "^saw:.*unwritten" "wrong tail"
check "what cannot be simulated is reported" simulated sim_row unsupported "^why:.*unknown instruction" limit
check "and is a verdict" status_is 0 simulated sim_lines "$(submission limit limit)"
check "strict: correct has not passed" status_is 1 simulated "$warpbook" grade 6 --strict --submission "$(submission good untimed)"
check "strict: a modelled pass has" status_is 0 simulated "$warpbook" grade 6 --strict --submission "$(submission good "ms 0.5")"
check "a GPU requested by number has no substitute" status_is 3 simulated "$warpbook" grade --device 0
check "a simulated GPU next to a real one" says "^simulated:as asked for" env WARPBOOK_SIM_RUNNER="$build/fake_runner" \
    "$warpbook" grade 6 --device sim:teaching --format lines --submission "$(submission good "ms 0.5")"
check "a bad name of a simulated one" status_is 2 "$warpbook" grade --device sim:
real_row() { WARPBOOK_SIM_RUNNER=$build/fake_runner verdict_is "$@"; }
check "a race that the real GPU hides" real_row unsafe "$(submission race unsafe)" "^race"
with_simulator() { WARPBOOK_SIM_RUNNER=$build/fake_runner "$warpbook" grade 6 --quick --format lines --submission "$1"; }
reported_only() { says "^note:.*unknown instruction" with_simulator "$1" && holds "^verdict:pass" "$work/out"; }
check "what it cannot simulate is reported, and changes no verdict" thrice reported_only "$(submission limit limit "ms 0.5")"

# ---- build ----

alone() { "$warpbook" build 6 --cc 9.0 --submission "$(submission "$@")" ${lines-}; }
check "a build alone says nothing" test -z "$(alone good)"
lines="--format lines" check "or where it is" says "^object:/.*/kernel\.so$" alone good
check "which is there" test -s "$(sed -n 's/^object://p' "$work/out")"
echo "// nvcc: error of the test" >> "$(submission broken)"
check "the verdict if it does not build" says "^verdict:build" "$warpbook" build 6 --cc 9.0 --submission "$work/broken.cu"

# ---- explain ----

explain() { WARPBOOK_SIM_RUNNER=$build/fake_runner "$warpbook" explain "$@"; }
check "explain: one lab" status_is 2 explain 5 6
check "explain: a file that is not there" status_is 2 explain 6 --submission "$work/none.cu"
check "explain: nothing to simulate with" status_is 3 "$warpbook" explain 6
check "explain: status 0" status_is 0 explain 6 --submission "$(submission good "limited shared 24")"
check "explain: the limit, of all of the time" holds "^  shared memory  +100.0 %  +0.0 %$" "$work/out"
check "explain: the sentence" holds "^Yours: shared memory is busy 90 % of the time, and bank conflicts" "$work/out"
check "explain: compared with the reference" holds "^The reference: the device's memory is busy 90 % of the time" "$work/out"
check "explain: no roofline without FP32 arithmetic and far below the memory's rate" not holds "roofline" "$work/out"
check "explain: the line" holds "^   50.0 %  kernel.cu:24, mostly shared memory" "$work/out"
check "explain: what the line did" holds "^ {11}shared memory 32.0 wavefronts per request, 1.0 without bank" "$work/out"
check "explain: fits 80 columns" not grep -E '^.{81,}' "$work/out"
check "explain: one figure for each unit" not holds "^  busy: " "$work/out"
check "explain: all figures with -v" says "^  busy: " explain 6 --submission "$(submission good "limited shared 24")" -v
check "explain: the case and its ratio" says "^What to try \(flat: 0\.[0-9]+, needs 0.75" \
    explain 6 --submission "$(submission good "limited shared 24" "ms 10")"
text=$(sed -n 's/^ *\(tile.*in\[row.*\)/\1/p' solutions/06_transpose/5_padded.cu | sed 's/[^a-zA-Z ]/./g')
check "explain: its text" says "^ {11}$text$" explain 6 --submission \
    "$(submission good "limited shared $(grep -n 'tile.*in\[row' solutions/06_transpose/5_padded.cu | cut -d: -f1)")"
check "explain: what a cause is worth" says "^  without bank conflicts at most 4.00x; then limited by shared memory" \
    explain 6 --submission "$(submission good "limited shared 24" "worth 0 4")"
check "explain: nothing is worth much" says "^What if: no single cause is worth more than 1.03x" \
    explain 6 --submission "$(submission good "limited shared 24" "worth 0 1.02")"
check "explain: the case that is named" says "^06 transpose, case square" \
    explain 6 --case sq --submission "$(submission good "limited shared 24")"
check "explain: there is no such case" status_is 2 explain 6 --case none
check "explain: a line that is not in the file" says "kernel.cu:9999, mostly" \
    explain 6 --submission "$(submission good "limited shared 9999")"
check "explain: on a real GPU, by the simulator, and says so" says "^Times are modelled on a simulated GPU" \
    explain 6 --device 0 --submission "$(submission good "ms 0.5")"
check "explain: a wrong kernel" says "06 transpose: wrong: case" explain 6 --submission "$(submission tail "wrong tail")"
check "explain: must be graded first" holds "^Only a correct kernel can be explained: .*make grade LAB=transpose" "$work/out"
check "explain: and ends with status 1" status_is 1 explain 6 --submission "$(submission tail "wrong tail")"
check "explain: an unsafe one" says "unsafe: .*kernel.cu:9: race" explain 6 --submission "$(submission race unsafe)"
check "explain: one that does not build" status_is 1 explain 6 --submission "$(submission broken "#error")"
for lie in nan minus nothing; do
    check "explain: $lie, status 3" status_is 3 explain 6 --submission "$(submission lie "limited $lie")"
    check "explain: $lie is no limit" holds "cannot be explained: .*invalid limits" "$work/out"
done
limits_line() { # OPTION...: what make grade says
    says "What limits it: shared memory is busy 90 % .* make explain LAB=transpose shows the lines\." simulated "$warpbook" grade -v "$@"
}
check "a slow one: what limits it" limits_line 6 --submission "$(submission slow "ms 10" "limited shared 24")"
quick_one() { ! limits_line 6 --submission "$(submission good "ms 0.5" "limited shared 24")" && grep -q "pass" "$work/out"; }
check "not if it passed" quick_one
no_limit() { ! limits_line 6 --submission "$(submission slow "ms 10" "limited nan")" && grep -q "slow" "$work/out" && ! grep -q "limits" "$work/out"; }
check "nor if the runner reports none" no_limit

# The real one, if the CUDA headers were available to build it.
sim_grade() {
    env -u WARPBOOK_NVCC -u WARPBOOK_READELF -u WARPBOOK_RUNNER -u WARPBOOK_SIM_RUNNER WARPBOOK_PATIENCE=5 \
        WARPBOOK_BUILD="$build" "$warpbook" grade --device sim --format lines "$@"
}
if [ -x "$build/runner-sim" ]; then
    check "the starters, simulated" says "^verdict:unchanged" sim_grade
    check "each with its line" says "kernel.cu:[0-9]+: writes to .out. touch 8.0x" \
        sim_grade 6 --submission solutions/06_transpose/2_blocks_2d.cu
    check "and its code" holds "^saw:sectors_written" "$work/out"
    check "a reference, simulated" says "^verdict:pass" sim_grade 1 --submission solutions/01_coalescing/2_lanes_along_features.cu
    check "a rung on the way, simulated" says "^why:case (flat|square) runs at 0\.[0-7][0-9]* of the reference's speed" \
        sim_grade 6 --quick --submission solutions/06_transpose/4_tile.cu
    # All but the time: first with an empty cache, then with what the first run stored.
    same_twice() {
        rm -rf "$build/floor"
        for i in 1 2; do
            sim_grade 6 --seed 5eed --submission solutions/06_transpose/2_blocks_2d.cu | grep -vE "^(wall_s|date):" > "$work/same$i"
        done
        grep -q "^case.1.ratio:" "$work/same1" && cmp "$work/same1" "$work/same2"
    }
    check "the same bytes in each grading" same_twice
    check "warps that draw work by tickets share it" says "^verdict:pass" \
        sim_grade 8 --quick --submission solutions/08_tail_effect/beyond/6_ticket.cu
    check "the host's work has no time" says "^why:.*nothing ran on the GPU" \
        sim_grade 5 --quick --submission solutions/05_streams/wrong/on_the_host.cu
    check "and is slow compared with a GPU's" holds "^verdict:slow" "$work/out"
    check "a launch that only two million rows refuse" says "^verdict:crash" \
        sim_grade 9 --quick --submission solutions/09_sgemm/wrong/grid_y_overflow.cu
    check "a missing barrier, simulated" says "^why:case .*kernel.cu:[0-9]+: .*block \(.*thread \(" \
        sim_grade 7 --submission solutions/07_reduction/wrong/no_barrier.cu
    check "its verdict" holds "^verdict:unsafe" "$work/out"
    check "a launch that is given" says "^verdict:build" sim_grade 4 --submission solutions/04_ilp_tlp/wrong/without_header.cu
    check "arrays of the host, simulated" says "^verdict:pass" sim_grade 5 --submission solutions/05_streams/3_three_buffers.cu
    check "one buffer, streams by turns" says "^verdict:wrong" sim_grade 5 --submission solutions/05_streams/wrong/one_buffer.cu
    check "a missing wait" says "^why:.*encrypt\(\) returned before its output" \
        sim_grade 5 --submission solutions/05_streams/wrong/no_wait.cu
    check "past an array of the host" says "^verdict:stray" sim_grade 5 --submission solutions/05_streams/wrong/one_word_more.cu
    check "a call that launches dominate" says "^why:.*makes 38[0-9] launches, one per .* you time launches" \
        sim_grade 11 --quick --submission solutions/11_launches/2_fused_chain.cu
    check "an unknown device" says "Cannot grade here: .*nosuch" env -u WARPBOOK_RUNNER -u WARPBOOK_SIM_RUNNER \
        WARPBOOK_BUILD="$build" "$warpbook" grade --device sim:nosuch
fi

# ---- Calculators ----

calc() { WARPBOOK_BUILD="$build" "$warpbook" calc "$@"; }
check "the calculators are listed" says "^  occupancy " calc
check "one explains itself" says "^  warpbook calc waves --blocks" calc waves --help
check "one shows its working" says "363 / \(2 x 192\) = 94.5 %" calc waves --blocks 363 --sms 16 --resident 12
check "described devices are known" says "^occupancy  = 4 blocks x 8 / 32 warps = 100.0 %" \
    calc occupancy --device sim:t4 --threads 256 --registers 40
check "and named" says "there is no device .gtx480.; there are: a100" calc occupancy --device sim:gtx480 --threads 256
check "a calculator that is not there" status_is 2 calc wave
check "an invalid number" status_is 2 calc waves --blocks nan --sms 16 --resident 12
check "calculators need no folder, nor a build setting" says "Tesla T4" env -u WARPBOOK_BUILD -C / "$warpbook" calc occupancy \
    --device sim:t4 --threads 64

# ---- --strict, --seed, the table ----

check "strict: not passed" status_is 1 "$warpbook" grade 6 --quick --strict --submission labs/06_transpose/kernel.cu
check "strict: passed" thrice status_is 0 "$warpbook" grade 6 --quick --strict --submission "$(submission good "ms 0.5")"
check "the seed comes back" says "^seed:00000000000000ff" "$warpbook" grade 6 --quick --seed ff --format lines \
    --submission "$(submission good "ms 0.5")"
narrow() { "$warpbook" grade 6 --quick --submission "$1" > "$work/out" 2>&1; [ -s "$work/out" ] && ! grep -E '^.{81,}' "$work/out"; }
check "the table fits 80 columns" narrow "$(submission wrong "wrong tail")"
plain() { "$warpbook" grade 6 --quick --submission "$1" > "$work/out" 2>&1; [ -s "$work/out" ] && ! grep -q $'\033' "$work/out"; }
check "no escapes where there is no terminal" plain "$(submission good "ms 0.5")"

# ---- Progress and hints: in a copy, so that the developer's own do not change ----

copy=$work/copy
mkdir -p "$copy"
tar -c --exclude=./build --exclude=./slides --exclude=./.git --exclude=./.warpbook . | tar -x -C "$copy"
in_copy() { (cd "$copy" && "$@"); }
check "progress before anything" says "transpose" in_copy "$warpbook" progress
check "grade in place" says "NOT STARTED" in_copy "$warpbook" grade transpose --quick
check "it is remembered" says "transpose.*not started" in_copy "$warpbook" progress
check "a hint" says "1 of 3|hint 1" in_copy "$warpbook" hint transpose
check "the next hint" says "2 of 3|hint 2" in_copy "$warpbook" hint transpose
check "the last hint" says "3 of 3|hint 3" in_copy "$warpbook" hint transpose
check "a hint without a lab: the first that is not done" says "^Lab 00 first, the first one that is not done" in_copy "$warpbook" hint
check "two labs are too many" status_is 2 in_copy "$warpbook" hint 1 2
# After such a grading the hint begins with SAYS, and only the next call shows the levels.
hint_after() { # SAYS DIRECTIVE...
    local says=$1
    shift
    cp "$(submission hint "$@")" "$copy/labs/06_transpose/kernel.cu"
    in_copy "$warpbook" grade transpose --quick > /dev/null 2>&1
    in_copy "$warpbook" hint transpose > "$work/first"
    in_copy "$warpbook" hint transpose > "$work/second"
    holds "^Your last grading: $says" "$work/first" && ! grep -q "^Hint " "$work/first" &&
        grep -q "^Your last grading: " "$work/second" && grep -q "^Hint 3 of 3" "$work/second" && return
    cat "$work/first" "$work/second"
    return 1
}
check "a hint for what was slow" hint_after "slow, case (flat|square), ratio 0" "ms 10"
check "a hint for a pattern" hint_after "wrong, case .*: the tail, never written" "wrong tail"
check "a hint for a crash" hint_after "crash, case .*: a launch failed" "launch-error"
check "a hint for a changed input" hint_after "stray, case .*: an input was changed" "stray input"
check "a hint for a race" simulated hint_after "unsafe.*: a race" unsafe
check "a hint for a bound that was missed" simulated hint_after "slow, case flat, ratio 0.6.: memory is read in too many" "ms 0.8" "sectors 8 24"
check "a level by its number has no symptom" says "^Hint 1 of 3" in_copy "$warpbook" hint transpose --level 1
printf 'lab:06_transpose verdict:slow best:slow format:2 saw:%%n,,\377 case:x told:-7\0\n' > "$work/hostile"
damaged() { cp "$work/hostile" "$copy/.warpbook/progress" && in_copy "$warpbook" hint transpose && in_copy "$warpbook" progress; }
cp "$copy/.warpbook/progress" "$work/kept_progress"
check "a damaged progress file" status_is 0 damaged
cp "$work/kept_progress" "$copy/.warpbook/progress"
cp "$(submission good "ms 0.5")" "$copy/labs/06_transpose/kernel.cu"
check "pass in place" says "PASS: all [0-9]+ cases (that ran are )?right" simulated in_copy "$warpbook" grade transpose --quick
check "the best is remembered" says "transpose.*pass" in_copy "$warpbook" progress

# ---- One screen per lab, one line per lab in the table ----

pass_lines() { simulated in_copy "$warpbook" grade transpose --quick > "$work/out" 2>&1 && grep -q "^Next: " "$work/out" && [ "$(wc -l < "$work/out")" -le 15 ]; }
check "a pass fits 15 lines, and one step is next" pass_lines
check "it offers the comparison" holds "make compare LAB=transpose" "$work/out"
check "where the learner is" says "^Lab 00 .*Next: .*make watch LAB=first" in_copy "$warpbook" next
next_lines() { in_copy "$warpbook" next > "$work/out" 2>&1 && [ "$(wc -l < "$work/out")" -le 12 ]; }
check "in at most 12 lines" next_lines
table() { simulated in_copy "$warpbook" grade "$@" > "$work/out" 2>&1 && [ "$(grep -cE '^ [0-9][0-9]  ' "$work/out")" = "$rows" ] && ! grep -E '^.{81,}' "$work/out"; }
rows=2 check "a table of two labs" table 1 6
check "with a bar" holds "06  transpose +pass +\[#+\|#+\]" "$work/out"
rows=2 check "the same again" table 1 6
check "is not graded again" holds "06  transpose .*[0-9][0-9]:[0-9][0-9]$" "$work/out"
rows=2 check "unless it is asked for" table 1 6 --again
kept_none() { ! grep -qE "[0-9][0-9]:[0-9][0-9]$" "$work/out"; }
check "then no row is old" kept_none
rows=2 check "or another option" table 1 6 --quick
check "then neither" kept_none
echo "// changed" >> "$copy/labs/06_transpose/kernel.cu"
rows=2 check "a kernel that changed" table 1 6 --quick
one_kept() { [ "$(grep -cE "[0-9][0-9]:[0-9][0-9]$" "$work/out")" = 1 ]; }
check "is graded again, alone" one_kept
check "the labs of the course: ten" test "$("$warpbook" labs --core | wc -l)" = 10
check "no further ones" not says "^1[0-9]_" "$warpbook" labs --core
check "which are labs, too" says "^10_" "$warpbook" labs
check "a lab is no course" status_is 2 "$warpbook" grade 6 --core
compare_first() { simulated in_copy "$warpbook" compare "$@"; }
check "compare without a lab: the one passed last" says "^Lab 06 transpose, the one that you passed last" compare_first
check "compare: only after a pass" status_is 1 compare_first first
check "and shows nothing of the reference" not grep -q "reference:" "$work/out"
check "compare: the texts" says "^Your text \(-\) and that of the reference" compare_first transpose
check "compare: their difference" holds "^-// fake: ms 0.5" "$work/out"

# ---- The grader's own errors are reported as such ----

reference_fails() {
    local reference=$copy/solutions/06_transpose/5_padded.cu status
    cp "$reference" "$work/kept.cu"
    echo "// fake: exit at load" >> "$reference"
    in_copy "$warpbook" grade transpose > "$work/out" 2>&1
    status=$?
    cp "$work/kept.cu" "$reference"
    [ $status = 3 ] && holds "which is not your fault" "$work/out" && return
    echo "exit status $status"
    cat "$work/out"
    return 1
}
check "a reference that fails is not the student's fault" reference_fails

# ---- Ctrl-C in the middle: no children left, status by signal, progress complete ----

interrupted() {
    cp "$(submission hang "silent at go")" "$copy/labs/06_transpose/kernel.cu"
    cp "$copy/.warpbook/progress" "$work/before"
    (cd "$copy" && exec env WARPBOOK_PATIENCE=100 "$warpbook" grade transpose --quick) > "$work/out" 2>&1 &
    local pid=$! i
    for i in $(seq 100); do
        [ "$(pgrep -P $pid -c)" -gt 0 ] && break
        sleep 0.1
    done
    sleep 1
    local children
    children=$(pgrep -P $pid)
    [ -n "$children" ] || { echo "no child was there"; return 1; }
    kill -INT $pid
    wait $pid
    [ $? = 130 ] || { echo "did not end by the signal"; return 1; }
    sleep 0.5
    for i in $children; do
        if [ -e "/proc/$i" ] && ! grep -q ') Z' "/proc/$i/stat"; then echo "child $i is left"; return 1; fi
    done
    cmp "$copy/.warpbook/progress" "$work/before"
}
check "Ctrl-C in the middle" interrupted

# ---- Two gradings at once: the second waits, both are right ----

two_at_once() {
    local a b one two
    a=$(submission first "ms 0.5")
    b=$(submission second "wrong tail")
    grade_lines "$a" > "$work/one" 2> "$work/one.err" &
    one=$!
    grade_lines "$b" > "$work/two" 2> "$work/two.err" &
    two=$!
    wait $one && wait $two || return 1
    grep -q "^verdict:pass" "$work/one" && grep -q "^verdict:wrong" "$work/two"
}

# Another process has the GPU until the grading has reported that it waits.
waits_for_the_gpu() {
    local one tries
    rm -f "$work/one.err" # of the test before, which may say the same
    exec 9> "$work/warpbook-GPU-00000000-0000-0000-0000-000000000000.lock"
    flock 9
    grade_lines "$(submission first "ms 0.5")" > "$work/one" 2> "$work/one.err" 9>&- &
    one=$!
    for tries in $(seq 600); do
        ! grep -qs "waiting" "$work/one.err" || break
        sleep 0.1
    done
    exec 9>&-
    wait $one && grep -q "waiting" "$work/one.err" && grep -q "^verdict:pass" "$work/one"
}
check "two gradings at once" thrice two_at_once
check "waits while another grading has the GPU" thrice waits_for_the_gpu

# ---- Refused sources; the other cheats are in refused.sh ----

scripts_find_their_cheat() {
    local script
    for script in tests/cheats/*.sh; do
        [ ! -e "$script" ] || bash "$script" || return 1
    done
}
# CUDA reports only "invalid argument"; the simulated GPU names the request and the limit.
refused_launch() {
    sed 's/transpose_kernel<<<[^,]*,/transpose_kernel<<<dim3(1, 70000),/' \
        solutions/06_transpose/5_padded.cu > "$work/grid.cu"
    says "at most \(2147483647,65535,65535\) are allowed" \
        env -u WARPBOOK_NVCC -u WARPBOOK_READELF -u WARPBOOK_RUNNER -u WARPBOOK_SIM_RUNNER WARPBOOK_PATIENCE=5 \
        WARPBOOK_BUILD="$build" "$warpbook" grade 6 --device sim --submission "$work/grid.cu"
}

check "cheats next to the kernel" scripts_find_their_cheat
[ ! -x "$build/runner-sim" ] || check "a refused launch is explained" refused_launch

# ---- Figures ----

check "no figures of a simulated GPU" status_is 3 simulated "$warpbook" check 6 --figures "$work/figures.txt"
check "--figures holds one lab's" status_is 2 "$warpbook" check --figures "$work/figures.txt"

finish
