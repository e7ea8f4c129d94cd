#!/bin/bash
# course_kit.sh BUILD - tests make course-kit: its files, and that it grades as this workbook does.
# First with a scripted compiler and runner; then, if nvcc is installed, a real kit on the simulated GPU.
set -uo pipefail
cd "$(dirname "$0")/.."

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
root=$PWD
. tests/check.sh
export TMPDIR=$work
unset MAKEFLAGS MFLAGS MAKELEVEL B CFLAGS # a make above us, and what it was told

secret=5eed$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')
printf '%s\n' "# the seed is $secret" "[course]" "name = Kit" "device = sim:h200" "[9]" "weight = 3" "[6]" "seed = $secret" "bar of flat = 0.61" > "$work/course.ini"

# Lines of the solutions that are in no starter, lesson, header or page for students, except for the index that begins every kernel.
secret_lines() {
    cat README.md docs/learning.md labs/*/README.md labs/*/lab.c labs/*/*.h common/* solutions/*/0_starter.cu | sed 's/^[ \t]*//' | sort -u > "$work/public"
    cat $(find solutions tests/honest tests/cheats docs/answers -type f ! -name 0_starter.cu) | sed 's/^[ \t]*//' |
        grep -E '.{32}' | grep -vxF 'int i = blockIdx.x * blockDim.x + threadIdx.x;' | sort -u | comm -23 - "$work/public"
}

# TREE: does any of its files contain one of those lines? Starters, which begin like solutions, and the grader,
# whose files the list above names, are left out.
holds_no_solution() {
    secret_lines > "$work/secret"
    [ "$(wc -l < "$work/secret")" -gt 500 ] || { echo "too few lines to look for"; return 1; }
    ! find "$1" -type f ! -path '*/grader/*' ! -name kernel.cu ! -name 0_starter.cu -exec grep -aFl -f "$work/secret" {} +
}

# The allowed files and folders; any other is an error.
holds_only_what_it_should() {
    (cd "$1" && find . -type f) | grep -vE -e '^\./(Makefile|README\.md|AGENTS\.md|LICENSE|CHANGELOG\.md|\.gitignore|course\.ini)$' \
        -e '^\./common/' -e '^\./docs/((integrity|learning|lines|measuring|simulator(-[a-z]+)?)\.md|measured/[0-9a-z_]+\.(check|sweep)\.txt|drawing(\.md|-[a-z]+\.svg)|terminal\.svg)$' -e '^\./grader/[a-z_]*\.(c|h|cu|sh)$' -e '^\./grader/(base|build|runner|judge|learner|draw|calc|sim)/' \
        -e '^\./labs/06_transpose/(README\.md|kernel\.h|kernel\.cu|lab\.c|predictions\.txt)$' \
        -e '^\./solutions/06_transpose/(0_starter\.cu|(1_naive|5_padded|beyond/[6-9]_[a-z_]*)\.(cu|o))$' > "$work/more"
    cat "$work/more"
    [ ! -s "$work/more" ]
}

# ---- With scripted tools ----

(
    export WARPBOOK_NVCC=$root/tests/fake_nvcc WARPBOOK_READELF=$root/tests/fake_nvcc
    export WARPBOOK_RUNNER=$build/fake_runner WARPBOOK_SIM_RUNNER=$build/fake_runner
    mkdir "$work/build" "$work/one"
    ln -s "$build/warpbook" "$work/build/warpbook"
    check "a kit" says "1 labs" grader/course_kit.sh "$work/build" "$work/kit.tar.gz" "$work/course.ini" 06_transpose
    check "unpacks" tar -xzf "$work/kit.tar.gz" -C "$work/one"
    tree=$work/one/warpbook
    check "holds only what it should" holds_only_what_it_should "$tree"
    check "no secret seed" test -z "$(grep -rl "$secret" "$tree")"
    check "its bar" grep -q "^bar of flat = 0.61" "$tree/course.ini"
    check "no section of a lab that is not in it" not grep -q sgemm "$tree/course.ini"
    check "the starter is handed out" cmp "$tree/labs/06_transpose/kernel.cu" solutions/06_transpose/0_starter.cu
    check "no prediction is filled in" test -z "$(grep -E '^[a-z0-9_]+:.+' "$tree/labs/06_transpose/predictions.txt")"
    check "a course file with mistakes" says "mistakes; nothing was packed" grader/course_kit.sh "$work/build" "$work/none.tar.gz" tests/course_kit.sh 6
    check "makes no kit" test ! -e "$work/none.tar.gz"
    check "nor does an unknown lab" says "there is no lab 99" grader/course_kit.sh "$work/build" "$work/none.tar.gz" "" 99
    cd "$tree" || exit 1
    export WARPBOOK_BUILD=$work/built
    graded() { "$build/warpbook" grade 6 --device 0 --quick --format lines --submission "$1"; }
    check "a kernel is timed beside the reference's object" says "^case.1.reference_ms:" graded "$root/solutions/06_transpose/5_padded.cu"
    check "by the course's bar" says "^case.1.bar:0.6100" graded "$root/solutions/06_transpose/5_padded.cu"
    check "and name" says "^course:Kit" graded "$root/solutions/06_transpose/5_padded.cu"
    check "beside it what the device that counts says" says "06 transpose: pass" \
        "$build/warpbook" grade 6 --device 0 --quick --submission "$root/solutions/06_transpose/5_padded.cu"
    check "which is named" says "In this course, only results from sim:h200 count" "$build/warpbook" grade 6 --device 0 --quick
    check "but not beside itself" test -z "$("$build/warpbook" grade 6 --device sim:h200 --quick | grep "In this course")"
    check "the starter is known" says "^verdict:unchanged" graded labs/06_transpose/kernel.cu
    hash=$(graded labs/06_transpose/kernel.cu | grep lab_hash)
    check "the lab is the same" says "^$hash$" sh -c "cd '$root' && '$build/warpbook' grade 6 --device 0 --quick --format lines"
    rm solutions/06_transpose/5_padded.o
    check "an object that is gone is no student's fault" says "^verdict:unsound" graded labs/06_transpose/kernel.cu
    echo "// readelf: load" >> solutions/06_transpose/5_padded.cu
    cp "$root/tests/cheats/constructor.cu" solutions/06_transpose/5_padded.o
    echo "// readelf: load" >> solutions/06_transpose/5_padded.o
    check "an object is audited" says "^verdict:unsound" graded "$root/solutions/06_transpose/5_padded.cu"
    echo "$passed $failed" > "$work/counts"
)
read -r passed failed < "$work/counts"

