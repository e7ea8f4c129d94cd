# figures.awk - holds the figures of a text against the store of measured ones, or fills them in.
#
#     awk -v mode=check|write|missing -f figures.awk [STORE...] TEXT.md
#
# A store is plain text, docs/measured/LAB.WHAT.txt: a head of `name: value` lines (device, driver,
# CUDA, date, command), an empty line, then `key value`, one figure a line; the value is the last
# word, the key ends with the unit. `date` of LAB.check.txt has the key `check date`.
#
# In a text, before a table:        and in a sentence, right behind a figure:
#
#     <!-- measured                     1.04<!-- {KEY %.2f} -->
#     rung 1 => 1_naive
#     3: {ROW/d = 64/ms %.2f} ({ROW/d = 64/ratio %.3f})
#     -->
#
# The row that begins with `rung 1` has the key 1_naive; a row that is not named, its own first cell.
# Cell 3 of each row holds what the pattern says, ROW being the row's key; `%.1f / 1000` divides. A
# cell of which a key is not in the store must be `?`; an empty one is left alone.
#
# check: says what differs, and ends with 1 if anything does. write: prints the text with its figures
# as stored, and complains only of what cannot be filled in. missing: lists keys that are not stored.

function complain(text) { printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"; faults++ }

function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }

# All of `s` with each `old` replaced by `new`; neither is a regular expression.
function replaced(s, old, new,    at, out) {
    while (at = index(s, old)) {
        out = out substr(s, 1, at - 1) new
        s = substr(s, at + length(old))
    }
    return out s
}

# A text with each of its numbers, and each `?`, as one N: what two texts with other figures share.
function shape(s) { gsub(/-?[0-9]+(\.[0-9]+)?/, "N", s); return s }

# ---- The store ----

BEGIN { needs = split("device driver CUDA date command", need, " ") }

function read_store(    value, key, i) {
    if (FNR == 1) {
        head = 1
        what = FILENAME # docs/measured/LAB.WHAT.txt
        sub(/\.txt$/, "", what)
        sub(/.*\./, "", what)
        split("", given)
    }
    if ($0 == "") {
        for (i = 1; head && i <= needs; i++)
            if (!(need[i] in given))
                complain("the head does not say `" need[i] ": ...`")
        head = 0
        return
    }
    if (head) {
        if (!match($0, /^[A-Za-z]+: ./))
            return complain("malformed: wanted in the head: `name: value`")
        key = substr($0, 1, index($0, ":") - 1)
        value = substr($0, index($0, ":") + 2)
        given[key] = 1
        key = what " " key
    } else {
        if (NF < 2 || $NF !~ /^-?[0-9]+(\.[0-9]+)?$/)
            return complain("malformed: wanted `key value`, the value a number")
        value = $NF
        key = trim(substr($0, 1, length($0) - length(value)))
    }
    if (key in store)
        return complain("`" key "` is stored twice")
    store[key] = value
}

# ---- Patterns ----

# The figure of `KEY FORMAT` or `KEY`, between braces; "" if it is not stored. Sets bad to a complaint.
function figure(inner, row,    key, format, divisor) {
    key = inner
    format = ""
    divisor = 1
    if (match(inner, / %.*$/)) {
        key = substr(inner, 1, RSTART - 1)
        format = substr(inner, RSTART + 1)
        if (match(format, / \/ [0-9]+$/)) {
            divisor = substr(format, RSTART + 3)
            format = substr(format, 1, RSTART - 1)
        }
        if (format !~ /^%\.[0-9]f$/ || divisor == 0) {
            bad = "malformed: `" inner "`: wanted `KEY %.2f` or `KEY %.2f / 1000`"
            return ""
        }
    }
    key = replaced(key, "ROW", row)
    if (!(key in store)) {
        if (mode == "missing")
            printf "%s:%d: %s\n", FILENAME, FNR, key
        return ""
    }
    return format == "" ? store[key] : sprintf(format, store[key] / divisor)
}

# What a cell must hold: the pattern with its figures, or `?`. Sets formed, the pattern's shape.
function fill(pattern, row,    out, value, open, shut, unknown) {
    formed = ""
    bad = ""
    while (open = index(pattern, "{")) {
        shut = index(pattern, "}")
        if (shut < open) {
            bad = "malformed: `" pattern "`: a brace is missing"
            return "?"
        }
        value = figure(substr(pattern, open + 1, shut - open - 1), row)
        if (value == "")
            unknown = 1
        out = out substr(pattern, 1, open - 1) value
        formed = formed shape(substr(pattern, 1, open - 1)) "N"
        pattern = substr(pattern, shut + 1)
    }
    formed = formed shape(pattern)
    return unknown ? "?" : out pattern
}

