# compare.awk - compares the counts of the simulated GPU with those of hardware; see compare.sh.
#
#     awk -f compare.awk deviations.txt LABELS OUTPUTS SIMULATED FIXTURE
#
# Launches of one label with one kernel, grid and block are added up. For each counter that is not
# 0 on both sides, a line:
#
#     same|known|DIFFERS LABEL KERNEL GRID BLOCK COUNTER HARDWARE SIMULATED
#
# "known": a row of deviations.txt allows it. Fails if anything differs, if a launch is on one side only, or,
# if all labels were asked for, if a row is unnecessary.

function key_of(name)
{
    # The profiler and we may name instances of a template differently: the label tells them apart.
    return $1 " " name " " $3 " " $4
}

# Whether `text` matches a pattern with stars: the parts of the pattern follow each other.
function matches(text, pattern, part, parts, i, at)
{
    parts = split(pattern, part, "*")
    if (substr(text, 1, length(part[1])) != part[1])
        return 0
    text = substr(text, length(part[1]) + 1)
    for (i = 2; i < parts; i++) {
        at = index(text, part[i])
        if (!at)
            return 0
        text = substr(text, at + length(part[i]))
    }
    if (parts == 1)
        return text == ""
    return length(text) >= length(part[parts]) && \
        substr(text, length(text) - length(part[parts]) + 1) == part[parts]
}

# The first row that allows this, or 0.
function allowed(label, counter, ratio, r)
{
    for (r = 1; r <= rows; r++) {
        if (!matches(label, row_label[r]) || !matches(counter, row_counter[r]))
            continue
        if (row_least[r] == "any" || (ratio >= row_least[r] && ratio <= row_most[r])) {
            used[r] = 1
            return r
        }
    }
    return 0
}

function judge(key, counter, hardware, simulated, same, ratio, part)
{
    if (hardware == 0 && simulated == 0)
        return
    split(key, part, " ")
    compared++
    if (!same && allowed(part[1], counter, ratio))
        word = "known"
    else
        word = same ? "same" : "DIFFERS"
    words[word]++
    print word, key, counter, hardware, simulated
}

function equal(key, counter, hardware, simulated)
{
    judge(key, counter, hardware, simulated, hardware == simulated, \
        hardware ? simulated / hardware : 1e9)
}

# Bounds of conflicts are shares of the corresponding wavefronts.
function conflicts(key, counter, hardware, simulated, wavefronts)
{
    judge(key, counter, hardware, simulated, hardware == simulated, \
        wavefronts ? 1 + (simulated - hardware) / wavefronts : 1e9)
}

function shared(key, what, more, more_conflicts)
{
    equal(key, "shared_" what "_wavefronts", hw[key, "shared_" what "_wavefronts"], \
        sim[key, "shared_" what "_wavefronts"] + more)
    conflicts(key, "shared_" what "_conflicts", hw[key, "shared_" what "_conflicts"], \
        sim[key, "shared_" what "_conflicts"] + more_conflicts, hw[key, "shared_" what "_wavefronts"])
}

function lacks(key, what, part)
{
    split(key, part, " ")
    if (allowed(part[1], "launch", 1))
        return
    print "MISSING", key, what
    missing++
}

# Threads per instruction: within 5 %, or within 10 % with a cause in the table.
function near(key, counter, hardware, simulated, off)
{
    off = hardware ? simulated / hardware - 1 : 1
    judge(key, counter, sprintf("%.3f", hardware), sprintf("%.3f", simulated), \
        off <= 0.05 && off >= -0.05, 1 + off)
}

BEGIN {
    split("name grid block ld_requests ld_sectors st_requests st_sectors at_requests at_sectors " \
        "copy_requests copy_sectors shared_ld_wavefronts shared_ld_conflicts shared_st_wavefronts " \
        "shared_st_conflicts shared_atom_wavefronts shared_atom_conflicts copy_wavefronts " \
        "copy_conflicts loop_wavefronts loop_ideal ffma thread_instructions instructions", ours, " ")
}

