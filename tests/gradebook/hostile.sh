#!/bin/bash
# hostile.sh BUILD - submissions that try to read protected data. None may gain a mark or a byte.
#
# Each is a slow kernel that tries one attack: its host code with its own system calls, or its text while it is
# compiled. If it can read protected data, it prints LOOT and the data. gradebook grades the submissions in
# bubblewrap, on the simulated GPU, together with an honest student's. That student's kernel, the solutions, the
# database and an environment variable contain words that must not appear in any result. Without nvcc and bubblewrap,
# the script reports that it is skipped.
set -uo pipefail
cd "$(dirname "$0")/../.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
if ! [ -x "$build/runner-sim" ]; then
    echo "hostile submissions: skipped, nvcc is not installed"
    exit 0
elif ! bwrap --unshare-all --ro-bind / / true 2> /dev/null; then
    echo "hostile submissions: skipped, bubblewrap does not work here"
    exit 0
fi
. tests/check.sh
class=$work/class out=$work/results
export WARPBOOK_BUILD=$build COURSE_SECRET=swordfish-$RANDOM$RANDOM
rung=solutions/01_coalescing/2_lanes_along_features.cu
mkdir -p "$class" "$work/elsewhere"
echo "marks of last year, $COURSE_SECRET" > "$work/elsewhere/marks.txt"

# ---- Kernels ----

expected=()
# hand_in NAME VERDICTS [HEAD [BODY]]: HEAD goes to the top of the file, BODY into the function that the grader calls.
hand_in() {
    mkdir -p "$class/$1/01_coalescing"
    expected+=("$1 $2")
    {
        echo "${3:-}"
        cat << 'KERNEL'
#include "cudalab.cuh"
#include "kernel.h"
#define CALL(n, a, b, c) system_call((long) (n), (long) (a), (long) (b), (long) (c))
static inline long system_call(long number, long a, long b, long c)
{
    register long d asm("r10") = 0;
    long answer;
    asm volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d) : "rcx", "r11", "memory");
    return answer;
}
// Prints a whole file, or a folder's entries, if it can be read.
static inline void loot(const char *path)
{
    static char text[65536];
    long fd = CALL(2, path, 0, 0), got = fd < 0 ? 0 : CALL(0, fd, text, sizeof text);
    if (fd >= 0 && got <= 0)
        got = CALL(217, fd, text, sizeof text);
    if (got > 0) {
        CALL(1, 1, "LOOT: ", 6);
        CALL(1, 1, text, got);
    }
    if (fd >= 0)
        CALL(3, fd, 0, 0);
}
__global__ void standardise_kernel(float *out, const float *in, const float *mean, const float *scale,
                                   int rows, int cols)
{
    int r = blockIdx.x * 256 + threadIdx.x, c = blockIdx.y;
    if (r < rows)
        out[(size_t) r * cols + c] = (in[(size_t) r * cols + c] - mean[c]) * scale[c];
}
LAB_API void standardise(float *out, const float *in, const float *mean, const float *scale, int rows, int cols)
{
    standardise_kernel<<<dim3(ceil_div(rows, 256), cols), 256>>>(out, in, mean, scale, rows, cols);
    CUDA_CHECK(cudaGetLastError());
KERNEL
        echo "    ${4:-}"
        echo "}"
        echo "enum { handed_in_by_$1 = 1 };"
    } > "$class/$1/01_coalescing/kernel.cu"
}
runs() { hand_in "$1" "$2" "" "$3"; }
compiles() { hand_in "$1" "$2" "$3"; }

mkdir -p "$class/honest/01_coalescing"
{ cat $rung; echo "enum { my_own_idea_$COURSE_SECRET = 1 };"; } | sed 's/\(idea_swordfish\)-/\1_/' > "$class/honest/01_coalescing/kernel.cu"

