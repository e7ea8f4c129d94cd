/* words.c - words and numbers as both forms of the report write them. */
#include "sim/report/totals.h"

#include <math.h>
#include <string.h>

const char *const class_words[CLASSES] = {
    [CLASS_NOTHING] = "nothing", [CLASS_MOVE] = "move",       [CLASS_INT] = "int",
    [CLASS_FP32] = "fp32",       [CLASS_FP64] = "fp64",       [CLASS_FP16] = "fp16",
    [CLASS_SFU] = "sfu",         [CLASS_CONVERT] = "convert", [CLASS_CONTROL] = "control",
    [CLASS_BARRIER] = "barrier", [CLASS_FENCE] = "fence",     [CLASS_SHUFFLE] = "shuffle",
    [CLASS_LOAD] = "load",       [CLASS_STORE] = "store",     [CLASS_ATOMIC] = "atomic",
};

const char *const kind_words[KINDS] = {
    [KIND_LOAD] = "load",
    [KIND_STORE] = "store",
    [KIND_ATOMIC] = "atomic",
    [KIND_COPY] = "copy",
};

/* ---- Numbers as text ---- */

Decimal quotient(uint64_t n, uint64_t d, int decimals)
{
    uint64_t scale = 1, whole, part;
    Decimal text;

    for (int i = 0; i < decimals; i++)
        scale *= 10;
    if (!d)
        n = 0, d = 1;
    for (; d > UINT64_MAX / 2 / scale; d >>= 1) /* far beyond what any run counts */
        n >>= 1;
    whole = n / d;
    part = (n % d * scale + d / 2) / d;
    whole += part / scale;
    part %= scale;
    if (decimals)
        snprintf(text.text, sizeof text.text, "%llu.%0*llu", (unsigned long long) whole, decimals,
                 (unsigned long long) part);
    else
        snprintf(text.text, sizeof text.text, "%llu", (unsigned long long) whole);
    return text;
}

Decimal decimal(double value)
{
    Decimal text = quotient((uint64_t) (fmin(fmax(value, 0), 1e15) * 1000 + 0.5), 1000, 3);
    char *end = text.text + strlen(text.text);

    while (end[-1] == '0')
        *--end = 0;
    if (end[-1] == '.')
        *--end = 0;
    return text;
}
