#!/bin/bash
# dependencies.sh - checks that folders depend on each other one way: each includes only folders before it.
#
# One row per program, in the order in which folders may include each other; `common` and grader/base are for
# all. So there can be no cycle, and a folder that a row does not name may not be included. Knows only folders.
set -euo pipefail
cd "$(dirname "$0")/.."

rows="
common grader/base
common grader/base grader/build
common grader/base grader/sim/base grader/sim/memory grader/sim/runtime grader/runner
common grader/base grader/build grader/runner/protocol.h grader/sim/base grader/sim/device grader/judge grader/draw grader/learner
common grader/base grader/sim/base grader/sim/binary grader/sim/ptx grader/sim/device grader/sim/memory grader/sim/exec grader/calc
common grader/base grader/build grader/judge grader/draw grader/learner grader/calc grader/sim grader
common grader/base grader/sim/base grader/sim/binary grader/sim/ptx grader/sim/device grader/sim/memory grader/sim/exec grader/sim/check grader/sim/machine grader/sim/time grader/sim/record grader/sim/report grader/sim/runtime
common grader/base grader/runner/guest_wire.h grader/runner/sim_calls.h grader/sim/base grader/sim/memory grader/sim/runtime grader/sim/guest
common grader/base grader/sim/base grader/sim/binary grader/sim/device grader/sim
common grader/base grader/build grader/gradebook/base grader/gradebook/import grader/gradebook/store grader/gradebook/run grader/gradebook/slurm grader/gradebook
common grader/base grader/gradebook/base grader/gradebook/import grader/gradebook/store grader/gradebook/report grader/gradebook
"

# A folder without its own place in a row belongs to the folder that contains it.
folder_of() {
    local folder=$1
    while ! grep -qE "(^| )$folder( |$)" <<< "$rows"; do
        case $folder in */*) folder=${folder%/*} ;; *) break ;; esac
    done
    echo "$folder"
}

# Every include of the tree's own headers, as "FILE HEADER".
includes() {
    local file
    git ls-files -co --exclude-standard grader labs/*/lab.c | grep -E '\.(c|h|cu|def)$' | while read -r file; do
        [ -e "$file" ] && sed -n "s|^ *# *include *\"\(.*\)\"\$|$file \1|p" "$file"
    done
}

# Folders and files of the rows, and those to the left of each.
check() {
    awk -v rows="$rows" '
        function place(path) { sub("/[^/]*$", "", path)
            while (!(path in known) && sub("/[^/]*$", "", path)) ; return path }
        BEGIN { count = split(rows, row, "\n")
            for (i = 1; i <= count; i++) { n = split(row[i], name, " ")
                for (j = 1; j <= n; j++) { known[name[j]]
                    for (k = 1; k < j; k++) left[name[j], name[k]] } } }
        { file = $1; header = system("test -e grader/" $2) ? "common/" $2 : "grader/" $2
          own = place(file); other = place(header)
          if (file ~ /^labs/) { if (header !~ /^common/ && $2 != "kernel.h") print file " includes " $2 ": a lab needs common/ alone"
          } else if (own != other && !((own, other) in left) && !((own, header) in left))
              print file " includes " $2 ": " own "/ may not depend on " other "/" }'
}

# The rows must agree: no two of them order two folders differently.
circles() {
    for row in "${lines[@]}"; do
        # shellcheck disable=SC2086 # words
        set -- $row
        while [ $# -gt 1 ]; do echo "$1 $2"; shift; done
    done | tsort > /dev/null
}

# Tests the check itself: it must find a wrong include.
for wrong in "grader/base/text.c judge/compare_speed.h" "grader/sim/exec/ops/float.c sim/time/timing.h" "grader/gradebook/run/limits.c judge/worker.h" \
    "grader/judge/grade.c learner/report.h" "labs/06_transpose/lab.c base/util.h"; do
    [ -n "$(check <<< "$wrong")" ] || { echo "dependencies: '$wrong' is not found"; exit 1; }
done

mapfile -t lines < <(grep . <<< "$rows")
circles 2>&1 || exit 1
found=$(includes | check)
if [ -n "$found" ]; then
    echo "$found"
    echo "See CONTRIBUTING.md, section The tree: a folder includes only folders to its left."
    exit 1
fi
echo "dependencies point one way"