# Attacks while the kernel runs.
runs reads_others slow "loot(\"$class/honest/01_coalescing/kernel.cu\"); loot(\"$class\");
    loot(\"$out/work/0/kernel.cu\"); loot(\"$out/work/1/kernel.cu\");"
runs reads_the_gradebook slow "loot(\"$out/gradebook.sqlite\"); loot(\"$out/gradebook.sqlite-wal\"); loot(\"$out/logs\");"
runs reads_the_solutions slow "loot(\"$PWD/$rung\"); loot(\"$rung\"); loot(\"$PWD/solutions/01_coalescing/beyond\");
    loot(\"solutions/06_transpose/5_padded.cu\"); loot(\"$out/cache\"); loot(\"$PWD/grader\"); loot(\"$PWD/tests\");"
runs reads_environments slow 'char path[] = "/proc/0000/environ"; loot("/proc/self/environ");
    for (int i = 1; i < 1000; i++) { for (int k = 0, n = i; k < 4; k++, n /= 10) path[9 - k] = (char) (48 + n % 10); loot(path); }'
runs reads_processes slow 'loot("/proc/1/cmdline"); loot("/proc/1/root/etc/passwd"); loot("/proc/1/cwd"); loot("/proc/self/root/root");'
runs reads_the_machine slow 'loot("/etc/passwd"); loot("/etc/shadow"); loot("/root"); loot("/home"); loot("/var/log"); loot("/boot");'
runs reads_elsewhere slow "loot(\"$work/elsewhere/marks.txt\"); loot(\"/proc/self/root$work/elsewhere/marks.txt\");"
runs writes_outside slow "CALL(2, \"$work/elsewhere/evil\", 01101, 0644); CALL(2, \"$out/evil\", 01101, 0644);
    CALL(2, \"$PWD/labs/evil\", 01101, 0644); CALL(2, \"/tmp/evil\", 01101, 0644); CALL(2, \"$work/elsewhere/marks.txt\", 01001, 0);"
runs opens_a_socket crash 'CALL(41, 2, 1, 0);'
runs opens_a_local_socket crash 'CALL(41, 1, 1, 0);'
runs forks crash 'for (;;) CALL(57, 0, 0, 0);'
runs unshares crash 'CALL(272, 0x10000000, 0, 0);'
runs mounts crash 'CALL(165, "none", "/tmp", "tmpfs");'
runs makes_links 'crash|slow' "CALL(88, \"$out/gradebook.sqlite\", \"/tmp/link\", 0); loot(\"/tmp/link\");"
runs fills_the_disk slow 'static char zeros[1 << 20]; long fd = CALL(2, "/tmp/fill", 01101, 0644);
    for (int i = 0; fd >= 0 && i < 3000; i++) CALL(1, fd, zeros, sizeof zeros);'
runs huge_logs 'slow|timeout' 'static char noise[1 << 16]; for (unsigned i = 0; i < sizeof noise; i++) noise[i] = "spam spam\n"[i % 10];
    for (int i = 0; i < 1000; i++) CALL(1, 1, noise, sizeof noise);'

# Attacks while the kernel is compiled. Even a quote in an error message would leak data.
compiles includes_others build "#include \"$class/honest/01_coalescing/kernel.cu\""
compiles includes_the_solution build "#include \"$PWD/$rung\""
compiles includes_a_secret build "#include \"$work/elsewhere/marks.txt\""
compiles includes_environ build '#include "/proc/self/environ"'
compiles includes_its_parents build '#include "/proc/1/environ"'
compiles assembles_a_secret build "asm(\".section .rodata\\n.incbin \\\"$work/elsewhere/marks.txt\\\"\\n.text\");"
compiles assembles_passwd build 'asm(".section .rodata\n.incbin \"/etc/passwd\"\n.text");'
compiles assembles_the_database build "asm(\".section .rodata\\n.incbin \\\"$out/gradebook.sqlite\\\"\\n.text\");"
compiles asks_which_files slow "#if __has_include(\"$work/elsewhere/marks.txt\") || __has_include(\"$out/gradebook.sqlite\") || \\
    __has_include(\"$class/honest/01_coalescing/kernel.cu\") || __has_include(\"/etc/passwd\") || __has_include(\"$PWD/Makefile\")
#error LOOT: it is there
#endif"
compiles embeds_a_secret build "static const char secret[] = {
#embed \"$work/elsewhere/marks.txt\"
};"

# ---- Grading, and the search for leaked words ----

echo "hostile submissions: about a minute."
check "graded" "$build/gradebook" grade "$class" --out "$out" --devices sim --labs 1
"$build/gradebook" export --format json --out "$out" > "$work/all.json"
"$build/gradebook" report --verbose --out "$out" > "$work/report"
"$build/gradebook" export --format csv --out "$out" > "$work/all.csv"
sqlite3 -readonly "$out/gradebook.sqlite" "SELECT why, note, flag FROM verdicts; SELECT value FROM figures" > "$work/kept"
state() { jq -r --arg who "$1" '.students[] | select(.name == $who) | .labs[0].state' "$work/all.json"; }
is() { # NAME VERDICTS
    local state
    state=$(state "$1")
    [[ $state =~ ^($2)$ ]] && return
    echo "is $state, expected $2"
    grep -rl "handed_in_by_$1\b" "$out/logs"
    jq -r --arg who "$1" '.students[] | select(.name == $who) | .labs[0].why' "$work/all.json"
    return 1
}
nowhere() { # WORD...: true if no stored result of other submissions contains it; logs/ also holds their own sources
    local log
    log=$(jq -r '.students[] | select(.name == "honest") | .labs[0].log // empty' "$work/all.json")
    ! grep -rIn -e "$1" "$out/logs" "$work/kept" "$work/report" "$work/all.csv" --exclude="$(basename "${log:-none}")" --exclude="*.cu"
}
remarked() { # NAME: prints whether it has a remark on suspicious words
    jq -e --arg who "$1" '[.students[] | select(.name == $who) | .remarks[]? | select(.kind == "suspicious")] | length > 0' "$work/all.json"
}

check "the honest kernel gets its verdict" is honest 'correct|pass|close'
check "and is not suspicious" test "$(remarked honest)" = false
for row in "${expected[@]}"; do
    check "$row" is ${row}
    check "${row% *} is reported" remarked "${row% *}"
done
check "the report lists suspicious words" grep -q "Words in kernels that no lab needs" "$work/report"
check "no secret from the environment, other files or other students" nowhere "swordfish"
check "no line of the solutions" nowhere "neighbours in a warp are neighbours in memory"
check "no password file" nowhere "root:x:0"
check "no attack read anything but its own files" nowhere "LOOT.*\(SQLite\|honest\|it is there\|[^/]kernel.cu\)"
check "no command line shows what is mounted" nowhere "LOOT.*-bind"
check "no file was written outside the sandbox" test ! -e "$work/elsewhere/evil" -a ! -e "$out/evil" -a ! -e labs/evil -a ! -e /tmp/evil
check "and existing files are unchanged" grep -q "last year" "$work/elsewhere/marks.txt"
check "no log is larger than 2 MiB" test -z "$(find "$out" -size +2M -name '*.txt')"
check "the database is intact" test "$(sqlite3 -readonly "$out/gradebook.sqlite" "PRAGMA integrity_check")" = ok
[ "$failed" = 0 ] || { [ -z "${KEPT:-}" ] || cp -r "$work" "$KEPT"; }
finish
