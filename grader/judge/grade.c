/* grade.c - grades one submission against one lab: build, correctness, speed, marks. */
#include "judge/grade.h"
#include "judge/message.h"
#include "sim/base/source_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void end_with(Result *result, Verdict verdict, const char *why)
{
    result->verdict = verdict;
    PUT(result->why, "%s", why);
}

/* True if the source differs from the starter only in comments and whitespace. */
static bool is_starter(const Session *session, const LabEntry *entry, const char *source)
{
    char path[PATH];
    char *starter, *text = read_file(source, 256 << 10, NULL);
    bool same = false;

    PUT(path, "%s/solutions/%s/0_starter.cu", session->book.root, entry->folder);
    starter = read_file(path, 256 << 10, NULL);
    if (starter && text)
        same = same_but_for_comments(starter, text);
    free(starter);
    free(text);
    return same;
}

/* The reference is built like a submission. If that fails, the workbook is at fault. */
static bool build_reference(const Session *session, Result *result, Build *reference)
{
    FileList rungs;

    list_rungs(&session->book, result->entry, &rungs);
    if (!rungs.count) {
        PUT(result->why, "the lab has no reference: solutions/%s contains no numbered kernel",
            result->entry->folder);
        result->verdict = UNSOUND;
        return false;
    }
    session_build(session, result->entry, rungs.path[rungs.count - 1], NULL, reference);
    if (reference->fault == BUILD_OK)
        return true;
    end_with(result, UNSOUND, reference->message);
    return false;
}

static bool build_submission(const Session *session, const char *source, const char *shown,
                             Result *result, Build *build)
{
    session_build(session, result->entry, source, shown, build);
    if (build->fault == BUILD_OK) {
        if (build->note[0])
            PUT(result->note, "%s", build->note);
        return true;
    }
    end_with(result, build->fault == BUILD_STUDENT ? BUILD : UNSOUND, build->message);
    if (result->verdict == BUILD) {
        result->diagnosis.saw = SAW(build->code);
        result->errors = build->errors;
    }
    return false;
}

static void note_source(Result *result, const char *source)
{
    size_t size;
    char *text = read_file(source, 256 << 10, &size);

    PUT(result->source, "%s", source);
    if (text)
        result->source_hash = hash_bytes(HASH_START, text, size);
    free(text);
}

void grade_build(Session *session, const char *source, Result *result, Build *built)
{
    double start = now_s();

    result->hash = lab_hash(&session->book, result->entry);
    note_source(result, source);
    build_submission(session, source, source, result, built);
    result->wall_s = now_s() - start;
}

void graded_of(const Result *result, Graded *graded)
{
    *graded = (Graded){ .state = verdict_word(result->verdict),
                        .unmarked = result->entry->lab->unmarked };
    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind == TIMED && s->measured)
            graded->cases[graded->count++] =
                (MarkedCase){ .ratio = s->ratio.median,
                              .rung1 = s->floor,
                              .bar = s->bar,
                              .spares_rung1 = s->lab_case->spares_rung1 };
    }
}

/* Sets the lowest ratio and the marks. The starter gets no marks. */
static void add_up(const Policy *policy, Result *result)
{
    double lowest = 0;
    int timed = 0;
    Graded graded;
    Marks marks;

    for (int i = 0; i < result->speeds; i++) {
        const CaseSpeed *s = &result->speed[i];
        if (s->lab_case->kind != TIMED || !s->measured)
            continue;
        if (!timed++ || s->ratio.median < lowest)
            lowest = s->ratio.median;
    }
    result->ratio = lowest;
    graded_of(result, &graded);
    marks_of(policy, &graded, &marks);
    result->marks = marks.marks;
}

static const char starter_words[] = "this is the starter, which is not a solution yet";

const char *why_it_failed(const Result *result)
{
    const size_t length = sizeof starter_words - 1;

    if (strncmp(result->why, starter_words, length))
        return result->why;
    return result->why + length + (result->why[length] ? strlen(": ") : 0);
}

/* The starter is run like any kernel, because its result is where the lesson begins. */
static void say_untouched(Result *result)
{
    char was[sizeof result->why];

    PUT(was, "%s", result->why);
    result->as_it_ran = result->verdict;
    result->verdict = UNCHANGED;
    if (result->as_it_ran == CORRECT_ONLY)
        PUT(result->why,
            "this is the starter. Its result is correct, but labs/%s/README.md explains "
            "why it is slow (its speed was not judged here)",
            result->entry->folder);
    else
        PUT(result->why, "%s%s%s", starter_words, result->as_it_ran == PASS ? "" : ": ",
            result->as_it_ran == PASS ? "" : was);
}

/* A different source gets different inputs, even with the same seed. Only a replay compares the
 * same places again. */
static Draws draws_of(const Session *session, const LabEntry *entry, const char *source)
{
    char *text = read_file(source, BUILD_SOURCE_BYTES, NULL);
    Draws draws = draws_begin(session->seed, entry->folder, text);

    free(text);
    if (!session->replayed)
        draws_hide(&draws);
    return draws;
}

/* Keeps the codes that belong to the verdict. For a crash these include what CUDA_CHECK printed. */
static void keep_diagnosis(Result *result)
{
    if (result->verdict == CRASH)
        result->diagnosis.saw |= diagnosis_printed(result->printed);
    result->diagnosis.saw &= diagnosis_possible(result->verdict);
}

/* A finding may name an array that its line does not index. */
static void name_neighbour(Result *result)
{
    char *text = read_file(result->source, BUILD_SOURCE_BYTES, NULL);

    if (text && result->verdict == STRAY)
        message_neighbour(text, result->why, sizeof result->why);
    free(text);
}

/* Elements of arrays with several dimensions: `tile[33]` becomes `tile[1][0]`. */
static void name_elements(Result *result)
{
    Diagnosis *diagnosis = &result->diagnosis;

    if (result->verdict != UNSAFE && result->verdict != STRAY && result->verdict != CRASH)
        return;
    source_shape_file(result->source, result->why, sizeof result->why);
    name_neighbour(result);
    source_shape_file(result->source, diagnosis->text, sizeof diagnosis->text);
}

void grade(Session *session, const LabEntry *entry, const char *source, const char *shown,
           Result *result)
{
    Draws random;
    double start = now_s();
    Build reference, submission;
    bool simulated = *session->simulated;
    bool untouched = !session->ours && is_starter(session, entry, source);

    *result = (Result){ .entry = entry, .verdict = PASS, .seed = session->seed };
    result->hash = lab_hash(&session->book, entry);
    note_source(result, source);
    random = draws_of(session, entry, source);
    session->streams = entry->lab->streams;
    session_say(session, "%02d %s: building", lab_number(entry), lab_name(entry));
    session_event(session, "event:building");
    if (build_reference(session, result, &reference) &&
        build_submission(session, source, shown, result, &submission)) {
        session_event(session, "event:built");
        judge_correctness(session, submission.object, result, &random);
        if (result->verdict == PASS && course_counts(&session->course, entry))
            judge_counts(session, submission.object, result, &random);
        else if (result->verdict == PASS && simulated)
            judge_modelled(session, reference.object, submission.object, result, &random);
        else if (result->verdict == PASS)
            judge_speed(session, reference.object, submission.object, result, &random);
    }
    keep_diagnosis(result);
    name_elements(result);
    if (untouched && result->verdict != UNSOUND)
        say_untouched(result);
    add_up(&session->course.lab[entry - all_labs].policy, result);
    result->wall_s = now_s() - start;
    session_event(session, "event:verdict verdict:%s", verdict_word(result->verdict));
    session_clear_line();
}
