/* fit.c - least squares without negative numbers, by block pivoting on the normal equations
 * (Portugal, Judice, Vicente 1994; Kim and Park 2011): unknowns are either free or 0; all that
 * violate their condition change sides together, or, if that does not converge, one at a time. */
#include "sim/machine/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rows ---- */

bool fit_begin(Fit *fit, int unknowns)
{
    const size_t n = (size_t) unknowns + 1;

    *fit = (Fit){ .unknowns = unknowns,
                  .x = calloc(n, sizeof *fit->x),
                  .unit = calloc(n, sizeof *fit->unit),
                  .cost = calloc(n, sizeof *fit->cost),
                  .normal = calloc(n * n, sizeof *fit->normal),
                  .right = calloc(n, sizeof *fit->right),
                  .factor = calloc(n * n, sizeof *fit->factor),
                  .solved = calloc(n, sizeof *fit->solved),
                  .order = calloc(n, sizeof *fit->order),
                  .begin = calloc(n, sizeof *fit->begin),
                  .is_zero = calloc(n, sizeof *fit->is_zero) };
    if (fit->x && fit->unit && fit->cost && fit->normal && fit->right && fit->factor &&
        fit->solved && fit->order && fit->begin && fit->is_zero)
        return true;
    fit_end(fit);
    return false;
}

void fit_end(Fit *fit)
{
    free(fit->rows);
    free(fit->terms);
    free(fit->x);
    free(fit->unit);
    free(fit->cost);
    free(fit->normal);
    free(fit->right);
    free(fit->factor);
    free(fit->solved);
    free(fit->order);
    free(fit->begin);
    free(fit->is_zero);
    *fit = (Fit){ 0 };
}

static bool grow(Fit *fit, void *list, int count, int *room, size_t size)
{
    void **at = list, *larger;

    if (count < *room)
        return true;
    larger = realloc(*at, (size_t) (*room + 64) * 2 * size);
    if (!larger) {
        fit->failed = true;
        return false;
    }
    *at = larger;
    *room = (*room + 64) * 2;
    return true;
}

int fit_row(Fit *fit, double value, double scale, double weight)
{
    if (!grow(fit, &fit->rows, fit->row_count, &fit->row_room, sizeof *fit->rows))
        return -1;
    fit->rows[fit->row_count] = (FitRow){ fit->term_count, 0, value, scale, weight };
    return fit->row_count++;
}

void fit_term(Fit *fit, int unknown, double factor)
{
    if (fit->failed ||
        !grow(fit, &fit->terms, fit->term_count, &fit->term_room, sizeof *fit->terms))
        return;
    fit->terms[fit->term_count++] = (FitTerm){ unknown, factor };
    fit->rows[fit->row_count - 1].count++;
}

double fit_residual(const Fit *fit, int row)
{
    const FitRow *at = &fit->rows[row];
    double sum = -at->value;

    for (int i = at->first; i < at->first + at->count; i++)
        sum += fit->terms[i].factor * fit->x[fit->terms[i].unknown];
    return sum;
}

/* ---- Solving ---- */

/* The normal equations, in units of each unknown. */
static void add_row(Fit *fit, const FitRow *row)
{
    const double weight = row->weight / (row->scale * row->scale);
    const FitTerm *terms = fit->terms + row->first;
    const int n = fit->unknowns;

    for (int i = 0; i < row->count; i++) {
        const double a = weight * terms[i].factor * fit->unit[terms[i].unknown];
        fit->right[terms[i].unknown] += a * row->value;
        for (int j = 0; j < row->count; j++)
            fit->normal[terms[i].unknown * n + terms[j].unknown] +=
                a * terms[j].factor * fit->unit[terms[j].unknown];
    }
}

static void make_equations(Fit *fit)
{
    const int n = fit->unknowns;

    memset(fit->normal, 0, (size_t) n * (size_t) n * sizeof *fit->normal);
    memset(fit->right, 0, (size_t) n * sizeof *fit->right);
    for (int i = 0; i < fit->row_count; i++)
        add_row(fit, &fit->rows[i]);
    for (int i = 0; i < n; i++) {
        fit->normal[i * n + i] += 1e-7; /* so that there is one solution */
        fit->right[i] -= fit->cost[i];
    }
}

