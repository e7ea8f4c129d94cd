/* text.c - formats numbers: whole numbers in full, others with four digits. */
#include "calc/text.h"
#include "base/util.h"

#include <math.h>

const char *text_of(double x)
{
    static char texts[16][32];
    static int turn;
    char *text = texts[turn = (turn + 1) % 16];

    if (isinf(x))
        return "without limit";
    if (x == floor(x) && fabs(x) < 1e8)
        return put(text, sizeof texts[0], "%.0f", x);
    if (fabs(x) >= 1000 && fabs(x) < 1e8)
        return put(text, sizeof texts[0], "%.0f", x);
    return put(text, sizeof texts[0], "%.4g", x);
}

const char *percent_of(double share)
{
    static char texts[8][32];
    static int turn;

    return put(texts[turn = (turn + 1) % 8], sizeof texts[0], "%.1f %%", 100 * share);
}

const char *bytes_of(double bytes)
{
    static char texts[8][32];
    static int turn;
    char *text = texts[turn = (turn + 1) % 8];

    if (bytes >= 1 << 30)
        return put(text, sizeof texts[0], "%.4g GiB", bytes / (1 << 30));
    if (bytes >= 1 << 20)
        return put(text, sizeof texts[0], "%.4g MiB", bytes / (1 << 20));
    if (bytes >= 1 << 14)
        return put(text, sizeof texts[0], "%.4g KiB", bytes / (1 << 10));
    return put(text, sizeof texts[0], "%s bytes", text_of(bytes));
}

const char *plural(double n)
{
    return n == 1 ? "" : "s";
}
