/* fit.h - least squares without negative numbers.
 */
#ifndef SIM_MACHINE_FIT_H
#define SIM_MACHINE_FIT_H

#include <stdbool.h>

/* One equation: the sum of factor[i] * x[unknown[i]] equals `value`. */
typedef struct FitRow {
    int first, count; /* terms */
    double value;
    double scale;  /* the residual is divided by it */
    double weight; /* of its squared residual */
} FitRow;

typedef struct FitTerm {
    int unknown;
    double factor;
} FitTerm;

typedef struct Fit {
    int unknowns;
    FitRow *rows;
    int row_count, row_room;
    FitTerm *terms;
    int term_count, term_room;
    double *x;              /* the solution */
    double *unit;           /* by unknown: its expected size; more than 0 */
    double *cost;           /* by unknown: what it costs in addition, if it is one unit large */
    double *normal, *right; /* scratch */
    double *factor, *solved;
    int *order, *begin;
    bool *is_zero;
    double work; /* products of its decompositions so far */
    bool failed; /* memory ran out, or it would take seconds */
} Fit;

bool fit_begin(Fit *fit, int unknowns);
void fit_end(Fit *fit);

/* Starts an equation; returns its number. Terms that follow belong to it. */
int fit_row(Fit *fit, double value, double scale, double weight);
void fit_term(Fit *fit, int unknown, double factor);

/* Sets x to the non-negative numbers for which half the weighted sum of squared residuals, plus the
 * costs, is smallest. */
void fit_solve(Fit *fit);

/* The sum of a row's terms minus its value. */
double fit_residual(const Fit *fit, int row);

#endif
