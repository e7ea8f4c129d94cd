#!/bin/bash
# english.sh [--accept] - constructions that must not come back into lessons, documents, messages and comments.
#
# It reads the prose of the tree: Markdown, the decks of slides/ with their speaker notes, the lessons' predictions,
# docs/course.ini, and comments and string literals of C, C++ and CUDA. In a deck, {{figures}}, fenced blocks, cites
# and calcs are no prose. Lines of one paragraph, comment or string are joined, so a phrase that wraps is found.
# The filters are not exact, so tests/english.allowed lists what may stay, one line per occurrence, by file and words.
# --accept writes that list again; read its diff before you commit it.
# CONTRIBUTING.md, "English", has the rules. Needs bash, awk, find and sort.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

allowed=tests/english.allowed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A row per rule: the words as an awk pattern, in lower case; the advice. Blanks around the pattern do not count.
cat > "$work/rules" <<'RULES'
mend|mends|mended|mending               | Say fix.
heal|heals|healed                       | Say fix.
whoever|whatever lies                   | Name the actor: a student who ..., a kernel that ...
nobody|anybody                          | Name the actor: no thread, no student, no other process.
(that|which|what|it|value|time|one) (is|are) none | Say invalid or missing.
to be had                               | Say available.
asked for                               | Say required, allowed, requested or limit.
looked at                               | Say checked, inspected or read.
told (of|to|by|where|what|how|once|before|after|as)|(is|are|was|be|been) told | Say reported, printed or named.
beside                                  | Say compared with, next to or alongside.
under way|on (its|their) way            | Say in flight, running or pending.
(go|goes|going|went|gone) on            | Say continue or resume.
(come|comes|came) out                   | Say what the result is.
in vain                                 | Say without effect.
dear|dearer|dearest                     | Say expensive.
rubbish                                 | Say garbage values, or name what it is.
as it stands|stands as it is            | Delete it, or say unchanged.
what there is                           | Name the thing.
too long to simulate|taken too long     | Say time limit exceeded, or too large to simulate.
by chance|left to chance                | Say random, or drawn at random.
without mercy                           | Say always.
in riddles                              | Say output that cannot be parsed.
eldest                                  | Say oldest.
how-manieth                             | Say ordinal.
and (its|their) kin|known in kind       | Say similar, and name them.
at work                                 | Say busy, running or active.
ours|theirs                             | Name it: the grader's, the reference's, the student's.
is no [a-z]+ of                         | Say is not a multiple of.
the more so|none the less               | Delete it, or say anyway.
RULES

# Prints file, line, words and advice, between tabs, for each phrase of the files named that breaks a rule.
cat > "$work/scan.awk" <<'AWK'
BEGIN {
    FS = "\n"
    while ((getline row < rules) > 0) {
        cut = match(row, /[ ]+[|] /)
        words[++count] = "[^a-z0-9_]((" substr(row, 1, cut - 1) "))[^a-z0-9_]"
        advice[count] = substr(row, cut + RLENGTH)
        any = any (count > 1 ? "|" : "") substr(row, 1, cut - 1)
    }
    # "8 sectors a request": a number and perhaps a word, or a plural, or "a row"; then the unit.
    number = "([0-9]+([.,][0-9]+)*|one|two|three|four|five|six|eight|ten|twelve|sixteen|once)"
    unit = "(thread|block|warp|sm|lane|load|step|item|row|call|cycle|clock|element|chunk|request|second|kind|fma" \
           "|student|task|file|gpu|line|launch|access|tile|instruction|column|side|iteration|wave)"
    # A plural before "a" is a rate only if it counts something: "reads a column" is a verb.
    counted = "(accesses|additions|atomics|barriers|bits|blocks|bytes|calls|chunks|clocks|columns|copies|cycles|draws|elements" \
              "|figures|floats|fmas|instructions|items|kernels|lanes|launches|lines|loads|messages|ms|multiply-adds|operands" \
              "|operations|pieces|pixels|processes|products|registers|requests|results|rows|rungs|seconds|sectors|steps|stores" \
              "|students|submissions|sums|tasks|threads|tickets|tiles|times|transfers|twice|values|warps|wavefronts|words)"
    rate = "[^a-z0-9_](" number "( [a-z-]+)?|an? [a-z-]+|" counted ") an? " unit "[^a-z0-9_]"
    # Words before "a" that make it an article.
    split("is was as has does this its thus unless across perhaps always less us plus of in on to for by with from at than into" \
          " and or but not that if when such be only like per over under after before within without through between" \
          " needs takes starts launches gives makes lets means uses holds gets ends begins becomes finds keeps shows" \
          " covers reads writes requires settles identifies computes along", list, " ")
    for (i in list) article[list[i]] = 1
}

