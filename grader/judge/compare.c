/* compare.c - compares a kernel's output with the expected values, element by element.
 *
 * Nearly all compared elements are right. So a block of elements is first tested as a whole, in
 * a loop without branches that the compiler vectorises. Its elements are compared one by one
 * only if that test fails. Patterns in a wrong array are in pattern.c.
 */
#include "judge/compare.h"
#include "base/util.h"

#include <float.h>
#include <math.h>

/* ---- Types ---- */

enum { BLOCK = 1024 };

/* The functions that depend on the type: an element's value, and whether a whole block is
 * certainly right, exactly or within a tolerance. NaN fails both tests, -0 equals 0, and any
 * doubt (such as an infinite difference or bound) counts as a failure. */
#define TYPE_FUNCTIONS(name, type)                                                                 \
    static double name##_element(const void *data, size_t i)                                       \
    {                                                                                              \
        return (double) ((const type *) data)[i];                                                  \
    }                                                                                              \
                                                                                                   \
    static bool name##_equal(const void *got, const void *want, size_t first)                      \
    {                                                                                              \
        const type *g = (const type *) got + first, *w = (const type *) want + first;              \
        int differ = 0;                                                                            \
                                                                                                   \
        for (int i = 0; i < BLOCK; i++)                                                            \
            differ |= !(g[i] == w[i]);                                                             \
        return !differ;                                                                            \
    }                                                                                              \
                                                                                                   \
    static bool name##_close(const void *got, const void *want, const double *error, size_t first) \
    {                                                                                              \
        const type *g = (const type *) got + first, *w = (const type *) want + first;              \
        int differ = 0;                                                                            \
                                                                                                   \
        for (int i = 0; i < BLOCK; i++) {                                                          \
            double bound = error[first + i], off = fabs((double) g[i] - (double) w[i]);            \
            differ |= !((off <= bound) & (bound <= DBL_MAX));                                      \
        }                                                                                          \
        return !differ;                                                                            \
    }

#define TYPES(X)                                                                                   \
    X(F32, f32, float)                                                                             \
    X(F64, f64, double)                                                                            \
    X(I32, i32, int32_t)                                                                           \
    X(U32, u32, uint32_t)                                                                          \
    X(U8, u8, uint8_t)

#define TYPE_DEFINE(tag, name, type) TYPE_FUNCTIONS(name, type)
TYPES(TYPE_DEFINE)

static const struct {
    size_t bytes;
    double (*element)(const void *data, size_t i);
    bool (*equal)(const void *got, const void *want, size_t first);
    bool (*close)(const void *got, const void *want, const double *error, size_t first);
} types[] = {
#define TYPE_ROW(tag, name, type)                                                                  \
    [tag] = { sizeof(type), name##_element, name##_equal, name##_close },
    TYPES(TYPE_ROW)
};

size_t type_bytes(Type type)
{
    return types[type].bytes;
}

double element(Type type, const void *data, size_t i)
{
    return types[type].element(data, i);
}

/* ---- Comparing ---- */

bool close_enough(double got, double want, double error)
{
    if (!isfinite(got) || !isfinite(want))
        return got == want; /* the same Inf; NaN equals nothing */
    if (error > DBL_MAX)
        error = DBL_MAX; /* an infinite difference is never accepted */
    return fabs(got - want) <= error;
}

bool is_right(double got, double want, double error)
{
    return isnan(want) ? isnan(got) : close_enough(got, want, error);
}

static bool is_poison(const void *data, size_t i, size_t bytes, unsigned char poison)
{
    const unsigned char *byte = (const unsigned char *) data + i * bytes;
    bool all = true;

    for (size_t b = 0; b < bytes; b++)
        all &= byte[b] == poison;
    return all;
}

static void compare_each(Difference *d, Type type, const void *got, const void *want,
                         const double *error, size_t begin, size_t end, size_t first)
{
    for (size_t i = begin; i < end; i++) {
        double g = element(type, got, i), w = element(type, want, i);
        /* The poison is a NaN for floats, and no result. */
        bool written = !isnan(w) || !is_poison(got, i, type_bytes(type), d->poison);
        if (written && is_right(g, w, error[i]))
            continue;
        if (!d->wrong++) {
            d->first = first + i;
            d->got = g;
            d->want = w;
        }
        d->last = first + i;
        d->zeros += g == 0;
        d->unwritten += is_poison(got, i, type_bytes(type), d->poison);
    }
}

void compare(Difference *difference, Type type, const void *got, const void *want,
             const double *error, size_t first, size_t count, unsigned char poison)
{
    difference->poison = poison;
    difference->compared += count;
    for (size_t at = 0; at < count; at += BLOCK) {
        size_t end = count - at < BLOCK ? count : at + BLOCK;
        bool right = end - at == BLOCK &&
                     (types[type].equal(got, want, at) || types[type].close(got, want, error, at));
        if (!right)
            compare_each(difference, type, got, want, error, at, end, first);
    }
}
