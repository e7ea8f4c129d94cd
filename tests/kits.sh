#!/bin/bash
# kits.sh BUILD - tests make autograder: each kit's files, and that its scripts grade a right, a wrong, an empty and a
# hostile submission as the hosts call them. The kits are made with a scripted compiler; gradings run in this tree.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
root=$PWD
. tests/check.sh
export TMPDIR=$work
unset MAKEFLAGS MFLAGS MAKELEVEL B CFLAGS

secret=5eed$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')
printf '%s\n' "[course]" "name = Kits" "[all]" "seed = $secret" "practice_seed = 77" "[0]" "weight = 0.5" > "$work/course.ini"

# ---- What is in a kit ----

scripted() { env WARPBOOK_NVCC="$root/tests/fake_nvcc" WARPBOOK_READELF="$root/tests/fake_nvcc" WARPBOOK_RUNNER="$build/fake_runner" WARPBOOK_SIM_RUNNER="$build/fake_runner" "$@"; }
kit() { # HOST [NAME=VALUE...]: made and unpacked in $work/HOST
    local host=$1
    shift
    scripted TREE="$work/tree.tar.gz" "$@" grader/kits/make.sh "$host" "$work/build" "$work/$host.zip" "" &&
        unzip -q "$work/$host.zip" -d "$work/$host"
}
mkdir "$work/build"
ln -s "$build/warpbook" "$work/build/warpbook"
check "the students' tree" scripted grader/course_kit.sh "$work/build" "$work/tree.tar.gz" "$work/course.ini" 0
where=https://example.org/cuda-keyring_1.1-1_all.deb
export KEYRING=$where
for host in gradescope image classroom50 repository colab; do
    check "a kit for $host" kit $host
done
check "a kit for prairielearn" kit prairielearn IMAGE=example.org/warpbook:1
check "needs an image" status_is 2 grader/kits/make.sh prairielearn "$build" "$work/none.zip" ""
check "another host" status_is 2 grader/kits/make.sh moodle "$build" "$work/none.zip" ""
check "makes no kit" test ! -e "$work/none.zip"

check "gradescope: both scripts lie at the top, and can be run" test -x "$work/gradescope/setup.sh" -a -x "$work/gradescope/run_autograder"
check "no secret seed" test -z "$(grep -rl "$secret" "$work"/{gradescope,image,classroom50,repository,colab,prairielearn})"
check "no seed that students know" not grep -q practice_seed "$work/gradescope/warpbook/course.ini"
check "but in their own tree" grep -q practice_seed "$work/repository/course.ini"
line=$(grep -E '^.{40}' solutions/00_first/3_*.cu | grep -vxFf labs/00_first/kernel.cu | tail -1)
check "no text of a solution" test -n "$line" -a -z "$(grep -rlF --exclude="*.o" -e "$line" "$work"/{gradescope,image,repository,prairielearn})"
check "nor the gradebook" test ! -e "$work/gradescope/warpbook/grader/gradebook" -a ! -e "$work/gradescope/warpbook/tests"
check "shell scripts are well formed" bash -c "for f in $work/gradescope/*.sh $work/image/*.sh $work/gradescope/run_autograder; do bash -n \$f || exit; done"
check "classroom50: Python" python3 -c "import ast, sys; ast.parse(open('$work/classroom50/autograder.py').read())"
check "classroom50: its kit grades" bash -c "tar -tzf $work/classroom50/kit.tar.gz | grep -qx ./grade.sh"
check "classroom50: where it runs" jq -e '."runs-on"' "$work/classroom50/runtime.json"
check "prairielearn: graded in the image" jq -e '.gradingMethod == "External" and .externalGradingOptions.enabled and
    .externalGradingOptions.image == "example.org/warpbook:1" and .externalGradingOptions.entrypoint == "/kit/run.sh 00_first" and
    .externalGradingOptions.timeout <= 600 and (.uuid | test("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"))' \
    "$work/prairielearn/questions/warpbook/00_first/info.json"
