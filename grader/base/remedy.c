/* remedy.c - chooses among a lab's remedies. */
#include "base/remedy.h"

#include <string.h>

enum { KEY = 40 };

void diagnosis_say(const Diagnosis *diagnosis, Verdict verdict, double ratio, char *text,
                   size_t size)
{
    put(text, size, "%s", verdict_word(verdict));
    if (diagnosis->lab_case)
        append(text, size, ", case %s", diagnosis->lab_case->label);
    if (verdict == SLOW && ratio > 0)
        append(text, size, ", ratio %.2f", ratio);
    for (int i = 0, said = 0; i < DIAGNOSIS_COUNT; i++)
        if (diagnosis->saw & diagnosis_possible(verdict) & SAW(i))
            append(text, size, "%s %s", said++ ? "," : ":", diagnosis_clause((DiagnosisCode) i));
}

/* ---- The choice ---- */

/* Parses a key such as "wrong tail unwritten": a verdict, and the words that must all have been
 * seen. Returns false if a word is unknown. */
static bool read_key(const char *key, Verdict *verdict, uint64_t *bits)
{
    size_t length = strcspn(key, " ");
    char first[KEY];

    *bits = 0;
    if (length >= sizeof first ||
        !verdict_from_word(PUT(first, "%.*s", (int) length, key), verdict))
        return false;
    for (key += length; *key; key += length) {
        uint64_t bit = diagnosis_bit(key + 1, length = strcspn(key + 1, " "));
        if (!bit)
            return false;
        *bits |= bit;
        length++;
    }
    return true;
}

/* True if a case whose label contains `part` is known to be below its bar. */
static bool is_slow(const Lab *lab, const Diagnosis *diagnosis, const char *part)
{
    for (int i = 0; i < 64 && lab->cases[i].label; i++)
        if (diagnosis->slow_cases >> i & 1 && strstr(lab->cases[i].label, part))
            return true;
    return false;
}

static bool fits(const Lab *lab, const Remedy *remedy, const Diagnosis *diagnosis, Verdict verdict,
                 double ratio)
{
    Verdict wanted;
    uint64_t bits;

    if (!read_key(remedy->symptom, &wanted, &bits) || wanted != verdict)
        return false;
    if (bits & ~diagnosis->saw)
        return false;
    if (remedy->in && (!diagnosis->lab_case || !strstr(diagnosis->lab_case->label, remedy->in)))
        return false;
    if (remedy->also && !is_slow(lab, diagnosis, remedy->also))
        return false;
    return remedy->below <= 0 || (ratio > 0 && ratio < remedy->below);
}

int remedy_for(const Diagnosis *diagnosis, Verdict verdict, double ratio, const Lab *lab)
{
    for (int i = 0; i < LAB_REMEDIES && lab->remedies[i].symptom; i++)
        if (fits(lab, &lab->remedies[i], diagnosis, verdict, ratio))
            return i + 1;
    return 0;
}

/* ---- For tests ---- */

static bool any_case(const Lab *lab, const char *part)
{
    const Case *c = lab->cases;

    while (c && c->label && !strstr(c->label, part))
        c++;
    return c && c->label;
}

/* True if row b fits wherever row a does. */
static bool covers(const Remedy *b, const Remedy *a)
{
    Verdict verdict_b, verdict_a;
    uint64_t bits_b, bits_a;

    return read_key(b->symptom, &verdict_b, &bits_b) && read_key(a->symptom, &verdict_a, &bits_a) &&
           verdict_b == verdict_a && !(bits_b & ~bits_a) &&
           (!b->in || (a->in && strstr(a->in, b->in))) &&
           (!b->also || (a->also && strstr(a->also, b->also))) &&
           (b->below <= 0 || (a->below > 0 && a->below <= b->below));
}

const char *remedy_fault(const Lab *lab, int row)
{
    const Remedy *remedy = &lab->remedies[row];
    Verdict verdict;
    uint64_t bits;

    if (!read_key(remedy->symptom, &verdict, &bits))
        return "not a verdict, or not a word of the table in grader/base/diagnosis.h";
    if (bits & ~diagnosis_possible(verdict))
        return "this word never comes with this verdict";
    if (remedy->in && !any_case(lab, remedy->in))
        return "no case has a label that contains this";
    if (remedy->also && (verdict != SLOW || !any_case(lab, remedy->also)))
        return "`also` is part of a case's label, and belongs to a slow kernel";
    if (remedy->below && (verdict != SLOW || remedy->below < 0 || remedy->below > 1))
        return "`below` is a ratio: it belongs to a slow kernel";
    if (!remedy->text || !*remedy->text)
        return "no text";
    for (int i = 0; i < row; i++)
        if (covers(&lab->remedies[i], remedy))
            return "never reached: an earlier row fits wherever this one does";
    return NULL;
}
