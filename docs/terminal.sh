#!/bin/bash
# terminal.sh [BUILD] > docs/terminal.svg - the README's picture: what `make grade` prints for three kernels.
#
# One kernel passes, one is slow, one is wrong; the wrong one is then graded alone. The simulated GPU and a fixed seed give the same text every time.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{01_coalescing,06_transpose,07_reduction}
cp solutions/01_coalescing/2_lanes_along_features.cu "$work/01_coalescing/kernel.cu"
cp solutions/06_transpose/4_tile.cu "$work/06_transpose/kernel.cu"
cp solutions/07_reduction/wrong/tail_missing.cu "$work/07_reduction/kernel.cu"
graded() { # LAB...: what `make grade LAB=...` prints, without what only a submission has
    WARPBOOK_BUILD=$build "$build/warpbook" grade "$@" --submission "$work" --device sim --seed 2026 |
        grep -v '^Graded as a submission'
}
{
    echo '$ make grade LAB="1 6 7"'
    graded 1 6 7
    echo
    echo '$ make grade LAB=reduction'
    graded 7
} > "$work/text"

awk '
function escaped(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); gsub(/>/, "\\&gt;", s); return s }
# The verdict, in a table row or at the start of a paragraph, is marked; its word carries the meaning, not its colour.
function marked(s,   word) {
    if (s !~ /^ ?[0-9][0-9] / || !match(s, /(pass|slow|wrong|PASS|SLOW|WRONG)/)) return escaped(s)
    word = substr(s, RSTART, RLENGTH)
    return escaped(substr(s, 1, RSTART - 1)) "<tspan class=\"" tolower(word) "\">" word "</tspan>" escaped(substr(s, RSTART + length(word)))
}
{ line[NR] = $0 }
END {
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 " NR * 17 + 26 "\" width=\"680\" role=\"img\" aria-labelledby=\"t\">"
    print "<title id=\"t\">What make grade prints for a kernel that passes, one that is slow and one that is wrong</title>"
    print "<!-- Made by docs/terminal.sh. -->"
    print "<style>text { font: 13px ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; fill: #d8dee6; white-space: pre }"
    print ".pass { fill: #5fd38d; font-weight: bold } .slow { fill: #f0b849; font-weight: bold } .wrong { fill: #ff8a80; font-weight: bold }</style>"
    print "<rect width=\"680\" height=\"" NR * 17 + 26 "\" rx=\"8\" fill=\"#15191f\"/>"
    for (i = 1; i <= NR; i++) if (line[i] != "")
        printf "<text x=\"16\" y=\"%d\" xml:space=\"preserve\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\">%s</text>\n", i * 17 + 10, length(line[i]) * 8.1, marked(line[i])
    print "</svg>"
}' "$work/text"
