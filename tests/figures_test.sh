#!/bin/bash
# figures_test.sh - tests figures.sh on made-up texts and stores: what it must accept, fill in, and refuse with
# file, line, cell and the expected figure.
set -uo pipefail
figures=$(cd "$(dirname "$0")" && pwd)/figures.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 rows=0

# A table of two rows with the figures $1 .. $4; $5: a sentence.
text() {
    cat << END
# A lesson

<!-- measured
rung 1 => 1_first
3: {ROW/big/ms %.2f} ({ROW/big/ratio %.3f})
4: {ROW/small/GFLOP/s %.1f / 1000}
-->
| kernel | idea | big | small |
|---|---|---|---|
| rung 1 | 32 at a time | $1 | $2 |
| \`wrong/slow\` | a & b | $3 | $4 |

${5:-No figure.}
END
}
head='device: NVIDIA X, 4 SMs\ndriver: 1.2\nCUDA: 13.0\ndate: 2026-11-21\ncommand: a\n\n'
lines='1_first/big/ms 0.4567\n1_first/big/ratio 1.00049\n1_first/small/GFLOP/s 12340.0\nwrong/slow/big/ms 7\nwrong/slow/big/ratio 0.1'

lab() { # STORE TEXT, a folder made anew
    rm -rf "$work/book"
    mkdir -p "$work/book/labs/01_a" "$work/book/docs/measured"
    printf "$1\n" > "$work/book/docs/measured/01_a.check.txt"
    printf '%s\n' "$2" > "$work/book/labs/01_a/README.md"
}
row() { # MODE STATUS PATTERN, of what is said
    rows=$((rows + 1))
    "$figures" "$1" "$work/book" > "$work/said" 2>&1
    local status=$?
    echo "(end)" >> "$work/said"
    [ "$status" = "$2" ] && grep -qE -- "$3" "$work/said" && return
    echo "row $rows: status $status, wanted $2 with: $3"
    cat "$work/said"
    failed=1
}
right=$(text '0.46 (1.000)' 12.3 '7.00 (0.100)' '?')

lab "$head$lines" "$right"
row check 0 ' 3 as stored, 1 not measured yet'
row missing 0 '^labs/01_a/README.md:11: wrong/slow/small/GFLOP/s$'
row write 0 ''
[ "$(cat "$work/book/labs/01_a/README.md")" = "$right" ] || { echo "what is right was changed"; failed=1; }

# Figures that differ are reported, and filled in.
lab "$head$lines" "$(text '0.47 (1.000)' '?' '7.00 (0.100)' 3.1)"
row check 1 '^labs/01_a/README.md:10: row rung 1, cell 3: `0.47 \(1.000\)`, wanted `0.46 \(1.000\)`$'
row check 1 '^labs/01_a/README.md:10: row rung 1, cell 4: `\?`, wanted `12.3`$'
row check 1 '^labs/01_a/README.md:11: row wrong/slow, cell 4: `3.1`, wanted `\?`$'
row write 0 '^written: labs/01_a/README.md$'
[ "$(cat "$work/book/labs/01_a/README.md")" = "$right" ] || { echo "write did not fill in:"; cat "$work/book/labs/01_a/README.md"; failed=1; }
row check 0 ''

# No store at all: every cell must be `?`; an empty cell has no figure.
lab "$head" "$(text '?' '' '?' '?')"
row check 0 ' 0 as stored, 3 not measured yet'
rm "$work/book/docs/measured/01_a.check.txt"
row check 0 ' 0 as stored, 3 not measured yet'

# Words are never overwritten.
lab "$head$lines" "$(text 'some words' 12.3 '7.00 (0.100)' '?')"
row write 1 '`some words` is no figure; wanted `0.46 \(1.000\)`'

# Sentences, and values of the head.
lab "$head$lines" "$(text '?' '?' '?' '?' 'It is 0.46<!-- {1_first/big/ms %.2f} --> ms (2026-11-20<!-- {check date} -->).')"
row check 1 '^labs/01_a/README.md:13: `2026-11-20`, wanted `2026-11-21`$'
row write 0 ''
grep -q '0.46<!-- {1_first/big/ms %.2f} --> ms (2026-11-21<!-- {check date} -->)' "$work/book/labs/01_a/README.md" || { echo "the sentence was not mended"; failed=1; }
lab "$head$lines" "$(text '?' '?' '?' '?' 'half<!-- {1_first/big/ms %.2f} -->')"
row check 1 ':13: malformed: .*wanted a figure right before it'

# Invalid comments: sed changes one line of the valid text.
bad() { # SED PATTERN
    lab "$head$lines" "$(sed "$1" <<< "$right")"
    row check 1 "$2"
}
bad 's/^rung 1 =>/rung 2 =>/' 'no row of the table above begins with `rung 2`'
bad 's/^rung 1 =>/rung 1 =/' ':4: malformed: `rung 1 = 1_first`'
bad 's/^4: {/9: {/' ':10: malformed: the comment above names cell 9 of 4'
bad 's/^4: {/1: {/' 'names cell 1 of 4'
bad 's/%.1f/%s/' 'malformed: `ROW/small/GFLOP/s %s / 1000`'
bad 's/ratio %.3f}/ratio %.3f/' 'a brace is missing'
bad '/^-->/d' 'does not end|malformed'
bad 's/^-->/-->\nText between./' ':8: malformed: no table follows'
bad '/^[34]:/d' 'names no column'
bad 's/^<!-- measured/<!-- measured x/' ':3: malformed: wanted `<!-- measured`'
bad '/^|/d' 'no table follows'

# Invalid stores.
store() { # STORE PATTERN
    lab "$1" "$right"
    row check 1 "$2"
}
store "$head$lines\nwords and no figure" 'docs/measured/01_a.check.txt:12: malformed: wanted `key value`'
store "$head$lines\n1_first/big/ms 0.4" '`1_first/big/ms` is stored twice'
store "$head$lines\nkey 1e6" 'malformed: wanted `key value`'
store "${head/date/dates}$lines" 'the head does not say `date: ...`'
store "no head\n\n$lines" 'malformed: wanted in the head'

[ $failed = 0 ] && echo "figures.sh: $rows cases"
exit $failed
