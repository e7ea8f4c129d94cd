/* command.c - `warpbook quiz`: which kernel, whether it passed, and the questions about it. */
#include "judge/grade.h"
#include "learner/portfolio/history.h"
#include "learner/quiz/quiz.h"
#include "learner/report.h"
#include "learner/state_file.h"
#include "learner/submission.h"
#include "base/quiz_sheet.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SOURCE_MOST = 256 << 10, COLUMNS = 80 };

typedef struct Asked {
    Session session;
    const LabEntry *entry;
    char source[PATH], shown[PATH], file[PATH];
    uint64_t kernel;
} Asked;

static uint64_t hash_of(const char *path)
{
    size_t size;
    char *text = read_file(path, SOURCE_MOST, &size);
    const uint64_t hash = text ? hash_bytes(HASH_START, text, size) : 0;

    free(text);
    return hash;
}

/* Only a kernel that passes is asked about. The last grading says so, if the file has not changed
 * since; otherwise it is graded now. */
static bool passes(Asked *asked, bool is_submission, Verdict *verdict)
{
    static Result result;
    char path[PATH];

    *verdict = PASS;
    state_path(asked->session.book.progress, "history", path, sizeof path);
    if (!is_submission && history_passed(path, asked->entry, asked->kernel))
        return true;
    asked->session.seed = secret();
    grade(&asked->session, asked->entry, asked->source, asked->shown, &result);
    session_clear_line();
    *verdict = result.verdict;
    return verdict_passed(*verdict) || *verdict == CORRECT_ONLY;
}

static int refuse(const Asked *asked, Verdict verdict)
{
    char text[300];

    if (verdict == UNSOUND)
        PUT(text,
            "%02d %s could not be graded, so there are no questions about it. See make grade "
            "LAB=%s.",
            lab_number(asked->entry), lab_name(asked->entry), lab_name(asked->entry));
    else
        PUT(text,
            "%02d %s: %s. The questions are about a kernel that passes: make grade LAB=%s "
            "says what is missing.",
            lab_number(asked->entry), lab_name(asked->entry), verdict_label(verdict),
            lab_name(asked->entry));
    print_wrapped(text, 4, COLUMNS);
    return verdict == UNSOUND ? COULD_NOT : NOT_PASSED;
}

/* The run is that of `warpbook draw`, with the same inputs each time. */
static bool collect(Asked *asked, KernelFacts *facts)
{
    static char why[COLLECT_WHY];
    Session *session = &asked->session;
    const Case *lab_case = collect_choose_case(asked->entry->lab, NULL);
    const Case sized = collect_case(lab_case, &session->gpu);
    const CollectJob job = { session, asked->entry, &sized, asked->source, asked->shown };
    bool well;

    session->seed = 1;
    session->replayed = true;
    session_say(session, "%02d %s: counting what your kernel does", lab_number(asked->entry),
                lab_name(asked->entry));
    well = facts_collect(&job, facts, why);
    session_clear_line();
    if (!well)
        fprintf(stderr, "warpbook: no questions: %s\n", why);
    return well;
}

static void prepare(const Asked *asked, const KernelFacts *facts, bool is_submission, Quiz *quiz)
{
    time_t now = time(NULL);
    char device[sizeof quiz->records.device];

    session_device_word(&asked->session, device, sizeof device);
    *quiz = (Quiz){ .entry = asked->entry };
    quiz->own = questions_choose(facts, asked->kernel, quiz->list);
    quiz->count = quiz->own + questions_transfer(asked->entry->lab, quiz->list + quiz->own);
    if (!is_submission)
        quiz_load(asked->file, asked->entry, &quiz->records);
    if (quiz->records.kernel != asked->kernel || strcmp(quiz->records.device, device))
        quiz->records = (QuizRecords){ .kernel = asked->kernel };
    PUT(quiz->records.device, "%s", device);
    strftime(quiz->records.date, sizeof quiz->records.date, "%Y-%m-%d", localtime(&now));
}

static void print_introduction(const Quiz *quiz, const Case *sized)
{
    const int transfer = quiz->count - quiz->own;
    char text[600], sizes[120];

    PUT(text, "%d question%s about your kernel", quiz->own, quiz->own == 1 ? "" : "s");
    if (transfer)
        APPEND(text, ", then %d about other problems", transfer);
    APPEND(text,
           ". The simulated GPU ran it on case %s, %s: the smallest size at which this case "
           "is timed. ",
           sized->label, case_size(quiz->entry->lab, sized, sizes, sizeof sizes));
    APPEND(text, "Answer with a number, or with the letter of a choice. Enter skips a question; "
                 "q ends.");
    print_wrapped(text, 0, COLUMNS);
}

static void ask(Quiz *quiz, const Case *sized, const Options *options)
{
    Answers answers = { options->answers, stdin, stdout,
                        !options->answers && isatty(0) && isatty(1) };
    const QuizRecords *r = &quiz->records;

    if (answers.is_terminal)
        print_introduction(quiz, sized);
    quiz_ask(quiz, &answers);
    printf("\n%d of %d right about your kernel", quiz_right(r, false), quiz->own);
    if (quiz->count > quiz->own)
        printf(", %d of %d about other problems", quiz_right(r, true), quiz->count - quiz->own);
    printf(".\n");
}

