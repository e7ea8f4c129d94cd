/* errors_of.h - for tests: the errors that a lab's truth tolerates. */
#ifndef BUILD_ERRORS_OF_H
#define BUILD_ERRORS_OF_H

#include "judge/compare.h"
#include "base/util.h"

#include <math.h>

/* A lab's truth sets the errors; these stand for two labs. */
typedef struct Tolerance {
    double rtol, atol;
} Tolerance;

static const Tolerance exact = { 0, 0 }, loose = { 1e-3, 1e-3 };

static inline double *errors_of(const Tolerance *tolerance, Type type, const void *want,
                                size_t count)
{
    double *error = xcalloc(count, sizeof *error);

    for (size_t i = 0; i < count; i++)
        error[i] = tolerance->atol + tolerance->rtol * fabs(element(type, want, i));
    return error;
}

#endif
