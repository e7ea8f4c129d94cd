# results.awk - turns the output of `warpbook grade --format lines` into the result file of a `host`.
#
# Input: docs/lines.md, for the meaning of the verdicts; course.ini (may be empty), for the labs' weights; then the
# lines. Variables: host; late, a sentence or ""; confined, for instructors.

# ---- Reading ----

function first_sentence(text) {
    sub(/\. .*/, "", text)
    return text
}

FILENAME ~ /lines\.md$/ {
    if (/^#/)
        in_verdicts = /^## Verdicts/
    else if (in_verdicts && split($0, cell, " *[|] *") > 3 && cell[2] ~ /^`[a-z]+`$/)
        meaning[substr(cell[2], 2, length(cell[2]) - 2)] = first_sentence(cell[3])
    next
}

FILENAME ~ /course\.ini$/ {
    if (match($0, /^\[[^]]*\]/))
        section = substr($0, 2, RLENGTH - 2)
    else if ($0 ~ /^ *weight *=/)
        weight[section] = substr($0, index($0, "=") + 1) + 0
    next
}

{
    colon = index($0, ":")
    key = substr($0, 1, colon - 1)
    value = substr($0, colon + 1)
    if (key == "graded_file")
        count++
    if (key == "lab")
        lab[count] = value
    if (!((count, key) in of))
        of[count, key] = value
}

# ---- Text ----

BEGIN {
    for (i = 0; i < 32; i++)
        escape[sprintf("%c", i)] = "?"
    escape[sprintf("%c", 127)] = "?"
    escape["\n"] = "\\n"
    escape["\t"] = "\\t"
    escape["\""] = "\\\""
    escape["\\"] = "\\\\"
    meaning["missing"] = "no file of the submission is this lab's kernel.cu"
    meaning["several"] = "several files of the submission may be this lab's kernel.cu: submit one"
}

# As a JSON string.
function json(text,    i, c, out) {
    out = ""
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        out = out (c in escape ? escape[c] : c)
    }
    return "\"" out "\""
}

# A value of the lines, whose line ends are "\n" and backslashes "\\"; at most `most` bytes of it.
function plain(value, most,    i, c, out) {
    out = ""
    for (i = 1; i <= length(value) && length(out) < most; i++) {
        c = substr(value, i, 1)
        if (c == "\\") {
            c = substr(value, ++i, 1)
            if (c == "n")
                c = "\n"
        }
        out = out c
    }
    while (length(out) >= most && substr(out, length(out)) ~ /[\200-\277]/) # whole characters
        out = substr(out, 1, length(out) - 1)
    if (length(out) >= most)
        out = substr(out, 1, length(out) - 1)
    return out
}

function value_of(n, key) {
    return (n, key) in of ? of[n, key] : ""
}

# What the student reads about lab n.
function feedback(n,    verdict, text, i) {
    verdict = value_of(n, "verdict")
    text = lab[n] ": " verdict " - " meaning[verdict] ".\n"
    if (value_of(n, "graded_file") != "")
        text = text "Graded file: " plain(value_of(n, "graded_file"), 300) "\n"
    if (value_of(n, "why") != "")
        text = text "\n" plain(value_of(n, "why"), 8000) "\n"
    for (i = 1; value_of(n, "case." i ".label") != ""; i++)
        if (value_of(n, "case." i ".ratio") != "" && value_of(n, "case." i ".bar") != "")
            text = text sprintf("%s: %.2f of the reference's speed, the bar is %.2f\n", value_of(n, "case." i ".label"), \
                                value_of(n, "case." i ".ratio"), value_of(n, "case." i ".bar"))
    if (value_of(n, "note") != "")
        text = text "\n" plain(value_of(n, "note"), 2000) "\n"
    if (verdict != "pass" && value_of(n, "printed") != "")
        text = text "\nYour code printed:\n" plain(value_of(n, "printed"), 4000) "\n"
    if (value_of(n, "ratio") != "")
        text = text "\nSpeed is modelled for the " plain(value_of(n, "device"), 100) ".\n"
    return text
}

# ---- Scores ----

function passed(n) {
    return value_of(n, "verdict") ~ /^(pass|close)$/
}

function weight_of(n) {
    return lab[n] in weight ? weight[lab[n]] : "all" in weight ? weight["all"] : 1
}