FNR == 1 { end_chunk(); file = FILENAME; kind = file ~ /[.](md|txt|ini)$/ ? "text" : "code"; in_comment = quoting = fenced = 0 }
FNR == 1 { deck = file ~ /^slides\// }
/^## / { quoting = file == "CONTRIBUTING.md" && /^## English$/ } # it lists what not to say
quoting { next }
deck && /^```/ { fenced = !fenced; end_chunk(); next }
fenced { next }
deck { deck_line($0); next }
kind == "text" { text_line($0); next }
{ code_line($0) }
END { end_chunk() }

# ---- A chunk is a paragraph, a comment or a string literal: its lines joined, with the line of each piece ----

function add(piece, glue) {
    if (pieces) chunk = chunk glue
    else chunk = " "
    at[++pieces] = length(chunk)
    line_of[pieces] = FNR
    chunk = chunk piece
}

function text_line(line) {
    if (in_comment || line ~ /^<!-- measured/) { # keys of figures
        end_chunk()
        in_comment = line !~ /-->/
        return
    }
    if (line ~ /^[ \t]*$/) { end_chunk(); return }
    if (line ~ /^[ \t]*([|#;-]|[*] |[0-9]+[.] )/) end_chunk()
    sub(/^[ \t]*/, "", line)
    add(line, " ")
}

# A comment of a deck that begins a line and names nothing is a speaker note: it is read aloud, so it is prose.
function deck_line(line) {
    while (match(line, /[{][{][^}]*[}][}]/)) # "0 per launch" reads as a figure did
        line = substr(line, 1, RSTART - 1) "0" substr(line, RSTART + RLENGTH)
    if (line ~ /^(<!--|-->)$/) { end_chunk(); return }
    text_line(line)
}

# State: what the chunk is, of "comment" (in_comment: not closed yet), "slashes" or "string".
function code_line(line,    rest) {
    rest = line
    while (1) {
        if (in_comment) {
            sub(/^[ \t]*[*]? ?/, "", rest)
            if (!(at_end = index(rest, "*/"))) { if (rest == "") end_chunk(); else add(rest, " "); return }
            if (at_end > 1) add(substr(rest, 1, at_end - 1), " ")
            in_comment = 0
            end_chunk()
            rest = substr(rest, at_end + 2)
            continue
        }
        if (!match(rest, /["']|\/[*\/]/)) { if (rest ~ /[^ \t]/) end_chunk(); return }
        found = substr(rest, RSTART, RLENGTH)
        before = substr(rest, 1, RSTART - 1)
        rest = substr(rest, RSTART + RLENGTH)
        if (before ~ /[^ \t]/) end_chunk()
        if (found == "//") {
            sub(/^[\/ \t]*/, "", rest)
            if (state != "slashes") end_chunk()
            state = "slashes"
            add(rest, " ")
            if (rest ~ /^(rung|expect|lab|device): /) end_chunk() # a head line of a kernel
            return
        }
        if (found == "/*") {
            end_chunk()
            state = "comment"
            in_comment = 1
            continue
        }
        # A literal, of which adjacent ones are one: to the closing quote.
        if (found == "\"") match(rest, /^([^"\\]|\\.)*/)
        else match(rest, /^([^'\\]|\\.)*/)
        piece = substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 2)
        if (found == "'") { end_chunk(); continue }
        if (state != "string") end_chunk()
        state = "string"
        gsub(/\\n/, "  ", piece)
        add(piece, "")
    }
}

function end_chunk() {
    if (pieces) inspect()
    pieces = 0
    chunk = state = ""
}

# ---- Rules ----

function inspect(    text, r) {
    while (match(chunk, /<!--([^-]|-[^-]|--[^>])*-->/)) # positions stay: a figure's key is no prose
        chunk = substr(chunk, 1, RSTART - 1) spaces(RLENGTH) substr(chunk, RSTART + RLENGTH)
    text = tolower(chunk) " "
    gsub(/\t/, " ", text)
    if (text ~ any)
        for (r = 1; r <= count; r++)
            if (text ~ words[r]) each(text, words[r], advice[r], 0)
    if (text ~ / an? /) each(text, rate, "Say per, each or every: 8 sectors per request.", 1)
}

function each(text, pattern, why, is_rate,    from, found, parts, n) {
    from = 1
    while (match(substr(text, from), pattern)) {
        start = from + RSTART - 1
        stop = start + RLENGTH - 1
        from = stop
        found = substr(text, start + 1, RLENGTH - 2)
        if (is_rate) {
            n = split(found, parts, " ")
            if (substr(text, 1, start) ~ /(many|more) *$/) continue # "how many sectors a warp touches"
            if (parts[n - 2] in article || (n > 3 && parts[n - 3] in article)) continue
        } else
            found = neighbour(substr(text, 1, start), 1) found neighbour(substr(text, stop), 0)
        if (found ~ /told apart/) continue # to distinguish
        gsub(/ +/, " ", found)
        print file "\t" line_at(start + 1) "\t" found "\t" why
    }
}

# The word before or after, so that an allowed phrase is this one and not any.
function neighbour(text, before) {
    if (before) return match(text, /[^ ]+ +$/) ? substr(text, RSTART, RLENGTH) : ""
    return match(text, /^ +[^ ]+/) ? substr(text, 1, RLENGTH) : ""
}

function line_at(position,    k) {
    for (k = pieces; k > 1 && at[k] >= position; k--)
        ;
    return line_of[k]
}

function spaces(n,    s) {
    s = sprintf("%" n "s", "")
    return s
}
AWK

scan() { # FOLDER: what its texts break
    # shellcheck disable=SC2046 # names without blanks
    (cd "$1" && find $(ls -d README.md CONTRIBUTING.md CHANGELOG.md docs labs common grader slides solutions tests 2> /dev/null) \
        \( -path docs/measured -o -path slides/node_modules \) -prune -o -type f \
        \( -name '*.md' -o -name predictions.txt -o -name course.ini -o -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \) \
        -print0 | sort -z | xargs -0 awk -v rules="$work/rules" -f "$work/scan.awk")
}

# What is found beyond what the list allows, as file:line: words, and the advice.
news() { # FOUND ALLOWED
    awk -F '\t' 'FILENAME == ARGV[1] { left[$0]++; next }
        left[$1 ": " $3]-- > 0 { next }
        { printf "%s:%s: %s\n    %s\n", $1, $2, $3, $4; bad = 1 }
        END { exit bad }' "$2" "$1"
}

# ---- The script itself: four texts that must be found, three that must not, and what the list allows ----

self_test() {
    mkdir -p "$work/self/docs" "$work/self/grader" "$work/self/slides"
    cat > "$work/self/docs/bad.md" <<'TEXT'
# A lesson
It reads 8 sectors a
request, and 0.5<!-- {a/b %.1f} --> of
them are rubbish, as everyone knows.

| one block a row | fine |
TEXT
    cat > "$work/self/slides/00_deck.md" <<'TEXT'
The rate is {{of nobody/GB/s %.0f}} loads a lane. <!-- cite: rubbish -->

```cuda
// nobody reads this
```

<!--
2 min. Say: nobody
knows.
-->
TEXT
    cat > "$work/self/docs/good.md" <<'TEXT'
It launches a block, and each of its 4 warps is a row of the tile.
Recommended: an amended text<!-- nobody sees this -->; the rate is per second.
TEXT
    cat > "$work/self/grader/bad.c" <<'TEXT'
int asked_for; /* a name of what is asked
                * for, which nobody
                * knows */
const char *s = "mending takes tw"
                "o loads a lane\n";
TEXT
    cat > "$work/self/grader/good.c" <<'TEXT'
int mend, nobody = told + beside; // a lane per thread
char quote = '"'; /* "mended" is a word that this file may use */
TEXT
    scan "$work/self" > "$work/found"
    printf '%s\n' 'grader/good.c: mended' 'docs/bad.md: one block a row' > "$work/list"
    news "$work/found" "$work/list" > "$work/said" && return 1
    : > "$work/list"
    [ "$(news "$work/found" "$work/list" | grep -c '^[^ ]')" = 10 ] || return 1
    diff - "$work/said" <<'TEXT'
docs/bad.md:4: are rubbish
    Say garbage values, or name what it is.
docs/bad.md:2: 8 sectors a request
    Say per, each or every: 8 sectors per request.
grader/bad.c:2: which nobody knows
    Name the actor: no thread, no student, no other process.
grader/bad.c:1: is asked for
    Say required, allowed, requested or limit.
grader/bad.c:4: mending takes
    Say fix.
grader/bad.c:4: two loads a lane
    Say per, each or every: 8 sectors per request.
slides/00_deck.md:1: 0 loads a lane
    Say per, each or every: 8 sectors per request.
slides/00_deck.md:8: say: nobody knows.
    Name the actor: no thread, no student, no other process.
TEXT
}
self_test || { echo "english: the script is wrong: it does not find what it must, or finds what it must not"; exit 2; }

scan . > "$work/found"
if [ "${1:-}" = --accept ]; then
    awk -F '\t' '{ print $1 ": " $3 }' "$work/found" | sort > "$allowed"
    echo "english: $(wc -l < "$allowed") phrases are allowed now; read the diff of $allowed"
    exit 0
fi
[ $# = 0 ] || { echo "usage: tests/english.sh [--accept]" >&2; exit 2; }

touch "$work/none"
[ -e "$allowed" ] || allowed=$work/none
if ! news "$work/found" "$allowed"; then
    echo "english: reword these, or, where the filter is wrong, allow them: tests/english.sh --accept"
    exit 1
fi
awk -F '\t' '{ print $1 ": " $3 }' "$work/found" | sort > "$work/now"
gone=$(comm -13 "$work/now" <(sort "$allowed") | wc -l)
echo "english: nothing new; $(wc -l < "$work/now") phrases are allowed, $gone of the list are gone (--accept removes them)"
