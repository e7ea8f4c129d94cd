/* diagnosis.c - the table of diagnosis codes. */
#include "base/diagnosis.h"

#include <string.h>

static const struct {
    const char *word;
    unsigned verdicts;
    const char *clause;
} rows[] = {
#define DIAGNOSIS_ROW(code, word, verdicts, clause) { word, verdicts, clause },
    DIAGNOSIS_CODES(DIAGNOSIS_ROW)
};

_Static_assert(DIAGNOSIS_COUNT <= 64, "a Diagnosis has a bit for each");

uint64_t diagnosis_possible(Verdict verdict)
{
    uint64_t bits = 0;

    for (int i = 0; i < DIAGNOSIS_COUNT; i++)
        if (rows[i].verdicts & WITH(verdict))
            bits |= SAW(i);
    return bits;
}

uint64_t diagnosis_bit(const char *word, size_t length)
{
    for (int i = 0; i < DIAGNOSIS_COUNT; i++)
        if (strlen(rows[i].word) == length && !memcmp(rows[i].word, word, length))
            return SAW(i);
    return 0;
}

void diagnosis_words(uint64_t saw, char *text, size_t size)
{
    *text = 0;
    for (int i = 0; i < DIAGNOSIS_COUNT; i++)
        if (saw & SAW(i))
            append(text, size, "%s%s", *text ? "," : "", rows[i].word);
}

uint64_t diagnosis_bits(const char *words, Verdict verdict)
{
    uint64_t bits = 0;

    for (size_t length; *words; words += length + (words[length] != 0)) {
        length = strcspn(words, ",");
        bits |= diagnosis_bit(words, length);
    }
    return bits & diagnosis_possible(verdict);
}

const char *diagnosis_clause(DiagnosisCode code)
{
    return rows[code].clause;
}

uint64_t diagnosis_printed(const char *printed)
{
    static const struct {
        const char *text; /* as cudaGetErrorString() returns it */
        DiagnosisCode code;
    } errors[] = {
        { "cudaGetLastError(): invalid", SAW_LAUNCH },
        { "requested for launch", SAW_LAUNCH },
        { "misaligned", SAW_MISALIGNED },
        { "illegal memory access", SAW_ILLEGAL },
    };
    uint64_t saw = 0;

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strstr(printed, errors[i].text))
            saw |= SAW(errors[i].code);
    return saw;
}