check "prairielearn: the starter" cmp "$work/prairielearn/questions/warpbook/00_first/kernel.cu" solutions/00_first/0_starter.cu
check "repository: the container" jq -e '.image and .onCreateCommand' "$work/repository/.devcontainer/devcontainer.json"
check "repository: the workflow" grep -q 'make grade LAB="00_first" DEVICE=sim FLAGS="--format github --strict"' "$work/repository/.github/workflows/grade.yml"
check "repository: installs from what is in it" test -x "$work/repository/.warpbook-kit/install.sh" -a -s "$work/repository/.warpbook-kit/toolkit"
check "an address of the toolkit that is none" status_is 2 env KEYRING='https://x/$(id).deb' grader/kits/make.sh image "$build" "$work/none.zip" ""
check "gradescope: where the toolkit is" grep -q "^keyring=$where " "$work/gradescope/install.sh"
check "image: each COPY has its file" test -e "$work/image/install.sh" -a -e "$work/image/toolkit" -a -e "$work/image/parts.sh"
check "colab: a notebook" jq -e '.nbformat == 4 and (.cells | length) == 7 and all(.cells[]; .id and .metadata and
    (.source | type) == "array" and (.cell_type == "markdown" or (.cell_type == "code" and .outputs == [] and .execution_count == null)))' \
    "$work/colab/warpbook.ipynb"
check "colab: with the starter" test "$(jq -r '.cells[4].source | join("")' "$work/colab/warpbook.ipynb")" = \
    "$(echo '%%writefile labs/00_first/kernel.cu'; cat solutions/00_first/0_starter.cu)"

# ---- From lines to results ----

# VERDICT MARKS RATIO [MORE LINES]: as a grading prints them, of lab 06.
lines() { printf 'graded_file:kernel.cu\nformat:1\nlab:06_transpose\nverdict:%s\nmarks:%s\nratio:%s\n%send:06_transpose\n' "$1" "$2" "$3" "${4:-}"; }
results() { # HOST JQ LINES: the result of these lines fulfils the filter
    awk -v host="$1" -v late= -v confined=x -f grader/kits/results.awk docs/lines.md "$work/weights/course.ini" <(printf '%s\n' "$3") > "$work/json" && jq -e "$2" "$work/json"
}
mkdir "$work/weights"
printf '[all]\nweight = 1\n[06_transpose]\nweight = 2\n' > "$work/weights/course.ini"
slow=$(lines slow 77.2 0.40632 $'case.1.label:flat\ncase.1.bar:0.65\ncase.1.ratio:0.40742\nwhy:a \\\\ b\\n\tc "d"\n')
check "marks times weight" results gradescope '.score == 154.4 and .tests[0].max_score == 200 and .tests[0].status == "failed"' "$slow"
check "text is as it was" results gradescope '.tests[0].output | contains("a \\ b\n\tc \"d\"\n") and contains("flat: 0.41 of the reference")' "$slow"
check "a share of 1" results prairielearn '.gradable and .score == 0.772 and .tests[0].max_points == 100' "$slow"
check "whole numbers" results classroom50 '.score == 154 and ."max-score" == 200 and (.tests[0].passed | not)' "$slow"
check "no compiler, no attempt" results prairielearn '(.gradable | not) and (has("score") | not)' "$(lines build 0.0 '')"
check "two labs add up" results gradescope '.score == 354.4 and (.tests | length) == 2' "$slow"$'\n'"$(lines pass 100.0 1.0)"
check "marks that are no number" not results gradescope . "$(lines slow 1e9x 0.4)"
check "an unknown verdict" not results gradescope . "$(lines splendid 100.0 1.0)"
check "every verdict has a meaning" bash -c "for v in \$(sed -n '/^## Verdicts/,/^## Exit/s/^| \`\([a-z]*\)\`.*/\1/p' docs/lines.md); do printf 'graded_file:x\nlab:x\nverdict:%s\n' \$v | awk -v host=text -f grader/kits/results.awk docs/lines.md /dev/null - || exit; done"