# From 0 to 100. A lab without marks (00 first) is passed or not.
function marks(n) {
    if (value_of(n, "marks") != "" && value_of(n, "marks") !~ /^[0-9]+(\.[0-9]+)?$/)
        bad = 1
    return value_of(n, "marks") != "" ? value_of(n, "marks") + 0 : passed(n) ? 100 : 0
}

function full(n) {
    return 100 * weight_of(n)
}

function round(x) {
    return int(x + 0.5)
}

# ---- Hosts ----

function comma(n) {
    return n > 1 ? "," : ""
}

function gradescope(    n, sum) {
    for (n = 1; n <= count; n++)
        sum += marks(n) * full(n) / 100
    printf "{\n  \"score\": %.1f,\n  \"output_format\": \"text\",\n  \"output\": %s,\n  \"stdout_visibility\": \"hidden\",\n  \"tests\": [", sum, json(late)
    for (n = 1; n <= count; n++)
        printf "%s\n    { \"name\": %s, \"score\": %.1f, \"max_score\": %.1f, \"status\": \"%s\", \"output_format\": \"text\",\n      \"output\": %s }", \
            comma(n), json(lab[n]), marks(n) * full(n) / 100, full(n), passed(n) ? "passed" : "failed", json(feedback(n))
    printf "\n  ],\n  \"extra_data\": {\n    \"confined\": %s,\n    \"labs\": [", json(confined)
    for (n = 1; n <= count; n++)
        printf "%s\n      { \"lab\": %s, \"verdict\": %s, \"ratio\": %s, \"seed\": %s, \"source_hash\": %s, \"sandbox\": %s, \"isolation\": %s, \"flag\": %s }", \
            comma(n), json(lab[n]), json(value_of(n, "verdict")), json(value_of(n, "ratio")), json(value_of(n, "seed")), \
            json(value_of(n, "source_hash")), json(value_of(n, "sandbox")), json(value_of(n, "isolation")), json(plain(value_of(n, "flag"), 300))
    printf "\n    ]\n  }\n}\n"
}

# A file that is missing or does not compile takes no attempt.
function prairielearn(    n, sum, most, gradable) {
    for (n = 1; n <= count; n++) {
        sum += marks(n) * most_of(n) / 100
        most += most_of(n)
        if (value_of(n, "verdict") !~ /^(missing|several|build|unchanged)$/)
            gradable = 1
    }
    if (!gradable)
        printf "{\n  \"gradable\": false,\n  \"format_errors\": [%s],\n  \"tests\": [", json(lab[1] ": " value_of(1, "verdict") " - " meaning[value_of(1, "verdict")])
    else
        printf "{\n  \"gradable\": true,\n  \"score\": %.4f,\n  \"tests\": [", most ? sum / most : 0
    for (n = 1; n <= count; n++)
        printf "%s\n    { \"name\": %s, \"points\": %.1f, \"max_points\": %.1f,\n      \"output\": %s }", \
            comma(n), json(lab[n]), marks(n) * most_of(n) / 100, most_of(n), json(feedback(n))
    printf "\n  ]\n}\n"
}

# The share of the score does not depend on the weight of an only lab.
function most_of(n) {
    return count == 1 ? 100 : full(n)
}

# Whole numbers. autograder.py adds what only its environment knows.
function classroom50(    n, sum, most) {
    for (n = 1; n <= count; n++) {
        sum += round(marks(n) * full(n) / 100)
        most += round(full(n))
    }
    printf "{\n  \"score\": %d,\n  \"max-score\": %d,\n  \"tests\": [", sum, most
    for (n = 1; n <= count; n++)
        printf "%s\n    { \"test-name\": %s, \"passed\": %s, \"score\": %d, \"max-score\": %d,\n      \"output\": %s }", comma(n), \
            json(lab[n]), passed(n) ? "true" : "false", round(marks(n) * full(n) / 100), round(full(n)), json(feedback(n))
    printf "\n  ]\n}\n"
}

END {
    for (n = 1; n <= count; n++) {
        marks(n)
        if (!(value_of(n, "verdict") in meaning))
            bad = 1
    }
    if (bad || !count)
        exit 1
    if (host == "gradescope")
        gradescope()
    else if (host == "prairielearn")
        prairielearn()
    else if (host == "classroom50")
        classroom50()
    else if (host == "text")
        for (n = 1; n <= count; n++)
            printf "%s%s", (n > 1 ? "\n" : ""), feedback(n)
    else
        exit 1
}