/* Row i of the decomposition, from its first number that is not 0: it begins where that row of the
 * equations does. Neighbouring unknowns occur in the same equations, so most numbers are left out.
 */
static void decompose_row(Fit *fit, int i)
{
    const double *from = fit->normal + fit->order[i] * fit->unknowns;
    double *row = fit->factor + i * fit->unknowns, sum = fit->right[fit->order[i]];
    int begin = 0;

    while (begin < i && from[fit->order[begin]] == 0)
        begin++;
    fit->begin[i] = begin;
    fit->work += (double) (i - begin) * (i - begin) / 2;
    for (int j = begin; j <= i; j++) {
        const double *other = fit->factor + j * fit->unknowns;
        double s = from[fit->order[j]];
        for (int k = fit->begin[j] > begin ? fit->begin[j] : begin; k < j; k++)
            s -= row[k] * other[k];
        row[j] = j < i ? s / other[j] : sqrt(s > 1e-14 ? s : 1e-14);
    }
    for (int k = begin; k < i; k++)
        sum -= row[k] * fit->solved[k];
    fit->solved[i] = sum / row[i];
}

/* Solves for the free unknowns: Cholesky's decomposition of their part of the equations. */
static void solve_free(Fit *fit)
{
    const int n = fit->unknowns;
    const double *l = fit->factor;
    double *y = fit->solved;
    int m = 0;

    for (int i = 0; i < n; i++)
        if (!fit->is_zero[i])
            fit->order[m++] = i;
    for (int i = 0; i < m; i++)
        decompose_row(fit, i);
    for (int i = m - 1; i >= 0; i--) {
        for (int k = i + 1; k < m; k++)
            y[i] -= fit->begin[k] <= i ? l[k * n + i] * y[k] : 0;
        y[i] /= l[i * n + i];
    }
    memset(fit->x, 0, (size_t) n * sizeof *fit->x);
    for (int i = 0; i < m; i++)
        fit->x[fit->order[i]] = y[i];
}

/* The slope of the error at an unknown that is 0. */
static double slope(const Fit *fit, int i)
{
    const double *row = fit->normal + i * fit->unknowns;
    double sum = -fit->right[i];

    for (int j = 0; j < fit->unknowns; j++)
        sum += row[j] * fit->x[j];
    return sum;
}

static bool is_violated(const Fit *fit, int i)
{
    return fit->is_zero[i] ? slope(fit, i) < -1e-9 : fit->x[i] < -1e-9;
}

/* Moves all unknowns that violate their condition to the other side, or only the last one. Returns
 * their number. */
static int exchange(Fit *fit, bool all)
{
    int count = 0;

    for (int i = 0; i < fit->unknowns; i++) {
        fit->order[i] = is_violated(fit, i);
        count += fit->order[i];
    }
    for (int i = fit->unknowns - 1; i >= 0; i--)
        if (fit->order[i]) {
            fit->is_zero[i] = !fit->is_zero[i];
            if (!all)
                break;
        }
    return count;
}

void fit_solve(Fit *fit)
{
    enum { TRIES = 3, MOST = 60 };
    static const double most_work = 2e9; /* about 3 seconds */
    int fewest = fit->unknowns + 1, tries = TRIES;

    if (fit->failed)
        return;
    make_equations(fit);
    for (int round = 0; round < MOST; round++) {
        int count;
        solve_free(fit);
        fit->failed = fit->work > most_work;
        if (fit->failed)
            return;
        count = exchange(fit, tries > 0);
        if (!count)
            break;
        tries = count < fewest ? TRIES : tries - 1;
        fewest = count < fewest ? count : fewest;
    }
    for (int i = 0; i < fit->unknowns; i++)
        fit->x[i] = fit->x[i] > 0 ? fit->x[i] * fit->unit[i] : 0;
}
