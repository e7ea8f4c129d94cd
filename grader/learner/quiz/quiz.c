/* quiz.c - asks questions, explains answers, and counts. */
#include "learner/quiz/quiz.h"
#include "learner/report.h"
#include "base/text.h"
#include "base/util.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS = 80, ANSWER_LENGTH = 200, MOST_UNREADABLE = 3 };

/* ---- Answers ---- */

/* Takes the text up to the next comma. */
static bool next_of_list(Answers *answers, char *text, size_t size)
{
    const size_t length = strcspn(answers->list, ",");

    if (!*answers->list)
        return false;
    put(text, size, "%.*s", (int) length, answers->list);
    answers->list += length + (answers->list[length] == ',');
    return true;
}

/* Reads a line; the rest of one that is too long is skipped, and it counts as unreadable. */
static bool next_line_of(FILE *from, char *text, size_t size)
{
    int c;

    if (!fgets(text, (int) size, from))
        return false;
    if (strchr(text, '\n')) {
        text[strcspn(text, "\r\n")] = 0;
        return true;
    }
    if (feof(from))
        return true;
    while ((c = fgetc(from)) != '\n' && c != EOF)
        ;
    put(text, size, "?");
    return true;
}

static bool next_answer(Answers *answers, char *text, size_t size)
{
    if (answers->list)
        return next_of_list(answers, text, size);
    if (answers->is_terminal) {
        fprintf(answers->to, "> ");
        fflush(answers->to);
    }
    return next_line_of(answers->from, text, size);
}

/* ---- One question ---- */

static void print_question(const Quiz *quiz, int i, FILE *to)
{
    const Question *q = &quiz->list[i];
    char text[sizeof q->text + 40];

    PUT(text, "\n%d of %d%s. %s", i + 1, quiz->count, i < quiz->own ? "" : ", another problem",
        q->text);
    print_wrapped_to(to, text, 0, COLUMNS);
    for (int c = 0; c < q->choice_count; c++)
        print_wrapped_to(to, PUT(text, "%c) %s", 'a' + c, q->choices[c]), 4, COLUMNS);
    fflush(to);
}

static QuizRecord *record_of(Quiz *quiz, const Question *question)
{
    QuizRecord *known = (QuizRecord *) quiz_find(&quiz->records, question->key);

    if (!known && quiz->records.count < QUIZ_RECORDS) {
        known = &quiz->records.list[quiz->records.count++];
        *known = (QuizRecord){ .tries = 0 };
        PUT(known->key, "%s", question->key);
    }
    return known;
}

/* "Right: it is 7.49, you said 8." if 8 was answered. */
static void explain(const Question *question, const QuizRecord *record, FILE *to)
{
    char text[sizeof question->because + 300], answer[QUIZ_CHOICE + 8], given[32];

    question_answer(question, answer, sizeof answer);
    PUT(given, "%.6g", record->given);
    if (record->right && !question->choice_count && strcmp(given, answer) != 0)
        PUT(text, "Right: it is %s, you said %s", answer, given);
    else
        PUT(text, "%s: %s", record->right ? "Right" : "The answer", answer);
    APPEND(text, ". %s", question->because);
    print_wrapped_to(to, text, 4, COLUMNS);
}

typedef enum Answered { ANSWERED, SKIPPED, NO_MORE } Answered;

static bool is_end(const char *text)
{
    char word[8];

    return sscanf(text, "%7s", word) == 1 &&
           (!strcasecmp(word, "q") || !strcasecmp(word, "quit") || !strcasecmp(word, "exit"));
}

/* Reads until an answer can be understood. An empty line skips the question, "q" ends the quiz. */
static Answered read_answer(Answers *answers, const Question *question, double *value)
{
    char text[ANSWER_LENGTH], message[ANSWER_LENGTH];
    const char *why;

    for (int i = 0; i < MOST_UNREADABLE; i++) {
        if (!next_answer(answers, text, sizeof text) || is_end(text))
            return NO_MORE;
        if (!text[strspn(text, " \t")])
            return SKIPPED;
        if (question_read(question, text, value, &why))
            return ANSWERED;
        print_wrapped_to(answers->to, PUT(message, "Not understood: %s.", why), 4, COLUMNS);
        if (!answers->is_terminal)
            return SKIPPED;
    }
    return SKIPPED;
}

