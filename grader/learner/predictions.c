/* predictions.c - reads what a learner predicted, tolerantly, and explains each answer once. */
#include "learner/predictions.h"
#include "learner/answer.h"
#include "learner/progress.h"
#include "base/util.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 1 << 20, LINE_MOST = 512, COLUMNS = 80 };

typedef struct Guesses {
    double value[LAB_PREDICTIONS];
    bool filled[LAB_PREDICTIONS];
    bool unread[LAB_PREDICTIONS]; /* something is filled in that is no number */
} Guesses;

static int prediction_count(const Lab *lab)
{
    int count = 0;

    while (count < LAB_PREDICTIONS && lab->predictions[count].key && *lab->predictions[count].key)
        count++;
    return count;
}

/* The path as the student knows it, for example of
 * "/home/ann/warpbook/labs/06_transpose/predictions.txt". */
static const char *short_path(const char *path)
{
    const char *found = path;

    for (const char *at = path; (at = strstr(at, "/labs/")); at++)
        found = at + 1;
    return found;
}

static void trim_end(char *text)
{
    size_t length = strlen(text);

    while (length && isspace((unsigned char) text[length - 1]))
        text[--length] = 0;
}

/* Takes one line into `guesses`; false if it cannot be read, with the reason in `fault`. */
static bool take_line(char *line, const Lab *lab, int count, Guesses *guesses,
                      char fault[LINE_MOST])
{
    char *key = line + strspn(line, " \t"), *colon = strchr(key, ':'), *value;
    const Prediction *about;
    bool percent;
    int i = 0;

    trim_end(key);
    if (!*key || *key == '#')
        return true;
    put(fault, LINE_MOST, "a line is `key: number`; put a # before remarks");
    if (!colon)
        return false;
    *colon = 0;
    trim_end(key);
    value = colon + 1 + strspn(colon + 1, " \t");
    while (i < count && strcmp(key, lab->predictions[i].key))
        i++;
    about = &lab->predictions[i];
    put(fault, LINE_MOST, "the lab has no question named \"%.40s\"", key);
    if (i == count)
        return false;
    if (!*value || *value == '#')
        return true;
    put(fault, LINE_MOST, "\"%.40s\" is not understood: " ANSWER_FORM, value);
    guesses->unread[i] = !answer_number(value, about->question, &guesses->value[i], &percent);
    if (guesses->unread[i])
        return false;
    if (percent)
        guesses->value[i] = answer_of_percent(guesses->value[i], about->answer);
    guesses->filled[i] = true;
    return true;
}

/* Calls `report` for each line that cannot be read. */
static void read_guesses(const char *path, const Lab *lab, int count, Guesses *guesses,
                         void (*report)(void *context, const char *fault), void *context)
{
    size_t size;
    char *text = read_file(path, FILE_MOST, &size), line[LINE_MOST], fault[LINE_MOST];

    if (!text)
        return;
    const char *at = text;
    if (!strncmp(text, "\xef\xbb\xbf", 3)) /* an editor's byte order mark */
        at += 3;
    for (int number = 1; next_line(&at, text + size, line, sizeof line); number++) {
        char message[2 * LINE_MOST];
        if (!take_line(line, lab, count, guesses, fault) && report)
            report(context, PUT(message, "%.200s:%d: %s.", short_path(path), number, fault));
    }
    free(text);
}

static void print_fault(void *context, const char *fault)
{
    (void) context;
    print_wrapped(fault, 0, COLUMNS);
}

static void keep_first(void *context, const char *fault)
{
    PredictionScore *score = context;

    if (!score->faults++)
        PUT(score->fault, "%s", fault);
}

static bool is_right(const Prediction *p, double guess)
{
    return fabs(guess - p->answer) <= p->tolerance;
}

static void print_prediction(const Prediction *p, double guess)
{
    char text[2048];

    if (is_right(p, guess))
        PUT(text, "%s: you said %.10g, right", p->key, guess);
    else
        PUT(text, "%s: you said %.10g, it is %.10g", p->key, guess, p->answer);
    if (is_right(p, guess) && guess != p->answer)
        APPEND(text, " (%.10g)", p->answer);
    APPEND(text, ". %s", p->because ? p->because : "");
    print_wrapped(text, 4, COLUMNS);
}

