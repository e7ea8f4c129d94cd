/* verdict.c - the verdicts of a grading. */
#include "base/verdict.h"

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

const char *verdict_label(Verdict verdict)
{
    return verdict == UNCHANGED ? "not started" : verdict_word(verdict);
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