/* For programs: answers come from --answers only, and texts are not printed. */
static void ask_silently(Quiz *quiz, const Options *options)
{
    char *text;
    size_t bytes;
    Answers answers = { options->answers, stdin, text_open(&text, &bytes), false };

    if (options->answers)
        quiz_ask(quiz, &answers);
    text_close(answers.to);
    free(text);
}

/* labs/NN/quiz.txt, for courses that ask for it. */
static bool write_sheet(const Asked *asked, const Quiz *quiz, char path[PATH])
{
    QuizSheet sheet = { .kernel = quiz->records.kernel };
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);
    bool written;

    PUT(sheet.device, "%s", quiz->records.device);
    for (int i = 0; i < quiz->own; i++) {
        const QuizRecord *r = quiz_find(&quiz->records, quiz->list[i].key);
        if (!r || sheet.count == QUIZ_SHEET_ANSWERS)
            continue;
        PUT(sheet.key[sheet.count], "%s", r->key);
        sheet.given[sheet.count++] = r->given;
    }
    quiz_sheet_write(&sheet, to);
    text_close(to);
    written =
        write_file(lab_file(&asked->session.book, asked->entry, "quiz.txt", path), text, bytes);
    free(text);
    return written;
}

/* `quiet`: for programs, which know where the answers are. */
static void save(const Asked *asked, const Quiz *quiz, bool quiet)
{
    char path[PATH], text[300];

    if (!quiz->records.count)
        return;
    if (!quiz_save(asked->file, asked->entry, &quiz->records))
        fprintf(stderr, "warpbook: cannot save your answers in %s: %s\n", asked->file,
                strerror(errno));
    if (!write_sheet(asked, quiz, path))
        fprintf(stderr, "warpbook: cannot write your answers to %s: %s\n", path, strerror(errno));
    else if (!quiet)
        print_wrapped(PUT(text,
                          "Your answers are in labs/%s/quiz.txt. Hand that file in if your course "
                          "asks for it.",
                          asked->entry->folder),
                      0, COLUMNS);
}

static int quiz_one(Asked *asked, const Options *options)
{
    static KernelFacts facts;
    static Quiz quiz;
    Verdict verdict;

    if (!passes(asked, options->submission, &verdict))
        return refuse(asked, verdict);
    if (!collect(asked, &facts))
        return COULD_NOT;
    prepare(asked, &facts, options->submission, &quiz);
    if (options->lines) {
        ask_silently(&quiz, options);
        quiz_lines(&quiz);
    } else {
        ask(&quiz, &facts.sized, options);
    }
    if (!options->submission)
        save(asked, &quiz, options->lines);
    return DONE;
}

int run_quiz(Options *options)
{
    static Asked asked;
    const bool simulated = options->device && !strncmp(options->device, "sim", 3);
    int status;

    if (!submission_fits(options))
        return USAGE;
    asked = (Asked){ .entry = options->labs[0] };
    asked.session = (Session){ .quick = true, .live = isatty(2) };
    if (!session_open(&asked.session, simulated ? options->device : "sim"))
        return report_could_not(&asked.session);
    submission_find(&asked.session.book, options, asked.entry, asked.source, asked.shown);
    state_path(asked.session.book.progress, "quiz", asked.file, sizeof asked.file);
    asked.kernel = hash_of(asked.source);
    status = quiz_one(&asked, options);
    session_close(&asked.session);
    return status;
}

/* ---- For gradebook ---- */

static void answer_lines(const Asked *asked, const KernelFacts *facts, FILE *to)
{
    Question questions[QUIZ_OWN];
    const int count = questions_choose(facts, asked->kernel, questions);
    char word[64];

    fprintf(to, "quiz.device:%s\n", session_device_word(&asked->session, word, sizeof word));
    for (int i = 0; i < count; i++)
        fprintf(to, "quiz.%d.key:%s\nquiz.%d.answer:%.10g\nquiz.%d.tolerance:%.10g\n", i + 1,
                questions[i].key, i + 1, questions[i].answer, i + 1, questions[i].tolerance);
}

char *quiz_right_answers(const Result *result, const char *shown)
{
    static Asked asked;
    static KernelFacts facts;
    char *text;
    size_t bytes;
    FILE *to = text_open(&text, &bytes);

    asked = (Asked){ .entry = result->entry, .kernel = result->source_hash };
    asked.session = (Session){ .quick = true };
    PUT(asked.source, "%s", result->source);
    PUT(asked.shown, "%s", shown);
    if ((verdict_passed(result->verdict) || result->verdict == CORRECT_ONLY) &&
        session_open(&asked.session, "sim")) {
        if (collect(&asked, &facts))
            answer_lines(&asked, &facts, to);
        session_close(&asked.session);
    }
    text_close(to);
    return text;
}
