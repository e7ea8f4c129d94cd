/* check.c - reads an answer and compares it with the right one. */
#include "learner/answer.h"
#include "learner/quiz/questions.h"
#include "base/util.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { ANSWER_LENGTH = 200 };

static void trim_end(char *text)
{
    size_t length = strlen(text);

    while (length && isspace((unsigned char) text[length - 1]))
        text[--length] = 0;
}

/* "b", "b)", "B.", or the number of a choice. */
static bool read_choice(const Question *question, const char *text, double *answer)
{
    const char letter = (char) tolower((unsigned char) *text);
    const size_t more = strspn(text + (*text != 0), ").: ");

    if (!*text || text[1 + more])
        return false;
    *answer = isdigit((unsigned char) letter) ? letter - '0' : letter - 'a' + 1;
    return *answer >= 1 && *answer <= question->choice_count;
}

static bool read_value(const Question *question, char *text, double *answer)
{
    const size_t length = strlen(text);
    bool percent;

    if (length > 1 && text[length - 1] == 'x' && isdigit((unsigned char) text[length - 2]))
        text[length - 1] = 0; /* "2.8x" */
    if (!answer_number(text, question->text, answer, &percent))
        return false;
    if (percent)
        *answer = answer_of_percent(*answer, question->answer);
    return isfinite(*answer);
}

bool question_read(const Question *question, const char *text, double *answer, const char **why)
{
    char line[ANSWER_LENGTH];

    *answer = 0;
    *why = question->choice_count ? "write one letter of the list" : ANSWER_FORM;
    if (strlen(text) >= sizeof line)
        return false;
    PUT(line, "%s", text + strspn(text, " \t"));
    trim_end(line);
    return question->choice_count ? read_choice(question, line, answer)
                                  : read_value(question, line, answer);
}

bool question_is_right(const Question *question, double answer)
{
    return fabs(answer - question->answer) <= question->tolerance + 1e-9;
}

char *question_answer(const Question *question, char *text, size_t size)
{
    const int choice = (int) question->answer;

    if (!question->choice_count)
        return put(text, size, fabs(question->answer) < 1000 ? "%.3g" : "%.0f", question->answer);
    return put(text, size, "%c) %s", 'a' + choice - 1, question->choices[choice - 1]);
}
