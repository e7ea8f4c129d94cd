/* symptom.c - the table of what a grading can see, and the choice among a lab's remedies. */
#include "symptom.h"

#include <string.h>

enum { PHRASES = 3, KEY = 40 };

#define ON(verdict) (1u << (verdict))

/* A word, the verdicts it comes with, how the sentence says it, how a hint does. */
static const struct {
    const char *word;
    unsigned verdicts;
    const char *phrase[PHRASES];
    const char *clause;
} rows[] = {
    /* mechanism.c, by the names of lab.h's counters */
    { "sectors_read", ON(SLOW), { "is read in" }, "an input is read in too many sectors" },
    { "sectors_written", ON(SLOW), { "is written in" }, "`out` is written in too many sectors" },
    { "shared_wavefronts",
      ON(SLOW),
      { "as without bank conflicts" },
      "shared memory takes too many wavefronts" },
    { "warp_barriers", ON(SLOW), { "waits at a barrier" }, "a warp waits at too many barriers" },
    { "warp_atomics", ON(SLOW), { "updates global memory" }, "too many updates by atomics" },
    { "loads_an_fma", ON(SLOW), { "for each multiply-add" }, "too many loads for a multiply-add" },
    { "idle_lanes", ON(SLOW), { "work in an average instruction" }, "most lanes are idle" },
    /* judge_modelled.c */
    { "idle_gpu", ON(SLOW), { "nothing ran on the GPU" }, "nothing ran on the GPU" },
    /* pattern.c, by the names of its functions: where, then what */
    { "tail", ON(WRONG), { "(the tail)" }, "the tail" },
    { "right_edge", ON(WRONG), { "all columns from" }, "the columns at the right edge" },
    { "outside_corner", ON(WRONG), { "all elements outside the first" }, "all but one corner" },
    { "one_column", ON(WRONG), { "all elements of column" }, "one column" },
    { "every_nth", ON(WRONG), { ", ..." }, "elements in equal steps" },
    { "unwritten", ON(WRONG), { "ever written" }, "never written" },
    { "zero", ON(WRONG), { "are zero", "element is zero" }, "zero" },
    { "not_finite", ON(WRONG), { "are NaN or infinite", "is NaN, right is" }, "NaN or infinite" },
    { "constant", ON(WRONG), { "the same value" }, "all the same value" },
    { "copied", ON(WRONG), { "copied without change" }, "the input's, copied" },
    { "row_shifted", ON(WRONG), { "are those of the row" }, "those of a neighbouring row" },
    { "shifted", ON(WRONG), { "(shifted by" }, "shifted" },
    { "transposed", ON(WRONG), { "(rows and columns swapped)" }, "rows and columns swapped" },
    { "by_tiles",
      ON(WRONG),
      { "swapped within their tiles", "into the tile across the diagonal" },
      "only half of each tile's way" },
    { "multiple", ON(WRONG), { "times what is right", "have the wrong sign" }, "a multiple" },
    { "offset", ON(WRONG), { "too large", "too small" }, "off by the same number" },
    /* the simulated GPU, by the words of sim/finding.c; runner.c; worker.c */
    { "race", ON(UNSAFE), { ": race" }, "a race" },
    { "uninitialised", ON(UNSAFE), { ": uninitialised" }, "a read of what nobody has written" },
    { "out_of_bounds", ON(UNSAFE) | ON(STRAY), { ": out of bounds" }, "an access out of bounds" },
    { "barrier", ON(UNSAFE), { ": barrier" }, "a barrier that not all threads come to" },
    { "shuffle", ON(UNSAFE), { ": shuffle" }, "a shuffle that not all lanes come to" },
    { "returned", ON(UNSAFE), { "returned before its output" }, "returned before the end" },
    { "input", ON(STRAY), { "the input was changed" }, "an input was changed" },
    { "launch",
      ON(CRASH),
      { "could not be launched", "cudaGetLastError(): invalid", "requested for launch" },
      "a launch failed" },
    { "misaligned", ON(CRASH), { "misaligned" }, "a misaligned address" },
    { "illegal", ON(CRASH), { "illegal memory access" }, "an illegal access" },
    { "host_pointer", ON(CRASH), { ": host pointer" }, "a pointer of the host's" },
};

enum { WORDS = sizeof rows / sizeof *rows };
_Static_assert(WORDS <= 64, "a Symptom has a bit for each");

/* The words that come with a verdict. */
static uint64_t possible(Verdict verdict)
{
    uint64_t bits = 0;

    for (int i = 0; i < WORDS; i++)
        if (rows[i].verdicts & ON(verdict))
            bits |= 1ull << i;
    return bits;
}

/* The bit of a word of this length; 0 if there is none. */
static uint64_t bit_of(const char *word, size_t length)
{
    for (int i = 0; i < WORDS; i++)
        if (strlen(rows[i].word) == length && !memcmp(rows[i].word, word, length))
            return 1ull << i;
    return 0;
}

/* ---- What was seen ---- */

