#!/bin/bash
# portfolio.sh BUILD - make report in a copy of the workbook: a page for a beginner and one for a student with results, with a roofline
# from a real run; a damaged .warpbook; axe-core in headless Chromium if it is installed (make setup-slides). Needs nvcc.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
export WARPBOOK_BUILD=$build
. tests/check.sh

book=$work/book home=$PWD
mkdir -p "$book/build"
cp -r labs solutions common grader "$book"
mkdir "$book/.warpbook"
report() { (cd "$book" && "$build/warpbook" report --device sim) > "$work/said.report"; }
page() { cp "$build/report.html" "$work/$1.html"; }
has() { grep -qF -- "$2" "$work/$1.html"; }
[ ! -e "$build/report.html" ] || cp "$build/report.html" "$work/kept.html"

check "a beginner's page" report
page beginner
check "no lab has begun" not has beginner "<section"
check "all labs are listed" has beginner 09_sgemm

cp "$(find solutions/01_coalescing -maxdepth 1 -name '[1-9]*.cu' | sort -V | tail -1)" "$book/labs/01_coalescing/kernel.cu"
sed -i 's/^load_16:/load_16: 32/' "$book/labs/01_coalescing/predictions.txt"
cat > "$book/.warpbook/progress" << 'END'
lab:01_coalescing verdict:pass best:pass ratio:1.0000 hints:1 date:2026-11-22
lab:06_transpose verdict:wrong best:slow ratio:0.4060 hints:2 date:2026-11-23
END
for day in 20 21 22; do
    echo "at:2026-11-${day}T10:00:00Z lab:01_coalescing verdict:slow ratio:0.$day device:Teaching_GPU kernel:$day"
done > "$book/.warpbook/history"
echo 'lab:01_coalescing kernel:16 device:sim key:load_sectors@23 given:4 right:1 tries:1 date:2026-11-22' > "$book/.warpbook/quiz"
check "a page with results" report
page student
for part in 'id="01_coalescing"' 'id="06_transpose"' 'sectors per load, line 23' '3 gradings' 'roofline-01_coalescing' '1 of 3'; do
    check "the page has $part" has student "$part"
done
check "no answer that was not given" not has student "The same with cols = 4?"
check "the same page from kept rooflines" report

for file in progress history quiz; do head -c 3000 /dev/urandom > "$book/.warpbook/$file"; done
check "a damaged .warpbook" report
page damaged

if [ -e slides/node_modules/axe-core/axe.min.js ]; then
    check "axe-core finds nothing" node "$home/tests/learner/portfolio.mjs" "$work/beginner.html" "$work/student.html" "$work/damaged.html"
else
    skip "axe-core is not installed (make setup-slides)"
fi
[ ! -e "$work/kept.html" ] || cp "$work/kept.html" "$build/report.html"

echo "portfolio: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
