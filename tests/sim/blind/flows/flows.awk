# flows.awk - compares modelled sections of programs with measured ones; see flows.sh.
#
#     awk -f statistics.awk -f flows.awk sections.def pairs.txt MODELLED MEASURED
#
# Prints a line per section, the pairs that count, the median error of each family, and the figures of all.

FNR == 1 { file++ }
file == 1 && /^SECTION/ {
    split($0, part, /[(), ]+/)
    family[part[3]] = part[2]
    if (!(part[2] in of_family))
        families[++kinds] = part[2]
    of_family[part[2]] = 0
}
/^#/ || !NF || file == 1 { next }
file == 2 { first[++pairs] = $1; second[pairs] = $2; next }
file == 3 { modelled[$1] = $2; next }
{ order[++names] = $1; measured[$1] = $2 }

function compare(name, r, f)
{
    if (!(modelled[name] > 0) || !(measured[name] > 0)) {
        printf "%-24s %11.2f %11s\n", name, measured[name], "not modelled"
        missing++
        return
    }
    f = family[name]
    r = modelled[name] / measured[name]
    theirs[++n] = measured[name]
    ours[n] = modelled[name]
    error[n] = family_error[f, ++of_family[f]] = error_of(r)
    if (error[n] >= worst) {
        worst = error[n]
        worst_name = name
    }
    printf "%-24s %11.2f %11.2f %7.3f\n", name, measured[name], modelled[name], r
}

function compare_pair(a, b, r, m)
{
    if (!(measured[a] > 0) || !(measured[b] > 0) || !(modelled[a] > 0) || !(modelled[b] > 0))
        return
    r = measured[a] / measured[b]
    m = modelled[a] / modelled[b]
    if (error_of(r) <= 0.05)
        return
    counted++
    right += (r > 1) == (m > 1)
    printf "pair %-24s %-24s measured %7.3f modelled %7.3f%s\n", a, b, r, m, (r > 1) == (m > 1) ? "" : " WRONG"
}

function summary_of(f, e, i)
{
    for (i = 1; i <= of_family[f]; i++)
        e[i] = family_error[f, i]
    sort(e, of_family[f])
    printf "%s: %d sections: error median %.1f %%\n", f, of_family[f], 100 * quantile(e, of_family[f], 0.5)
}

function summary(i)
{
    for (i = 1; i <= kinds; i++)
        if (of_family[families[i]])
            summary_of(families[i])
    sort(error, n)
    printf "%d sections: error median %.1f %%, p90 %.1f %%, worst %.2f times (%s), Spearman %.3f; pairs right %d of %d; not compared %d\n", \
        n, 100 * quantile(error, n, 0.5), 100 * quantile(error, n, 0.9), 1 + worst, worst_name, \
        spearman(ours, theirs, n), right, counted, missing
}

END {
    printf "%-24s %11s %11s %7s\n", "# section", "measured_us", "modelled_us", "ratio"
    for (i = 1; i <= names; i++)
        compare(order[i])
    for (i = 1; i <= pairs; i++)
        compare_pair(first[i], second[i])
    if (n)
        summary()
    exit n == 0
}