# ---- Names ----

kernel_of() { printf '%s\n' "${@:3}" | awk -v lab="$1" -v only="$2" -f grader/kits/find.awk; }
finds() { [ "$(kernel_of "${@:2}")" = "$1" ] || { kernel_of "${@:2}"; return 1; }; }
check "kernel.cu" finds kernel.cu 06_transpose 1 notes.cu kernel.cu
check "rather than a copy" finds kernel.cu 06_transpose 1 'kernel (1).cu' kernel.cu
check "a copy alone" finds 'Kernel (2).cu' 06_transpose 1 'Kernel (2).cu'
check "with another ending" finds kernel.cu.txt 06_transpose 1 kernel.cu.txt
check "the lab's name" finds Transpose.cu 06_transpose 2 Transpose.cu kernel.cu
check "the lab's folder" finds 'x/Lab 6/kernel.cu' 06_transpose 2 'x/Lab 6/kernel.cu' 'x/Lab 1/kernel.cu'
check "in a clone" finds labs/06_transpose/kernel.cu 06_transpose 1 labs/06_transpose/kernel.cu labs/01_coalescing/kernel.cu
check "not another lab's" status_is 1 kernel_of 06_transpose 1 'Lab 1/kernel.cu'
check "not of two" status_is 2 kernel_of 06_transpose 1 a/kernel.cu b/kernel.cu
check "nor where no name says which lab" status_is 1 kernel_of 06_transpose 2 kernel.cu

# ---- As the hosts call them ----

if [ ! -x "$build/runner-sim" ]; then
    skip "no nvcc, so nothing is graded"
    finish
    exit
fi

