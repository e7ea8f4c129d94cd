#!/bin/bash
# editor.sh - `make editor`: files that make editors understand kernel.cu.
#
#     compile_commands.json  for clangd: how each kernel is compiled, in clang's words
#     .clangd                for clangd: what it must not pass on if another tool writes nvcc's flags
#     .vscode/tasks.json     for VS Code: tasks for this lab, with problem matchers
#
# A file is written if it is missing or unchanged since the last make editor (.warpbook/editor has the copies).
# Otherwise it is yours: the new one is left in .warpbook/editor/new, with a message.
set -euo pipefail
cd "$(dirname "$0")/../.."

. grader/build/toolkit.sh
if [ -z "$cuda" ]; then
    echo "No CUDA Toolkit found: editors need its headers. Install it, or set CUDA_HOME to its folder." >&2
    exit 3
fi
kept=.warpbook/editor new=.warpbook/editor/new
mkdir -p "$new/.vscode" "$kept/.vscode" .vscode

json() { printf '"%s"' "$(printf %s "$1" | sed 's/[\\"]/\\&/g')"; }

# sm_80 is an architecture that every clang since 11 and every toolkit knows; kernels see it as __CUDA_ARCH__.
flags_of() { # FOLDER
    for flag in clang++ -x cuda -std=c++17 "--cuda-path=$cuda" --cuda-gpu-arch=sm_80 -Wno-unknown-cuda-version \
        "-I$PWD/labs/$1" "-I$PWD/common" -include "$PWD/grader/learner/cache_hints.h"; do
        printf '%s, ' "$(json "$flag")"
    done
}

commands() {
    local file lab comma=
    echo "["
    for file in labs/*/kernel.cu solutions/*/*.cu solutions/*/beyond/*.cu; do
        [ -e "$file" ] || continue
        lab=${file#*/}
        lab=${lab%%/*}
        printf '%s  { "directory": %s, "file": %s,\n    "arguments": [%s%s] }' "$comma" "$(json "$PWD")" "$(json "$file")" \
            "$(flags_of "$lab")" "$(json "$file")"
        comma=$',\n'
    done
    printf '\n]\n'
}

clangd() {
    cat << 'END'
# How clangd reads this workbook; compile_commands.json has the compile flags. Written by make editor.
CompileFlags:
  # Flags of nvcc that clang does not know, should another tool write them.
  Remove: [-gencode*, --generate-code*, -arch=*, -code=*, -rdc=*, -Xptxas*, -Xcompiler*, --expt-*, --compress*, -lineinfo, -cudart, --threads*]
Diagnostics:
  # Clang warns of what nvcc accepts.
  Suppress: [unknown_cuda_version]
END
}

# A task that runs make GOAL for the lab of the open file.
task() { # NAME GOAL MATCHERS
    printf '    { "label": %s, "type": "shell", "command": %s, "group": "build",\n      "problemMatcher": [%s] }' \
        "$(json "$1")" "$(json "make $2")" "$3"
}

# nvcc writes kernel.cu(12): error: ..., the grader kernel.cu:12: ... or kernel.cu:12:5: ... The file's folder, if it
# is there, is that of the open file.
matcher() { # OWNER REGEXP FILE LINE COLUMN SEVERITY MESSAGE: numbers of groups; 0: the regexp has none
    printf '\n      { "owner": "%s", "fileLocation": ["relative", "${fileDirname}"],\n' "$1"
    printf '        "pattern": { "regexp": %s, "file": %s, "line": %s' "$(json "$2")" "$3" "$4"
    [ "$5" = 0 ] || printf ', "column": %s' "$5"
    [ "$6" = 0 ] || printf ', "severity": %s' "$6"
    printf ', "message": %s }, "severity": "error" }' "$7"
}

tasks() {
    local lab='LAB=${fileDirnameBasename}' both
    both="$(matcher nvcc '(?:^|[\s/])([^\s:(/]+\.cuh?)\((\d+)\): (error|warning)(?: #[0-9]+-D)?: (.*)$' 1 2 0 3 4),"
    both+="$(matcher warpbook '(?:^|[\s/])([^\s:(/]+\.cuh?):(\d+):(?:(\d+):)? (.*)$' 1 2 3 0 4) "
    echo '// Tasks for the lab of the open file: Terminal > Run Task. Written by make editor.'
    echo '{'
    echo '  "version": "2.0.0",'
    echo '  "tasks": ['
    task "grade this lab" "grade $lab" "$both" && echo ,
    task "grade all labs" "grade" "" && echo ,
    task "watch this lab" "watch $lab" "" && echo ,
    task "explain this lab" "explain $lab" "" && echo ,
    task "hint for this lab" "hint $lab" "" && echo
    echo '  ]'
    echo '}'
}

# install FILE: puts the new file into place unless the present one is yours.
install() {
    if [ ! -e "$1" ] || cmp -s "$1" "$kept/$1" || cmp -s "$1" "$new/$1"; then
        cp "$new/$1" "$1"
        cp "$new/$1" "$kept/$1"
        echo "wrote $1"
    else
        echo "left $1 as it is: it is yours, or you changed it. The new one is $new/$1: copy from it what you need."
    fi
}

commands > "$new/compile_commands.json"
clangd > "$new/.clangd"
tasks > "$new/.vscode/tasks.json"
for file in compile_commands.json .clangd .vscode/tasks.json; do
    install "$file"
done
echo "Open this folder in your editor. It needs the extension clangd; docs/learning.md#editor has more."