/* What follows "case LABEL", and which case that is; the sentence itself if it names none. */
static const char *after_case(const char *why, const Lab *lab, const Case **named)
{
    const char *label = strstr(why, "case "), *rest = why;
    size_t longest = 0;

    *named = NULL;
    if (!label)
        return why;
    label += strlen("case ");
    for (const Case *c = lab->cases; c && c->label; c++) {
        size_t length = strlen(c->label);
        if (length > longest && !strncmp(label, c->label, length)) {
            longest = length;
            *named = c;
            rest = label + length;
        }
    }
    return rest;
}

static bool says(const char *text, const char *const phrase[PHRASES])
{
    for (int i = 0; i < PHRASES && phrase[i]; i++)
        if (strstr(text, phrase[i]))
            return true;
    return false;
}

Symptom symptom_in(const char *why, const char *printed, Verdict verdict, const Lab *lab)
{
    Symptom symptom = { 0 };
    const char *rest = after_case(why, lab, &symptom.lab_case);

    for (int i = 0; i < WORDS; i++)
        if (rows[i].verdicts & ON(verdict) &&
            (says(rest, rows[i].phrase) || (verdict == CRASH && says(printed, rows[i].phrase))))
            symptom.saw |= 1ull << i;
    if (symptom.saw & bit_of("unwritten", 9)) /* that it is NaN then is our poison */
        symptom.saw &= ~bit_of("not_finite", 10);
    return symptom;
}

/* ---- As words ---- */

void symptom_words(const Symptom *symptom, char *text, size_t size)
{
    *text = 0;
    for (int i = 0; i < WORDS; i++)
        if (symptom->saw & 1ull << i)
            append(text, size, "%s%s", *text ? "," : "", rows[i].word);
}

uint64_t symptom_bits(const char *words, Verdict verdict)
{
    uint64_t bits = 0;

    for (size_t length; *words; words += length + (words[length] != 0)) {
        length = strcspn(words, ",");
        bits |= bit_of(words, length);
    }
    return bits & possible(verdict);
}

void symptom_say(const Symptom *symptom, Verdict verdict, double ratio, char *text, size_t size)
{
    put(text, size, "%s", verdict_word(verdict));
    if (symptom->lab_case)
        append(text, size, ", case %s", symptom->lab_case->label);
    if (verdict == SLOW && ratio > 0)
        append(text, size, ", lowest ratio %.2f", ratio);
    for (int i = 0, said = 0; i < WORDS; i++)
        if (symptom->saw & 1ull << i && rows[i].verdicts & ON(verdict))
            append(text, size, "%s %s", said++ ? "," : ":", rows[i].clause);
}

/* ---- The choice ---- */

/* "wrong tail unwritten": a verdict, and the words that must all have been seen. False for a typo.
 */
static bool read_key(const char *key, Verdict *verdict, uint64_t *bits)
{
    size_t length = strcspn(key, " ");
    char first[KEY];

    *bits = 0;
    if (length >= sizeof first ||
        !verdict_from_word(PUT(first, "%.*s", (int) length, key), verdict))
        return false;
    for (key += length; *key; key += length) {
        uint64_t bit = bit_of(key + 1, length = strcspn(key + 1, " "));
        if (!bit)
            return false;
        *bits |= bit;
        length++;
    }
    return true;
}

static bool fits(const Remedy *remedy, const Symptom *symptom, Verdict verdict, double ratio)
{
    Verdict wanted;
    uint64_t bits;

    if (!read_key(remedy->symptom, &wanted, &bits) || wanted != verdict)
        return false;
    if (bits & ~symptom->saw)
        return false;
    if (remedy->in && (!symptom->lab_case || !strstr(symptom->lab_case->label, remedy->in)))
        return false;
    return remedy->below <= 0 || (ratio > 0 && ratio < remedy->below);
}

int symptom_remedy(const Symptom *symptom, Verdict verdict, double ratio, const Lab *lab)
{
    for (int i = 0; i < LAB_REMEDIES && lab->remedies[i].symptom; i++)
        if (fits(&lab->remedies[i], symptom, verdict, ratio))
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
           (b->below <= 0 || (a->below > 0 && a->below <= b->below));
}

const char *symptom_fault(const Lab *lab, int row)
{
    const Remedy *remedy = &lab->remedies[row];
    Verdict verdict;
    uint64_t bits;

    if (!read_key(remedy->symptom, &verdict, &bits))
        return "not a verdict, or not a word of the table in grader/symptom.c";
    if (bits & ~possible(verdict))
        return "this word never comes with this verdict";
    if (remedy->in && !any_case(lab, remedy->in))
        return "the label of no case holds this";
    if (remedy->below && (verdict != SLOW || remedy->below < 0 || remedy->below > 1))
        return "`below` is a ratio, of a slow kernel";
    if (!remedy->text || !*remedy->text)
        return "no text";
    for (int i = 0; i < row; i++)
        if (covers(&lab->remedies[i], remedy))
            return "never reached: a row before it fits wherever this one does";
    return NULL;
}

const char *symptom_phrase(int i)
{
    return i < WORDS ? rows[i].phrase[0] : NULL;
}