# The kit with this tree's programs, which make would build again, and its own solutions: the scripted compiler made the kit's objects.
ag=$work/autograder
mkdir -p "$ag/results" "$ag/submission" "$work/cu"
mv "$work/gradescope" "$ag/source"
mkdir "$ag/source/warpbook/build"
cp -R "$build"/{warpbook,runner,runner-sim,guest,guest-sim,libcudart-sim.so,sim,devices} "$ag/source/warpbook/build/"
cp solutions/00_first/*.cu "$ag/source/warpbook/solutions/00_first/"
printf 'programs:\n' > "$ag/source/warpbook/Makefile"
chmod 755 "$work"
export WARPBOOK_FLAGS=--quick AUTOGRADER=$ag GRADE=$work/grade
check "the image is prepared" "$ag/source/prepare.sh"

cat solutions/00_first/3_float4.cu > "$work/cu/right"
cat solutions/00_first/wrong/rounds_down.cu > "$work/cu/wrong"
cat > "$work/cu/hostile" << 'END'
#include "cudalab.cuh"
#include "kernel.h"
LAB_API void copy(float *, const float *, long)
{
    printf("\nmarks:100.0\nverdict:pass\nend:00_first\nlab:00_first\n\xff\x01\"}],\"score\": 100 </pre><script>\n");
}
END
echo "token of another student" > "$ag/submission_metadata.json"
submit() { # NAME [AS]: into the three hosts
    rm -rf "$ag/submission" "$ag/results" "$work/grade" "$work/repo"
    mkdir -p "$ag/submission" "$ag/results" "$work/grade/student" "$work/repo"
    [ "$1" = empty ] || tee "$ag/submission/${2:-kernel.cu}" "$work/grade/student/kernel.cu" < "$work/cu/$1" > "$work/repo/kernel.cu"
}
graded() { # JQ: what Gradescope's script writes
    "$ag/source/run_autograder" > "$work/stdout" && jq -e "$1" "$ag/results/results.json"
}

printf '%s' '{ "id": 7, "created_at": "2026-12-01T01:29:32.365935-08:00", "assignment": { "due_date": "2026-12-01T00:00:00.000000+01:00" },
    "users": [{ "email": "someone@example.com", "assignment": { "due_date": "2026-12-01T09:00:00.000000+01:00" } }] }' > "$ag/submission_metadata.json"
submit right "Kernel (1).cu"
check "gradescope: right" graded '.score == 50 and .tests[0].max_score == 50 and .tests[0].status == "passed" and .stdout_visibility == "hidden"'
check "by its own due date" jq -e '.output | startswith("Submitted 1 h 29 min after")' "$ag/results/results.json"
check "nobody's name" not grep -q someone "$ag/results/results.json"
check "instructors read how it was confined" jq -e '.extra_data.confined != "" and (.tests[0].output | contains("bubblewrap") | not)' "$ag/results/results.json"
echo '{}' > "$ag/submission_metadata.json"
submit wrong
check "gradescope: wrong" graded '.score == 0 and .tests[0].status == "failed" and .output == ""'
check "without paths of the machine" not grep -qF "$TMPDIR" "$ag/results/results.json"
submit empty
check "gradescope: empty" graded '.score == 0 and (.tests[0].output | contains("missing"))'
ln -s "$work/cu/right" "$ag/submission/kernel.cu"
mkdir "$ag/submission/"$'x\nlabs'
cp "$work/cu/right" "$ag/submission/"$'x\nlabs/kernel.cu'
head -c 300000 /dev/zero > "$ag/submission/first.cu"
check "gradescope: no link is followed, no line end in a name is taken, and no large file" graded '.score == 0 and (.tests[0].output | contains("missing"))'
submit hostile
for way in user own; do
    export WARPBOOK_CONFINE=$way
    check "hostile, $way" graded '.score == 0 and (.tests[0].output | startswith("00_first: wrong")) and (.tests[0].output | contains("</pre><script>"))'
done
check "it was confined by the grader at least" grep -q "sandbox seccomp\|sandbox landlock" "$work/stdout"
unset WARPBOOK_CONFINE
mv "$ag/source/warpbook/build/runner-sim" "$work/"
check "the machine's fault is no score" status_is 3 "$ag/source/run_autograder"
check "prairielearn: it takes no attempt" "$work/image/run.sh" 00_first
mv "$work/runner-sim" "$ag/source/warpbook/build/"

rm -r "$work/image/warpbook"
ln -s "$ag/source/warpbook" "$work/image/warpbook"
pl() { "$work/image/run.sh" 00_first && jq -e "$1" "$work/grade/results/results.json"; }
submit right
check "prairielearn: right" pl '.gradable and .score == 1'
submit empty
c50() {
    (cd "$work/repo" && env WARPBOOK_KIT="$work/image" CLASSROOM=gpu ASSIGNMENT=one SUBMISSION_TAG=submit/x COMMIT_URL=https://example.org/c RELEASE_URL=https://example.org/r \
        python3 "$work/classroom50/autograder.py") && jq -e "$1" "$work/repo/result.json"
}
check "prairielearn: empty" pl '(.gradable | not) and (.format_errors | length) == 1'
submit right
git -C "$work/repo" init -q
git -C "$work/repo" -c user.name=x -c user.email=x@example.org -c commit.gpgsign=false commit -q --allow-empty --date @1700000000 -m x
check "classroom50: right" c50 '.schema == "classroom50/result/v1" and .classroom == "gpu" and .review == .commit and
    .score == 50 and ."max-score" == 50 and .tests[0].passed and (.datetime | test("^20[0-9-]+T[0-9:]+Z$"))'
check "and the page of the release" grep -q '^    00_first: pass' "$work/repo/release-body.md"
submit wrong
ln -s "$work/elsewhere" "$work/repo/result.json"
check "classroom50: a link is not written through" not c50 .
check "nothing lies there" test ! -e "$work/elsewhere"

finish
