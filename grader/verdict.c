/* verdict.c - the words a grading ends with, and the marks they are worth. */
#include "verdict.h"

#include <string.h>

static const struct {
    const char *word, *meaning;
} rows[VERDICT_COUNT] = {
#define VERDICT_ROW(name, word, meaning) [name] = { word, meaning },
    VERDICTS(VERDICT_ROW)
#undef VERDICT_ROW
};

const char *verdict_word(Verdict verdict)
{
    return (unsigned) verdict < VERDICT_COUNT ? rows[verdict].word : "?";
}

const char *verdict_meaning(Verdict verdict)
{
    return (unsigned) verdict < VERDICT_COUNT ? rows[verdict].meaning : "?";
}

bool verdict_from_word(const char *word, Verdict *verdict)
{
    for (int i = 0; i < VERDICT_COUNT; i++)
        if (!strcmp(word, rows[i].word)) {
            *verdict = (Verdict) i;
            return true;
        }
    return false;
}

bool verdict_passed(Verdict verdict)
{
    return verdict == PASS || verdict == CLOSE;
}

/* A ratio this far above rung 1's is a real gain, not noise. */
static const double gain = 0.10;

double marks_for_speed(double ratio, double floor, double bar)
{
    double base, rest = 0;

    if (!(ratio > 0)) /* NaN too */
        return 0;
    if (ratio >= bar)
        return 100;
    if (!(floor > 0)) /* rung 1 was not measured */
        floor = 0;
    base = ratio >= floor + gain ? 50 : 25;
    if (ratio > floor && bar > floor)
        rest = 50 * (ratio - floor) / (bar - floor);
    return base + rest;
}
