# statistics.awk - errors, quantiles and rank correlation, for scripts that compare simulated GPUs with the hardware.
# An error is max(r, 1/r) - 1, where r is modelled / measured.

function error_of(r)
{
    return r <= 0 ? 1e9 : (r > 1 ? r : 1 / r) - 1
}

function sort(a, n, i, j, v)
{
    for (i = 2; i <= n; i++) {
        v = a[i]
        for (j = i - 1; j >= 1 && a[j] > v; j--)
            a[j + 1] = a[j]
        a[j + 1] = v
    }
}

# The share p of the sorted values is at most this.
function quantile(a, n, p, i)
{
    i = int(p * n)
    if (i < p * n)
        i++
    return a[i < 1 ? 1 : i]
}

# Ranks of the values, means for equal ones.
function rank(value, ranks, n, i, j, less, same)
{
    for (i = 1; i <= n; i++) {
        less = same = 0
        for (j = 1; j <= n; j++) {
            less += value[j] < value[i]
            same += value[j] == value[i]
        }
        ranks[i] = less + (same + 1) / 2
    }
}

function spearman(a, b, n, ra, rb, i, x, y, sx, sy, sxx, syy, sxy)
{
    rank(a, ra, n)
    rank(b, rb, n)
    for (i = 1; i <= n; i++) {
        x = ra[i]; y = rb[i]
        sx += x; sy += y; sxx += x * x; syy += y * y; sxy += x * y
    }
    x = (n * sxx - sx * sx) * (n * syy - sy * sy)
    return x > 0 ? (n * sxy - sx * sy) / sqrt(x) : 0
}
