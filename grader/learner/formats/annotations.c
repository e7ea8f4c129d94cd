/* annotations.c - what a grading found, as messages with a place in the student's file.
 *
 * The place is the line that the simulated GPU or a compiler named. Without one it is the line
 * where the lab's function is defined, so that an editor or a pull request can show the message.
 */
#include "learner/formats/formats.h"
#include "judge/message.h"

#include <stdlib.h>
#include <string.h>

/* What a verdict is to other programs. A pass has a message only if a counter exceeds a limit. */
static const struct {
    bool has_message;
    Level level;
} verdicts[VERDICT_COUNT] = {
    [UNCHANGED] = { true, LEVEL_NOTE },      [PASS] = { false, LEVEL_NOTE },
    [CLOSE] = { false, LEVEL_NOTE },         [SLOW] = { true, LEVEL_WARNING },
    [CORRECT_ONLY] = { true, LEVEL_NOTE },   [WRONG] = { true, LEVEL_ERROR },
    [UNSAFE] = { true, LEVEL_ERROR },        [STRAY] = { true, LEVEL_ERROR },
    [CRASH] = { true, LEVEL_ERROR },         [TIMEOUT] = { true, LEVEL_ERROR },
    [BUILD] = { true, LEVEL_ERROR },         [SUSPECT] = { true, LEVEL_WARNING },
    [UNSUPPORTED] = { true, LEVEL_WARNING }, [UNSOUND] = { true, LEVEL_ERROR },
};

/* "unsafe/race", or the verdict alone. Only the first code counts. */
static void set_rule(Annotation *a, Verdict verdict, uint64_t saw)
{
    char words[200];

    a->meaning = verdict_meaning(verdict);
    PUT(a->rule, "%s", verdict_word(verdict));
    if (!saw)
        return;
    diagnosis_words(saw & -saw, words, sizeof words);
    a->meaning = diagnosis_clause((DiagnosisCode) __builtin_ctzll(saw));
    APPEND(a->rule, "/%s", words);
}

/* The line of the definition of the lab's function; 0: unknown. */
static int function_line(const Result *result)
{
    char *source = read_file(result->source, BUILD_SOURCE_BYTES, NULL);
    const int line = source ? line_of_name(source, result->entry->lab->function) : 0;

    free(source);
    return line;
}

static const CaseSpeed *speed_of(const Result *result, const Case *lab_case)
{
    for (int i = 0; i < result->speeds; i++)
        if (result->speed[i].lab_case == lab_case && result->speed[i].measured)
            return &result->speed[i];
    return NULL;
}

/* The message of a counter, without its line, which the annotation has. */
static void say_counter(const Diagnosis *diagnosis, char *text, size_t size)
{
    Diagnosis anywhere = *diagnosis;

    anywhere.line = 0;
    message_counter(&anywhere, text, size);
}

static void say_slow(const Result *result, char *text, size_t size)
{
    const Diagnosis *diagnosis = &result->diagnosis;
    const CaseSpeed *speed = speed_of(result, diagnosis->lab_case);
    char counter[600];

    say_counter(diagnosis, counter, sizeof counter);
    put(text, size, "%s", counter);
    if (!speed)
        return;
    message_slow(speed, speed->simulated_blocks > 0, text, size);
    append(text, size, "; %s", counter);
}

static void say(const Result *result, char *text, size_t size)
{
    const Diagnosis *diagnosis = &result->diagnosis;

    if (result->verdict == SLOW && diagnosis->limit > 0)
        say_slow(result, text, size);
    else if (*diagnosis->text && diagnosis->lab_case)
        put(text, size, "case %s: %s", diagnosis->lab_case->label, diagnosis->text);
    else
        put(text, size, "%s", *result->why ? result->why : verdict_meaning(result->verdict));
}

static void add_build_errors(const Result *result, const char *file, Annotations *annotations)
{
    for (int i = 0; i < result->errors.count; i++) {
        const CompilerError *error = &result->errors.error[i];
        Annotation *a = &annotations->list[annotations->count++];
        *a = (Annotation){ LEVEL_ERROR, .file = file, .line = error->line, error->column };
        set_rule(a, BUILD, result->diagnosis.saw);
        PUT(a->text, "%s", error->text);
    }
}

static void add_verdict(const Result *result, const char *file, Annotations *annotations)
{
    const Diagnosis *diagnosis = &result->diagnosis;
    const bool about_file = result->verdict != UNSOUND;
    Annotation *a = &annotations->list[annotations->count++];

    *a = (Annotation){ verdicts[result->verdict].level, .file = about_file ? file : NULL,
                       .line = diagnosis->line, .other_line = diagnosis->other_line,
                       .other_text = "the other access" };
    if (!a->line && about_file)
        a->line = function_line(result);
    set_rule(a, result->verdict, diagnosis->saw & diagnosis_possible(result->verdict));
    say(result, a->text, sizeof a->text);
}

/* A pass that exceeds a limit of the lab: the rule is the limit's. */
static void add_exceeded(const Result *result, const char *file, Annotations *annotations)
{
    Annotation *a = &annotations->list[annotations->count++];
    char counter[600];

    *a = (Annotation){ LEVEL_NOTE, .file = file, .line = result->exceeded.line };
    set_rule(a, SLOW, result->exceeded.saw);
    say_counter(&result->exceeded, counter, sizeof counter);
    message_above(counter, a->text, sizeof a->text);
}

void annotations_of(const Result *result, const char *file, Annotations *annotations)
{
    annotations->count = 0;
    if (result->verdict == BUILD && result->errors.count)
        add_build_errors(result, file, annotations);
    else if (verdicts[result->verdict].has_message)
        add_verdict(result, file, annotations);
    else if (result->exceeded.limit > 0)
        add_exceeded(result, file, annotations);
}
