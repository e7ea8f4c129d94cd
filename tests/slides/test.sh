#!/bin/bash
# test.sh [BUILD [LAB]] - decks in BUILD/slides, measured in headless Chromium; faulty decks, on each of which the fault is
# found; and that a deck changes with what it quotes. Needs what slides/setup.sh installs.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/check.sh
build=${1:-build}

if ! slides/check_tools.sh 2> "$work/missing"; then
    skip "$(cat "$work/missing")"
    finish
    exit
fi

check "what is missing is named, and how to get it" \
    says "Missing: node chromium gnuplot. To install: make setup-slides" not env PATH="$work" /bin/sh slides/check_tools.sh
check "faults are found" node tests/slides/faults.mjs

# A copy with one deck, built again after each change. Drawings are not what changes here.
mkdir -p "$work/copy/docs"
cp -r docs/measured "$work/copy/docs/"
cp -r slides labs solutions "$work/copy/"
rm "$work/copy/slides/"[0-9]*.md
cat > "$work/copy/slides/06_quotes.md" <<'DECK'
---
title: Quotes
lab: 06_transpose
---

## {{5_padded/flat/GB/s %.0f}} GB/s

<!-- 1 min. Say this. -->

```code solutions/06_transpose/5_padded.cu copy_kernel
```
DECK
built() { (cd "$work/copy" && node slides/build.mjs --html 6); }
in_deck() { grep -q -- "$1" "$work/copy/build/slides/06_quotes.html"; }

check "a deck is built" built
stored=$(sed -n 's|^5_padded/flat/GB/s ||p' docs/measured/06_transpose.check.txt)
check "a figure is in it" in_deck ">$stored</span> GB/s"
check "an unchanged deck is up to date" says "1 decks are up to date" built
sed -i 's|^5_padded/flat/GB/s .*|5_padded/flat/GB/s 4321|' "$work/copy/docs/measured/06_transpose.check.txt"
check "a changed figure builds it again" built
check "and is in it" in_deck ">4321</span> GB/s"
sed -i 's|COPY_THREADS + threadIdx.x|COPY_THREADS + threadIdx.x + 0|' "$work/copy/solutions/06_transpose/5_padded.cu"
check "changed code builds it again" built
check "and is in it, too" in_deck "threadIdx.x + 0"
sed -i 's|copy_kernel|copy_all|' "$work/copy/solutions/06_transpose/5_padded.cu"
check "a renamed function fails the build, with file and line" \
    says "slides/06_quotes.md:10: .*5_padded.cu has no function or region 'copy_kernel'" not built
sed -i '/^5_padded\/flat\/GB\/s/d' "$work/copy/docs/measured/06_transpose.check.txt"
check "a removed figure fails it as well" says "slides/06_quotes.md:6: no figure" not built

check "the table of decks in slides/README.md is that of the decks" node slides/build.mjs --out "$build/slides" --outline check

shopt -s extglob nullglob
decks=("$build"/slides/!(*.handout).html)
if [ ${#decks[@]} -gt 0 ]; then
    check "decks are legible" node tests/slides/measure.mjs "${decks[@]}"
    grep -h 'slides measured' "$work/said"
else
    skip "no deck in $build/slides: make slides"
fi
finish
