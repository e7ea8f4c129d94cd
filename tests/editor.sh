#!/bin/bash
# editor.sh - make editor: its files, that it never overwrites yours, and a real clangd on references.
set -uo pipefail
cd "$(dirname "$0")/.."
. tests/check.sh
root=$PWD
real=$(. grader/build/toolkit.sh && echo "$cuda")

# A copy of the workbook, and a toolkit that is nothing but a folder and an nvcc that names it.
tree=$work/a\ tree toolkit=$work/toolkit
mkdir -p "$tree/grader/learner" "$tree/grader/build" "$toolkit/bin"
cp -R common labs solutions "$tree"
cp grader/learner/editor.sh grader/learner/cache_hints.h "$tree/grader/learner"
cp grader/build/toolkit.sh "$tree/grader/build"
printf '#!/bin/sh\necho "#\\$ TOP=%s" >&2\n' "$toolkit" > "$toolkit/bin/nvcc"
chmod +x "$toolkit/bin/nvcc"
cd "$tree" || exit 1
editor() { CUDA_HOME=$toolkit grader/learner/editor.sh; }
of_tasks() { sed 1d .vscode/tasks.json | jq -re "$1"; }

check "writes its files" says "wrote .vscode/tasks.json" editor
labs=$(ls -d labs/*/kernel.cu | wc -l)
check "one command per kernel" test "$(jq '[.[] | select(.file | startswith("labs/"))] | length' compile_commands.json)" = "$labs"
check "the toolkit's path" jq -e --arg flag "--cuda-path=$toolkit" 'all(.[]; .arguments | index($flag))' compile_commands.json
check "the lab's folder and common" jq -e --arg flag "-I$tree/labs/06_transpose" \
    '.[] | select(.file == "labs/06_transpose/kernel.cu") | .arguments | index($flag)' compile_commands.json
check "no flag that only nvcc knows" not grep -qE -e '-gencode|-Xptxas|expt-' compile_commands.json
check "tasks are JSON" of_tasks '.tasks | length == 5'

# A problem matcher finds file and line.
matches() { # NUMBER LINE
    local regexp
    regexp=$(of_tasks ".tasks[0].problemMatcher[$1].pattern.regexp") && grep -qP -- "$regexp" <<< "$2"
}
check "nvcc's errors" matches 0 'labs/06_transpose/kernel.cu(12): error: identifier "x" is undefined'
check "nvcc's warnings" matches 0 'kernel.cu(3): warning #177-D: variable "y" was declared but never referenced'
check "what is no error of nvcc" not matches 0 'kernel.cu compiled'
check "the grader's lines" matches 1 '        (simulated: 53.2 of 131 GB/s), the bar is 0.75; kernel.cu:45: bank conflicts'
check "with a column" matches 1 'labs/06_transpose/kernel.cu:12:5: error: expected ;'
check "what has no line" not matches 1 'see kernel.cu: it is slow'

check "writes them again" says "wrote .clangd" editor
echo "# mine" >> .clangd
echo '{ "tasks": [] }' > .vscode/tasks.json
check "leaves what was changed" says "left .clangd as it is" editor
check "and says where the new one is" test -s .warpbook/editor/new/.clangd
check "and what is the student's own" test "$(cat .vscode/tasks.json)" = '{ "tasks": [] }'
check "but writes the others" says "wrote compile_commands.json" editor
rm .vscode/tasks.json
check "and a file that was removed" says "wrote .vscode/tasks.json" editor
none() { env -u CUDA_HOME PATH=/usr/bin:/bin sh -c "sed -i 's|/usr/local/cuda/bin/nvcc|/none|' grader/build/toolkit.sh; grader/learner/editor.sh"; }
if PATH=/usr/bin:/bin command -v nvcc > /dev/null; then
    skip "nvcc is in /usr/bin"
else
    check "without a toolkit" status_is 3 none
fi

# ---- A real clangd ----

if ! command -v clangd > /dev/null || [ -z "$real" ]; then
    skip "no clangd, or no CUDA Toolkit"
    finish
    exit
fi
cp "$root/grader/build/toolkit.sh" grader/build
rm .clangd
check "with the real toolkit" says "wrote compile_commands.json" grader/learner/editor.sh
understands() { clangd --log=error --check="$1" --check-lines=1-1; }
for lab in labs/*/; do
    lab=$(basename "$lab")
    reference=$(find "solutions/$lab" -maxdepth 1 -name '[1-9]*.cu' | sort -V | tail -1)
    check "$lab: the reference" understands "$reference" # uses all that its starter does
done
check "a starter" understands labs/00_first/kernel.cu
echo "int wrong = no_such_name;" >> labs/00_first/kernel.cu
check "a mistake is found" not understands labs/00_first/kernel.cu
finish
