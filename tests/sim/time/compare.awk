# compare.awk - compares modelled with measured rates: a table, the errors of each half, the order of each lab's
# rungs, and the sweeps, each with its requirement, and MISSED if it is not met.
#
#     awk [-v slices=N] -f compare.awk MODELLED REFERENCES MEASURED
#
# MODELLED: `NAME RATE`; MEASURED: `NAME RATE fitted|judged|control`. The last word is the half to which the name
# belongs permanently (control: only shown, in neither half and in no order). Rates of a slice count N times.
# REFERENCES: `LAB RUNG`, for names LAB.RUNG.CASE. POINTS, if given, is a file for plots, with
# `NAME MEASURED MODELLED`. Exit status: 1 if a requirement is missed or a rate was not modelled.

function error_of(ratio) { return ratio > 1 ? ratio - 1 : 1 / ratio - 1 }

function sort(values, n,   i, k, t)
{
    for (i = 2; i <= n; i++)
        for (k = i; k > 1 && values[k] < values[k - 1]; k--) {
            t = values[k]; values[k] = values[k - 1]; values[k - 1] = t
        }
}

# "a % in the median, b % at the 90th percentile, c % at worst"; sets `median` and `ninetieth`.
function spread(values, n)
{
    sort(values, n)
    median = values[int((n + 1) / 2)]
    ninetieth = values[int(0.9 * n + 0.5)]
    return sprintf("%.0f %% in the median, %.0f %% at the 90th percentile, %.0f %% at worst", 100 * median,
        100 * ninetieth, 100 * values[n])
}

function say(text, met)
{
    print text (met ? "" : "   MISSED")
    missed += !met
}

# Ranks of x[1 .. n]. Values within 3 % of the smallest of their group share a rank.
function rank(x, ranks, n,   i, k, order, t, from)
{
    for (i = 1; i <= n; i++) order[i] = i
    for (i = 2; i <= n; i++)
        for (k = i; k > 1 && x[order[k]] < x[order[k - 1]]; k--) {
            t = order[k]; order[k] = order[k - 1]; order[k - 1] = t
        }
    for (from = 1; from <= n; from = i) {
        for (i = from; i <= n && x[order[i]] <= 1.03 * x[order[from]]; i++) ;
        for (k = from; k < i; k++) ranks[order[k]] = (from + i - 1) / 2
    }
}

# Spearman's coefficient: the correlation of the ranks; 1 if all ranks are equal in both.
function correlation(x, y, n,   a, b, i, sa, sb, saa, sbb, sab, d)
{
    rank(x, a, n); rank(y, b, n)
    for (i = 1; i <= n; i++) {
        sa += a[i]; sb += b[i]; saa += a[i] * a[i]; sbb += b[i] * b[i]; sab += a[i] * b[i]
    }
    saa -= sa * sa / n; sbb -= sb * sb / n; sab -= sa * sb / n
    if (saa == 0 || sbb == 0) return saa == sbb
    d = sab / sqrt(saa * sbb)
    return d
}

BEGIN { if (!slices) slices = 1 }
FNR == 1 { file++ }
/^#/ || NF < 2 { next }
file == 1 { modelled[$1] = $2 * slices; next }
file == 2 { reference[$1] = $2; next }
!($1 in modelled) { lacking = lacking " " $1; lacks++; next }
{
    name[++rows] = $1; measured[$1] = $2; kind[$1] = $3 ~ /^(fitted|control)$/ ? $3 : "judged"
}

function show_rows(   i, ratio)
{
    print "| kernel | measured | modelled | ratio | |"; print "|---|---|---|---|---|"
    for (i = 1; i <= rows; i++) {
        ratio = modelled[name[i]] / measured[name[i]]
        printf("| `%s` | %s | %.4g | %.3f | %s |\n", name[i], measured[name[i]], modelled[name[i]], ratio,
            kind[name[i]])
        if (POINTS) printf("%s %s %.6g\n", name[i], measured[name[i]], modelled[name[i]]) > POINTS
    }
}

function show_half(half,   i, n, values)
{
    for (i = 1; i <= rows; i++)
        if (kind[name[i]] == half) values[++n] = error_of(modelled[name[i]] / measured[name[i]])
    if (n) print half ": " n " rows, error " spread(values, n)
}

# Sets x and y to each rung's speed relative to the reference of its lab and case, measured and modelled; sets
# `which`.
function find_ratios(   i, word, to)
{
    for (i = 1; i <= rows; i++) {
        split(name[i], word, ".")
        if (!(word[1] in reference) || word[1] == "streams" && word[2] !~ /^[0-9]/) continue
        if (kind[name[i]] == "control") continue
        to = word[1] "." reference[word[1]] (word[3] == "" ? "" : "." word[3])
        if (!(to in measured)) continue
        which[++ratios] = name[i]
        x[ratios] = measured[name[i]] / measured[to]
        y[ratios] = modelled[name[i]] / modelled[to]
        group[ratios] = word[1] (word[3] == "" ? "" : "." word[3])
        is_reference[ratios] = name[i] == to
    }
}

function show_order(   i, k, n, a, b, r, seen)
{
    for (i = 1; i <= ratios; i++) {
        if (group[i] in seen) continue
        seen[group[i]] = 1
        n = 0
        for (k = i; k <= ratios; k++)
            if (group[k] == group[i]) { a[++n] = x[k]; b[n] = y[k] }
        if (n < 4) continue
        r = correlation(a, b, n)
        say(sprintf("order of %d rungs, %s: Spearman %.2f, asked 0.90", n, group[i], r), r >= 0.9)
    }
    if (ratios > 3 && !partly) {
        r = correlation(x, y, ratios)
        say(sprintf("order of all %d: Spearman %.2f, asked 0.95", ratios, r), r >= 0.95)
    }
}

function show_ratios(   i, n, values, text)
{
    for (i = 1; i <= ratios; i++)
        if (kind[which[i]] == "judged" && !is_reference[i]) values[++n] = error_of(y[i] / x[i])
    if (!n) return
    text = spread(values, n)
    say("ratios to the reference, judged: " n " rows, error " text "; asked 20 and 50 %", median <= 0.2 && ninetieth <= 0.5)
}

function show_sweep(what, pattern, most,   i, n, inside, worst, e)
{
    for (i = 1; i <= rows; i++)
        if (name[i] ~ pattern) {
            e = error_of(modelled[name[i]] / measured[name[i]])
            n++; inside += e <= most; worst = e > worst ? e : worst
        }
    if (n) say(sprintf("%s: %d of %d within %.0f %%, %.0f %% at worst", what, inside, n, 100 * most, 100 * worst), inside == n)
}

END {
    show_rows()
    print ""
    show_half("fitted"); show_half("judged")
    find_ratios(); show_ratios(); show_order()
    show_sweep("FMA chains", "^chain[.]", 0.1)
    show_sweep("copies with strides", "^copy[.]stride[.]", 0.25)
    show_sweep("stream pipelines", "^streams[.][0-9]", 0.1)
    show_sweep("steps of the grid", "^grid[.]", 0.1)
    if (lacks && !partly) { print lacks " measured and not modelled:" lacking; missed++ }
    exit missed > 0
}
