/* number.c - parses numbers. */
#include "base/number.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char decimal[] = "0123456789";

bool parse_whole(const char *text, int base, uint64_t most, uint64_t *value)
{
    size_t digits = strspn(text, base == 16 ? "0123456789abcdefABCDEF" : decimal);
    uint64_t read;

    *value = 0;
    if (!digits || text[digits])
        return false;
    errno = 0;
    read = strtoull(text, NULL, base);
    if (errno || read > most)
        return false;
    *value = read;
    return true;
}

const char *parse_prefix(const char *text, double *value)
{
    const char *digits = text + (*text == '-' || *text == '+');
    double read;
    char *end;

    *value = 0;
    if (!strspn(digits + (*digits == '.'), decimal))
        return NULL;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        return digits + 1; /* not hexadecimal: the number is 0, and its unit begins with x */
    read = strtod(text, &end);
    if (!isfinite(read))
        return NULL;
    *value = read;
    return end;
}

bool parse_number(const char *text, double least, double most, double *value)
{
    const char *end = parse_prefix(text, value);

    if (end && !*end && *value >= least && *value <= most)
        return true;
    *value = 0;
    return false;
}

double number_or_zero(const char *text)
{
    double value;

    parse_number(text, -DBL_MAX, DBL_MAX, &value);
    return value;
}