static void say_skipped(const Quiz *quiz, FILE *to)
{
    char text[200];

    print_wrapped_to(to,
                     PUT(text, "Skipped: make quiz LAB=%s asks this again.", lab_name(quiz->entry)),
                     4, COLUMNS);
}

/* Records the answer; returns false if one more try would be useless. */
static bool note_answer(QuizRecord *record, const Question *question, double value)
{
    record->given = value;
    record->tries++;
    record->right = question_is_right(question, value);
    return !record->right;
}

/* Returns false when there are no more answers. */
static bool ask(Quiz *quiz, int i, Answers *answers)
{
    const Question *question = &quiz->list[i];
    const int most_tries = answers->is_terminal ? 2 : 1;
    QuizRecord *record = NULL;
    Answered answered = SKIPPED;
    double value;

    print_question(quiz, i, answers->to);
    for (int try = 1; try <= most_tries; try++) {
        answered = read_answer(answers, question, &value);
        if (answered != ANSWERED)
            break;
        record = record_of(quiz, question);
        if (!record || !note_answer(record, question, value))
            break;
        if (try < most_tries)
            fprintf(answers->to, "    Not quite. One more try.\n");
    }
    if (answered == NO_MORE)
        return false;
    if (record)
        explain(question, record, answers->to);
    else
        say_skipped(quiz, answers->to);
    return true;
}

/* ---- All questions ---- */

static void show_answered(const Quiz *quiz, int i, const QuizRecord *record, FILE *to)
{
    char text[80];

    print_question(quiz, i, to);
    if (!record->right && quiz->list[i].choice_count)
        print_wrapped_to(to, PUT(text, "You said %c.", 'a' + (int) record->given - 1), 4, COLUMNS);
    else if (!record->right)
        print_wrapped_to(to, PUT(text, "You said %.6g.", record->given), 4, COLUMNS);
    explain(&quiz->list[i], record, to);
}

void quiz_ask(Quiz *quiz, Answers *answers)
{
    for (int i = 0; i < quiz->count; i++) {
        const QuizRecord *record = quiz_find(&quiz->records, quiz->list[i].key);
        if (record)
            show_answered(quiz, i, record, answers->to);
        else if (!ask(quiz, i, answers))
            return;
    }
}

static bool is_transfer(const char *key)
{
    return !strncmp(key, "transfer.", 9);
}

int quiz_right(const QuizRecords *records, bool transfer)
{
    int right = 0;

    for (int i = 0; i < records->count; i++)
        right += records->list[i].right && is_transfer(records->list[i].key) == transfer;
    return right;
}

/* ---- For programs ---- */

static void question_lines(const Quiz *quiz, int i)
{
    const Question *q = &quiz->list[i];
    const QuizRecord *record = quiz_find(&quiz->records, q->key);
    char key[40];

    printf("question.%d.key:%s\n", i + 1, q->key);
    report_line(PUT(key, "question.%d.text", i + 1), q->text);
    for (int c = 0; c < q->choice_count; c++)
        report_line(PUT(key, "question.%d.choice.%d", i + 1, c + 1), q->choices[c]);
    printf("question.%d.answer:%.10g\nquestion.%d.tolerance:%.10g\n", i + 1, q->answer, i + 1,
           q->tolerance);
    if (record)
        printf("question.%d.given:%.10g\nquestion.%d.right:%d\nquestion.%d.tries:%d\n", i + 1,
               record->given, i + 1, record->right, i + 1, record->tries);
}

void quiz_lines(const Quiz *quiz)
{
    printf("format:1\nlab:%s\nkernel:%016" PRIx64 "\ndevice:%s\n", quiz->entry->folder,
           quiz->records.kernel, quiz->records.device);
    for (int i = 0; i < quiz->count; i++)
        question_lines(quiz, i);
    printf("asked:%d\nright:%d\ntransfer_asked:%d\ntransfer_right:%d\nend:%s\n", quiz->own,
           quiz_right(&quiz->records, false), quiz->count - quiz->own,
           quiz_right(&quiz->records, true), quiz->entry->folder);
}
