#!/bin/bash
# run.sh LAB - the entrypoint of a PrairieLearn question: grades /grade/student into /grade/results/results.json.
set -euo pipefail
grade=${GRADE:-/grade}
mkdir -p "$grade/results"
"$(dirname "$0")/grade.sh" prairielearn "$grade/student" "$grade/results/results.json" "$1" && exit
cat > "$grade/results/results.json" << 'END'
{
  "gradable": false,
  "format_errors": ["The grader or its machine failed, not your kernel. This attempt does not count; tell your instructor."]
}
END