# ---- With nvcc ----

. grader/build/toolkit.sh
if [ -z "$nvcc" ]; then
    echo "skipped: no nvcc, so no real kit"
    finish
    exit
fi

check "a real kit" says "1 labs" make -s course-kit B="$build" KIT="$work/real.tar.gz" LAB=6 COURSE="$work/course.ini"
mkdir "$work/again" "$work/empty"
ln -s "$build/warpbook" "$work/again/warpbook"
if [ "${SAMPLE:-1}" = 1 ]; then # another build of the whole workbook
    check "once more, with nothing built" grader/course_kit.sh "$work/again" "$work/again.tar.gz" "$work/course.ini" 6
    check "is the same, byte for byte" cmp "$work/real.tar.gz" "$work/again.tar.gz"
fi
tar -xzf "$work/real.tar.gz" -C "$work/empty"
tree=$work/empty/warpbook
check "no source of a solution is in it" holds_no_solution "$tree"
check "nor a path of this machine" test -z "$(grep -rlaF -e "$root/" -e "$build/" "$tree")"
check "it would be found" bash -c "$(declare -f secret_lines holds_no_solution); work=$work; mkdir -p $work/with && cp solutions/06_transpose/5_padded.cu $work/with/x && ! holds_no_solution $work/with"

# The object does what its source does: a test program calls it on the simulated GPU.
cat > "$work/call.cu" << 'END'
#include <cstdio>
extern "C" void transpose(float *out, const float *in, int rows, int cols);
int main()
{
    const int rows = 67, cols = 45;
    static float in[rows * cols], out[rows * cols];
    float *a, *b;
    int wrong = 0;
    for (int i = 0; i < rows * cols; i++)
        in[i] = i;
    cudaMalloc(&a, sizeof in);
    cudaMalloc(&b, sizeof in);
    cudaMemcpy(a, in, sizeof in, cudaMemcpyDefault);
    transpose(b, a, rows, cols);
    cudaMemcpy(out, b, sizeof in, cudaMemcpyDefault);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            wrong += out[c * rows + r] != in[r * cols + c];
    printf("%d wrong\n", wrong);
}
END
for object in 1_naive 5_padded beyond/9_registers; do
    "$nvcc" -cudart shared -o "$work/call" "$work/call.cu" "$tree/solutions/06_transpose/$object.o" > "$work/said" 2>&1
    check "$object.o runs" says "^0 wrong" env WARPBOOK_BUILD="$build" "$build/warpbook" sim -- "$work/call"
done

# As a student would: unpack in an empty folder, make grade.
cd "$tree" || exit 1
check "make grade" says "06 transpose .*NOT STARTED" make grade DEVICE=sim
check "and what the course counts" holds "06 transpose: not started" "$work/out"
check "its own build" test -x build/warpbook
verdict_of() { "$@" --format lines --device sim | grep ^verdict:; }
for kernel in 0_starter 1_naive 5_padded beyond/9_registers; do
    theirs=$(verdict_of build/warpbook grade 6 --submission "$root/solutions/06_transpose/$kernel.cu")
    ours=$(cd "$root" && WARPBOOK_BUILD=$build verdict_of "$build/warpbook" grade 6 --submission "solutions/06_transpose/$kernel.cu")
    check "$kernel: $theirs" test -n "$theirs" -a "$theirs" = "$ours"
done
check "what is not theirs says so" says "needs the whole workbook" make test
check "make alone shows the lab" says "make watch LAB=transpose" make

finish
