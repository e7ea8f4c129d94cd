/* record.c - adds gradings to a learner's progress. */
#include "learner/record.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t add_text(uint64_t key, const char *text)
{
    return hash_bytes(key, text, strlen(text) + 1);
}

uint64_t record_key(const Session *session, const LabEntry *entry, const char *source)
{
    size_t size;
    char word[PATH], *text = read_file(source, 256 << 10, &size);
    char *terms = course_terms(&session->course, entry);
    const uint64_t lab = lab_hash(&session->book, entry);
    uint64_t key = HASH_START;

    if (text) {
        key = hash_bytes(key, text, size);
        key = hash_bytes(key, &lab, sizeof lab);
        key = hash_bytes(key, &session->simulator, sizeof session->simulator);
        key = hash_bytes(key, &session->quick, sizeof session->quick);
        key = add_text(key, session_device_word(session, word, sizeof word));
        key = add_text(key, session->gpu.driver);
        key = add_text(key, session->toolchain.version);
        key = add_text(key, terms);
        key = add_text(key, WARPBOOK_VERSION);
    }
    free(text);
    free(terms);
    return text ? key : 0;
}

const CaseSpeed *record_case(const Result *result)
{
    const CaseSpeed *nearest = NULL;

    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind == TIMED && s->measured && !case_is_blind(s) &&
            (!nearest || s->ratio.median / s->bar < nearest->ratio.median / nearest->bar))
            nearest = s;
    }
    return nearest;
}

const CaseSpeed *record_now(const Result *result, const Case *lab_case)
{
    for (int i = 0; lab_case && i < result->speeds; i++)
        if (result->speed[i].measured && !strcmp(result->speed[i].lab_case->label, lab_case->label))
            return &result->speed[i];
    return NULL;
}

static void add_date(Progress *progress)
{
    time_t now = time(NULL);
    struct tm *local = localtime(&now);

    strftime(progress->date, sizeof progress->date, "%Y-%m-%d", local);
    strftime(progress->time, sizeof progress->time, "%H:%M", local);
}

/* Kernels that were run count. The compiler's errors are part of writing one. */
static bool is_attempt(Verdict verdict)
{
    return verdict != UNCHANGED && verdict != BUILD;
}

/* The way to the first pass: how many kernels and hints it took, and where it began. */
static void add_way(const Result *result, uint64_t key, Progress *progress)
{
    const CaseSpeed *nearest = record_case(result);
    const bool same_lab = !progress->best_lab || progress->best_lab == result->hash;
    const bool was_passed = progress->graded && verdict_passed(progress->best) && same_lab;

    if (is_attempt(result->verdict) && !was_passed && (!key || key != progress->key))
        progress->attempts++;
    if (!was_passed)
        progress->hints_used = progress->hints;
    if (progress->first_ratio <= 0 && nearest) {
        progress->first_ratio = nearest->ratio.median;
        progress->first_case = nearest->lab_case;
    }
}

void record_add(const Result *result, uint64_t key, Progress *progress)
{
    const CaseSpeed *nearest = record_case(result);

    add_way(result, key, progress);
    add_date(progress);
    progress_graded(progress, result->verdict, result->hash);
    progress->ratio = result->ratio;
    progress->diagnosis = result->diagnosis;
    progress->reached = nearest ? nearest->ratio.median : 0;
    progress->bar = nearest ? nearest->bar : 0;
    progress->key = key;
}

void record_result(const Session *session, const Result *result, uint64_t key, Progress *progress)
{
    progress_load(session->book.progress, result->entry, progress);
    record_add(result, key, progress);
    if (result->verdict != UNSOUND)
        progress_keep(session->book.progress, result->entry, progress);
}
