# compare.awk - compares counted launches of the training set with the fixture: see compare.sh.
#
#     awk -f compare.awk off.txt h200.txt COUNTED

function off_by(ratio)
{
    return ratio > 1 ? ratio - 1 : 1 / ratio - 1
}

# The p-th percentile of value[1 .. n]; sorts them.
function percentile(value, n, p, i, j, x)
{
    for (i = 2; i <= n; i++) {
        x = value[i]
        for (j = i - 1; j > 0 && value[j] > x; j--)
            value[j + 1] = value[j]
        value[j + 1] = x
    }
    i = int((n * p + 99) / 100)
    return value[i > 0 ? i : 1]
}

function summary(title, value, n, i, good)
{
    for (i = 1; i <= n; i++)
        good += value[i] <= 0.05
    printf "%s: within 5 %%: %d of %d; median %.1f %%, 90th percentile %.1f %%, maximum %.1f %%\n", title, good, n,
        100 * percentile(value, n, 50), 100 * percentile(value, n, 90), 100 * value[n]
}

FNR == 1 { file++ } # each has a line at least
file == 1 && !/^#/ && NF { allowed[$1] = 1 }
file == 2 && /^# columns:/ {
    for (i = 3; i <= NF; i++)
        column[$i] = i - 2
}
file == 2 && !/^#/ {
    instructions[$1] = $(column["instructions"])
    threads[$1] = $(column["pred_on"])
}
file == 3 && $1 in threads {
    n++
    i_ratio = $2 / instructions[$1]
    t_ratio = $3 / $2 / threads[$1]
    i_off[n] = off_by(i_ratio)
    t_off[n] = off_by(t_ratio)
    if (i_off[n] > 0.03 || t_off[n] > 0.03)
        printf "%-22s instructions %.3f, threads per instruction %.3f%s%s\n", $1, i_ratio, t_ratio,
            $4 == "counted" ? "" : ", " $4, $1 in allowed ? ", known" : ""
    if ((i_off[n] > 0.05 || t_off[n] > 0.05) && !($1 in allowed))
        failed = 1
}

END {
    summary("instructions", i_off, n)
    summary("threads per instruction", t_off, n)
    exit failed || !n
}