FILENAME != last_file { last_file = FILENAME; file++ }

# ---- Allowed deviations ----

file == 1 {
    if (/^#/ || !NF)
        next
    rows++
    row_label[rows] = $1
    row_counter[rows] = $2
    split($3, range, "[.][.]")
    row_least[rows] = range[1]
    row_most[rows] = range[2]
    row_text[rows] = $0
    next
}

file == 2 { wanted[$1] = 1; labels++; next }
file == 3 { output[$2] = $3; next }

# ---- Counts of the simulated GPU ----

file == 4 {
    key = key_of($2)
    simulated[key] = 1
    for (i = 5; i <= NF; i++)
        sim[key, ours[i - 1]] += $i
    next
}

# ---- Counts of hardware ----

/^# columns: / {
    for (i = 3; i <= NF; i++)
        column[$i] = i - 2
    next
}
/^#/ { next }
!($1 in wanted) { left_out++; next }
{
    key = key_of($2)
    if (!(key in hardware)) {
        hardware[key] = 1
        order[++keys] = key
    }
    for (name in column)
        if (column[name] > 5)
            hw[key, name] += $(column[name])
    hw[key, "active"] += $(column["pred_on"]) * $(column["instructions"])
    if (!($1 in told)) {
        told[$1] = 1
        equal_output[$1] = output[$1] == $(column["output"])
        label_key[$1] = key
    }
}

END {
    for (i = 1; i <= keys; i++) {
        key = order[i]
        if (!(key in simulated)) {
            lacks(key, "was not launched on the simulated GPU")
            continue
        }
        equal(key, "ld_requests", hw[key, "ld_requests"], \
            sim[key, "ld_requests"] + sim[key, "copy_requests"])
        equal(key, "ld_sectors", hw[key, "ld_sectors"], \
            sim[key, "ld_sectors"] + sim[key, "copy_sectors"])
        equal(key, "st_requests", hw[key, "st_requests"], sim[key, "st_requests"])
        equal(key, "st_sectors", hw[key, "st_sectors"], sim[key, "st_sectors"])
        equal(key, "atomic_requests", hw[key, "atom_requests"] + hw[key, "red_requests"], \
            sim[key, "at_requests"])
        equal(key, "atomic_sectors", hw[key, "atom_sectors"] + hw[key, "red_sectors"], \
            sim[key, "at_sectors"])
        shared(key, "ld", sim[key, "loop_wavefronts"], sim[key, "loop_wavefronts"] - sim[key, "loop_ideal"])
        shared(key, "st", 0, 0)
        shared(key, "atom", 0, 0)
        conflicts(key, "copy_conflicts", hw[key, "copy_conflicts"], sim[key, "copy_conflicts"], \
            sim[key, "copy_wavefronts"])
        equal(key, "ffma", hw[key, "ffma"], sim[key, "ffma"])
        near(key, "threads", hw[key, "active"] / hw[key, "instructions"], \
            sim[key, "thread_instructions"] / sim[key, "instructions"])
    }
    for (key in simulated)
        if (!(key in hardware))
            lacks(key, "was launched on the simulated GPU only")
    for (label in told)
        judge(label_key[label], "output", "as", equal_output[label] ? "there" : "not", \
            equal_output[label], 1)
    for (r = 1; r <= rows && !left_out; r++)
        if (!used[r]) {
            print "STALE: this row of deviations.txt is unnecessary: " row_text[r]
            stale++
        }
    printf "counters: %d launches of %d labels, %d counts: %d the same, %d known to differ, " \
        "%d differ, %d missing, %d rows stale\n", keys, labels, compared, words["same"], \
        words["known"], words["DIFFERS"], missing, stale
    exit words["DIFFERS"] + missing + stale > 0 || !keys
}