bool predictions_open(const char *path, const Lab *lab)
{
    int count = prediction_count(lab);
    Guesses guesses = { 0 };

    read_guesses(path, lab, count, &guesses, print_fault, NULL);
    for (int i = 0; i < count; i++)
        if (guesses.filled[i])
            return false;
    return count > 0;
}

void print_waiting(int labs)
{
    char text[256];

    PUT(text,
        "%d of these labs ask%s for a few predictions before you look at the speed: fill in "
        "predictions.txt, next to kernel.cu.",
        labs, labs == 1 ? "s" : "");
    print_wrapped(text, 0, COLUMNS);
}

/* A hash of these numbers, never 0. */
static uint64_t key_of(const Lab *lab, int count, const Guesses *guesses)
{
    uint64_t key = HASH_START;

    for (int i = 0; i < count; i++) {
        double numbers[] = { guesses->filled[i], guesses->value[i], lab->predictions[i].answer };
        key = hash_bytes(key, numbers, sizeof numbers);
    }
    return key ? key : 1;
}

PredictionScore predictions_score(const char *path, const Lab *lab)
{
    PredictionScore score = { .asked = prediction_count(lab) };
    Guesses guesses = { 0 };

    read_guesses(path, lab, score.asked, &guesses, keep_first, &score);
    for (int i = 0; i < score.asked; i++) {
        score.filled += guesses.filled[i];
        score.unread += guesses.unread[i] && !guesses.filled[i];
        score.right += guesses.filled[i] && is_right(&lab->predictions[i], guesses.value[i]);
    }
    return score;
}

int print_predictions(const char *path, const Lab *lab, uint64_t *explained)
{
    int count = prediction_count(lab), filled = 0, right = 0;
    char missing[512] = "", text[1024];
    Guesses guesses = { 0 };
    uint64_t key;

    if (!count)
        return 0;
    read_guesses(path, lab, count, &guesses, print_fault, NULL);
    for (int i = 0; i < count; i++) {
        filled += guesses.filled[i];
        right += guesses.filled[i] && is_right(&lab->predictions[i], guesses.value[i]);
        if (!guesses.filled[i] && !guesses.unread[i])
            APPEND(missing, "%s%s", *missing ? ", " : "", lab->predictions[i].key);
    }
    if (!filled) {
        PUT(text, "%s asks for %d number%s: write %s before you look at the speed.",
            short_path(path), count, count == 1 ? "" : "s", count == 1 ? "it" : "them");
        print_wrapped(text, 0, COLUMNS);
        return 0;
    }
    key = key_of(lab, count, &guesses);
    if (*explained == key) {
        PUT(text,
            "Your predictions have not changed: %d of %d right. make progress LAB=NAME explains "
            "them again.",
            right, count);
        print_wrapped(text, 0, COLUMNS);
        return filled;
    }
    *explained = key;
    printf("Your predictions for %s:\n", lab->title);
    for (int i = 0; i < count; i++)
        if (guesses.filled[i])
            print_prediction(&lab->predictions[i], guesses.value[i]);
    if (*missing)
        print_wrapped(PUT(text, "Not filled in yet: %s.", missing), 4, COLUMNS);
    return filled;
}

void explain_predictions(const Workbook *book, const LabEntry *entry, bool again)
{
    char path[PATH];
    Progress progress;
    uint64_t before;

    progress_load(book->progress, entry, &progress);
    before = progress.explained;
    if (again)
        progress.explained = 0;
    print_predictions(lab_file(book, entry, "predictions.txt", path), entry->lab,
                      &progress.explained);
    if (progress.explained && progress.explained != before)
        progress_keep(book->progress, entry, &progress);
}

int predictions_load(const char *path, const Lab *lab, PredictionRow rows[LAB_PREDICTIONS])
{
    const int count = prediction_count(lab);
    Guesses guesses = { 0 };

    read_guesses(path, lab, count, &guesses, NULL, NULL);
    for (int i = 0; i < count; i++)
        rows[i] = (PredictionRow){ &lab->predictions[i], guesses.filled[i], guesses.value[i],
                                   guesses.filled[i] &&
                                       is_right(&lab->predictions[i], guesses.value[i]) };
    return count;
}
