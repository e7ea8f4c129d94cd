#!/bin/bash
# test.sh [BUILD [LAB]] - measures the decks in BUILD/slides in headless Chromium. Also tests that the fault of each
# faulty deck is found, and that a deck changes with the files that it quotes. Needs the tools that slides/setup.sh installs.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/check.sh
build=${1:-build}

if ! slides/check_tools.sh 2> "$work/missing"; then
    skip "$(cat "$work/missing")"
    finish
    exit
fi

check "missing tools are reported, and how to install them" \
    says "Missing: node chromium gnuplot. To install: make setup-slides" not env PATH="$work" /bin/sh slides/check_tools.sh
check "faults are found" node tests/slides/faults.mjs

# A copy of the tree with one deck, rebuilt after each change. No drawing changes here.
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

check "the table in slides/README.md matches the decks" node slides/build.mjs --out "$build/slides" --outline check

shopt -s extglob nullglob
decks=("$build"/slides/!(*.handout).html)
if [ ${#decks[@]} -gt 0 ]; then
    check "decks are legible" node tests/slides/measure.mjs "${decks[@]}"
    grep -h 'slides measured' "$work/said"
else
    skip "no deck in $build/slides: make slides"
fi
finish
