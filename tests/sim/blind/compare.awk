# compare.awk - compares simulated GPUs with the hardware on the blind set; see compare.sh.
#
#     awk -f statistics.awk -f compare.awk NAMES LAUNCHED COUNTED pairs.txt FIXTURE...
#
# Prints one line per launch, then the figures of the open and of the sealed launches.

FNR == 1 { file++ }
file == 1 { order[++names] = $1; state[$1] = $2; next }
file == 2 { output[$2] = $3; launches[$2] = $4; modelled[$2] = $5; next }
file == 3 {
    counted[$1] = 1
    split("instructions threads ld_requests ld_sectors st_requests st_sectors at_requests at_sectors copy_requests " \
          "copy_sectors shared_ld shared_st shared_atom ffma", key, " ")
    for (i = 2; i <= NF; i++)
        sim[$1, key[i - 1]] = launches[$1] ? $i / launches[$1] : 0
    next
}
file == 4 { if (!/^#/ && NF == 2) { first[++pairs] = $1; second[pairs] = $2 } next }
/^# columns: / {
    for (i = 3; i <= NF; i++)
        column[$i] = i - 1
    next
}
$1 == "time" { measured[$2] = $3; spread[$2] = $4; next }
$1 == "count" {
    profiled[$2] = 1
    their_output[$2] = $6
    for (name in column)
        if (column[name] > 6)
            hw[$2, name] += $(column[name])
    hw[$2, "active"] += $(column["pred_on"]) * $(column["instructions"])
}

# same NAME KIND: whether a count equals the hardware's
function same(name, what, kind, theirs, ours)
{
    if (!theirs && !ours)
        return
    compared[state[name], kind]++
    if (theirs == ours)
        equal[state[name], kind]++
    else
        differ[name] = differ[name] sprintf(" %s %.4g", what, theirs ? ours / theirs : 0)
}

function compare_counts(name, h, r, t)
{
    h = state[name]
    r = sim[name, "instructions"] / hw[name, "instructions"]
    t = sim[name, "instructions"] ? sim[name, "threads"] / sim[name, "instructions"] : 0
    t /= hw[name, "active"] / hw[name, "instructions"]
    instruction_error[h, ++counts[h]] = error_of(r)
    near_threads[h] += t >= 0.95 && t <= 1.05
    same(name, "ld_requests", "requests", hw[name, "ld_requests"], sim[name, "ld_requests"] + sim[name, "copy_requests"])
    same(name, "ld_sectors", "sectors", hw[name, "ld_sectors"], sim[name, "ld_sectors"] + sim[name, "copy_sectors"])
    same(name, "st_requests", "requests", hw[name, "st_requests"], sim[name, "st_requests"])
    same(name, "st_sectors", "sectors", hw[name, "st_sectors"], sim[name, "st_sectors"])
    same(name, "at_requests", "requests", hw[name, "atom_requests"] + hw[name, "red_requests"], sim[name, "at_requests"])
    same(name, "at_sectors", "sectors", hw[name, "atom_sectors"] + hw[name, "red_sectors"], sim[name, "at_sectors"])
    same(name, "shared_ld", "wavefronts", hw[name, "shared_ld_wavefronts"], sim[name, "shared_ld"])
    same(name, "shared_st", "wavefronts", hw[name, "shared_st_wavefronts"], sim[name, "shared_st"])
    same(name, "shared_atom", "wavefronts", hw[name, "shared_atom_wavefronts"], sim[name, "shared_atom"])
    same(name, "ffma", "multiply-adds", hw[name, "ffma"], sim[name, "ffma"])
    return sprintf("%6.3f %7.3f ", r, t)
}

function compare(name, h, r, counts_text)
{
    h = state[name]
    if (!(name in modelled) || modelled[name] <= 0 || !(name in measured)) {
        printf "%-20s %-6s %s\n", name, h, name in measured ? "not modelled" : "not measured"
        missing[h]++
        return
    }
    r = modelled[name] / measured[name]
    n[h]++
    time_error[h, n[h]] = error_of(r)
    ours[h, n[h]] = modelled[name]
    theirs[h, n[h]] = measured[name]
    if (error_of(r) > worst[h]) {
        worst[h] = error_of(r)
        worst_name[h] = name
    }
    counts_text = sprintf("%6s %7s ", "-", "-")
    if ((name in profiled) && (name in counted) && hw[name, "instructions"] > 0)
        counts_text = compare_counts(name)
    printf "%-20s %-6s %10.2f %10.2f %8.2f %7.3f %s%s%s\n", name, h, modelled[name], measured[name], spread[name], r, \
        counts_text, (name in their_output) && output[name] != their_output[name] ? " output" : "", differ[name]
}

function compare_pair(a, b, h, r, m)
{
    if (!(a in state) || !(b in state) || !(modelled[a] > 0) || !(modelled[b] > 0) || !measured[a] || !measured[b])
        return
    h = state[a] == "sealed" || state[b] == "sealed" ? "sealed" : "open"
    r = measured[a] / measured[b]
    m = modelled[a] / modelled[b]
    if (error_of(r) <= 0.05)
        return
    pairs_of[h]++
    if ((r > 1) == (m > 1))
        right[h]++
    printf "pair %-20s %-20s %-6s modelled %7.3f measured %7.3f%s\n", a, b, h, m, r, (r > 1) == (m > 1) ? "" : " WRONG"
}

function share(h, kind)
{
    return sprintf("%d of %d", equal[h, kind], compared[h, kind])
}

function summary(h, e, i, a, b)
{
    if (!n[h])
        return
    for (i = 1; i <= n[h]; i++) {
        e[i] = time_error[h, i]
        a[i] = ours[h, i]
        b[i] = theirs[h, i]
    }
    sort(e, n[h])
    printf "%s: time of %d launches: error median %.1f %%, p90 %.1f %%, worst %.2f times (%s), Spearman %.3f; pairs right %d of %d; not compared %d\n", \
        h, n[h], 100 * quantile(e, n[h], 0.5), 100 * quantile(e, n[h], 0.9), 1 + worst[h], worst_name[h], \
        spearman(a, b, n[h]), right[h], pairs_of[h], missing[h]
    if (!counts[h])
        return
    for (i = 1; i <= counts[h]; i++)
        e[i] = instruction_error[h, i]
    sort(e, counts[h])
    printf "%s: instructions of %d launches: error median %.1f %%, p90 %.1f %%; threads per instruction within 5 %%: %d of %d\n", \
        h, counts[h], 100 * quantile(e, counts[h], 0.5), 100 * quantile(e, counts[h], 0.9), near_threads[h], counts[h]
    printf "%s: equal: sectors %s, requests %s, wavefronts %s, multiply-adds %s\n", h, share(h, "sectors"), \
        share(h, "requests"), share(h, "wavefronts"), share(h, "multiply-adds")
}

END {
    print "# launch state modelled_us measured_us quartiles_us ratio instructions threads; then: counts that differ, ours / theirs"
    for (i = 1; i <= names; i++)
        compare(order[i])
    for (i = 1; i <= pairs; i++)
        compare_pair(first[i], second[i])
    summary("open")
    summary("sealed")
    exit n["open"] + n["sealed"] == 0
}