# `held`, what stands in a cell (`where`) or a sentence (""), beside what it must be: what stands there
# afterwards. Words are never overwritten.
function settle(held, pattern, row, where,    wanted) {
    wanted = fill(pattern, row)
    if (bad != "") {
        complain(where bad)
        return held
    }
    if (wanted == "?")
        unmeasured++
    else
        measured++
    if (held == wanted)
        return held
    if (where != "" && held != "?" && shape(held) != formed) {
        complain(where "`" held "` is no figure; wanted `" wanted "`")
        return held
    }
    if (mode == "check")
        complain(where "`" held "`, wanted `" wanted "`")
    return wanted
}

# ---- Tables ----

function read_comment(    at) {
    if ($0 == "-->") {
        state = "before"
        if (!columns)
            complain("malformed: the comment above names no column")
    } else if (at = index($0, " => ")) {
        row_key[trim(substr($0, 1, at - 1))] = trim(substr($0, at + 4))
    } else if (match($0, /^[0-9]+: .*[{].*[}]/)) {
        at = index($0, ":")
        column[substr($0, 1, at - 1) + 0] = trim(substr($0, at + 1))
        columns++
    } else
        complain("malformed: `" $0 "`: wanted `LABEL => KEY`, `NUMBER: PATTERN` or `-->`")
}

# A row of the table: cells 1 .. n, of which the first is the label.
function read_row(    cells, n, label, i, out) {
    n = split($0, cells, "|") - 2
    label = trim(cells[2])
    gsub(/`/, "", label)
    gsub(/<!--[^>]*-->/, "", label)
    seen[label] = 1
    if (rows++ < 2) # the table's own head
        return
    for (i in column) {
        if (i + 0 > n || i + 0 < 2)
            complain("malformed: the comment above names cell " i " of " n)
        else if (trim(cells[i + 1]) != "")
            cells[i + 1] = " " settle(trim(cells[i + 1]), column[i], label in row_key ? row_key[label] : label, \
                                      "row " label ", cell " i ": ") " "
    }
    out = cells[1]
    for (i = 2; i <= n + 2; i++)
        out = out "|" cells[i]
    $0 = out
}

function end_table(    label) {
    for (label in row_key)
        if (!(label in seen))
            complain("malformed: no row of the table above begins with `" label "`")
    state = ""
}

# ---- Sentences ----

# FIGURE<!-- {KEY %.2f} -->
function read_sentence(    rest, out, before, note, held) {
    rest = $0
    out = ""
    while (match(rest, /<!-- [{][^}]*[}] -->/)) {
        before = substr(rest, 1, RSTART - 1)
        note = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (match(before, /([0-9][0-9.-]*|\?)$/)) {
            held = substr(before, RSTART)
            before = substr(before, 1, RSTART - 1)
            out = out before settle(held, substr(note, 6, length(note) - 9), "", "") note
        } else {
            complain("malformed: `" note "`: wanted a figure right before it")
            out = out before note
        }
    }
    $0 = out rest
}

# ---- From line to line ----

FILENAME ~ /\.txt$/ { read_store(); next }

/^<!-- measured/ {
    if (state != "")
        complain("malformed: a comment inside another, or before its table")
    if ($0 != "<!-- measured")
        complain("malformed: wanted `<!-- measured`, and nothing else in its line")
    state = "comment"
    opened = FNR
    columns = rows = 0
    split("", row_key)
    split("", column)
    split("", seen)
    if (mode == "write") print
    next
}

state == "comment" { read_comment(); if (mode == "write") print; next }

state == "before" && /^\|/ { state = "table" }
state == "before" && !/^$/ { complain("malformed: no table follows the comment"); state = "" }
state == "table" && !/^\|/ { end_table() }
state == "table" { read_row() }

{
    read_sentence()
    if (mode == "write") print
}

END {
    if (state == "table")
        end_table()
    else if (state != "")
        complain("malformed: the comment in line " opened " does not end, or has no table")
    if (mode == "check")
        print measured + 0, unmeasured + 0
    exit faults > 0
}
