#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image of the autograder: installs, builds, and grades each starter, so
# that what the reference needs is measured before the first submission.
set -euo pipefail
cd "${AUTOGRADER:-/autograder}/source"
./install.sh "$(cat toolkit)"
./prepare.sh
