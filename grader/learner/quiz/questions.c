/* questions.c - fills in the texts of questions, and chooses three. */
#include "learner/quiz/kinds.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

enum { MOST_CANDIDATES = 1000 };

const char *question_kind(int i)
{
    return question_kinds[i].key;
}

char *question_title(const Lab *lab, const char *key, char *text, size_t size)
{
    const size_t length = strcspn(key, "@");

    for (int k = 0; question_kinds[k].key; k++)
        if (strlen(question_kinds[k].key) == length && !strncmp(question_kinds[k].key, key, length))
            return put(text, size, "%s%s%s", question_kinds[k].title, key[length] ? ", line " : "",
                       key[length] ? key + length + 1 : "");
    for (int i = 0; !strncmp(key, "transfer.", 9) && i < LAB_QUESTIONS && lab->questions[i].key;
         i++)
        if (!strcmp(lab->questions[i].key, key + 9))
            return put(text, size, "%s", lab->questions[i].text);
    return put(text, size, "%s", key);
}

/* ---- Texts ---- */

static void say_case(const Lab *lab, const Case *c, char *text, size_t size)
{
    char sizes[120];

    if (c->label && lab->shape)
        put(text, size, "%s, %s", c->label, case_size(lab, c, sizes, sizeof sizes));
    else
        put(text, size, "%s", c->label ? c->label : "");
}

/* At most three digits after the point, without zeros at the end. */
static void say_number(double value, char *text, size_t size)
{
    if (fabs(value) >= 1000)
        put(text, size, "%.0f", value);
    else
        put(text, size, "%.3g", value);
}

/* The value of a placeholder. */
static void say(const QuestionKind *kind, const Subject *s, const char *name, char *text,
                size_t size)
{
    const KernelFacts *f = s->facts;

    *text = 0;
    if (!strcmp(name, "line"))
        put(text, size, "%d", s->line->cost.line);
    else if (!strcmp(name, "source"))
        put(text, size, "%s", s->line->source);
    else if (!strcmp(name, "lab"))
        put(text, size, "%s", lab_name(f->entry));
    else if (!strcmp(name, "case"))
        say_case(f->entry->lab, &f->sized, text, size);
    else if (!strcmp(name, "doubled"))
        say_case(f->entry->lab, &f->doubled, text, size);
    else if (!strcmp(name, "array"))
        put(text, size, "%s", f->array);
    else if (!strcmp(name, "sms"))
        put(text, size, "%d", f->sms);
    else if (!strcmp(name, "per_sm"))
        say_number(f->sms > 0 ? f->resident / f->sms : 0, text, size);
    else if (!strcmp(name, "device"))
        put(text, size, "%s", f->device);
    else if (!strcmp(name, "answer"))
        say_number(kind->answer(s), text, size);
    else if (!strcmp(name, "other") && kind->other)
        say_number(kind->other(s), text, size);
    else
        die("quiz: unknown placeholder {%s}", name);
}

static void fill_in(const QuestionKind *kind, const Subject *s, const char *from, char *text,
                    size_t size)
{
    char name[16], value[200];

    *text = 0;
    while (*from) {
        const size_t plain = strcspn(from, "{"), length = strcspn(from + plain, "}");
        append(text, size, "%.*s", (int) plain, from);
        from += plain;
        if (!*from)
            return;
        PUT(name, "%.*s", (int) length - 1, from + 1);
        say(kind, s, name, value, sizeof value);
        append(text, size, "%s", value);
        from += length + 1;
    }
}

static void ask(const QuestionKind *kind, const Subject *s, Question *question)
{
    *question = (Question){ .answer = kind->answer(s) };
    question->tolerance = fmax(kind->tolerance, kind->relative * fabs(question->answer));
    if (kind->of_line)
        PUT(question->key, "%s@%d", kind->key, s->line->cost.line);
    else
        PUT(question->key, "%s", kind->key);
    if (kind->choose)
        question->answer = kind->choose(s, question);
    fill_in(kind, s, kind->text, question->text, sizeof question->text);
    fill_in(kind, s, kind->because, question->because, sizeof question->because);
}

/* ---- Choosing three ---- */

typedef struct Candidate {
    const QuestionKind *kind;
    Subject subject;
    uint64_t order;
} Candidate;

/* A line of which nothing is known to the reader cannot be asked about, nor can a word that only a
 * later lab explains. */
static bool fits(const QuestionKind *kind, const Subject *s)
{
    return lab_number(s->facts->entry) >= kind->from && (!kind->of_line || *s->line->source) &&
           kind->fits(s);
}

static int list_candidates(const KernelFacts *facts, Candidate *list)
{
    int count = 0;

    for (int k = 0; question_kinds[k].key; k++)
        for (int i = 0; i < (question_kinds[k].of_line ? facts->line_count : 1); i++) {
            const Subject s = { facts, question_kinds[k].of_line ? &facts->lines[i] : NULL };
            if (count < MOST_CANDIDATES && fits(&question_kinds[k], &s))
                list[count++] = (Candidate){ &question_kinds[k], s, 0 };
        }
    return count;
}

/* The next candidate in the kernel's order whose group is not in `taken`. */
static const Candidate *next_candidate(const Candidate *list, int count, const char *taken)
{
    const Candidate *first = NULL;

    for (int i = 0; i < count; i++)
        if (!is_in(taken, list[i].kind->group) && (!first || list[i].order < first->order))
            first = &list[i];
    return first;
}

/* Every kind that fits is as likely as every other one, however many lines it could be about. */
static void draw_order(Candidate *list, int count, uint64_t kernel)
{
    for (int i = 0; i < count; i++) {
        uint64_t state = hash_bytes(kernel, list[i].kind->key, strlen(list[i].kind->key));
        list[i].order = next_random(&state) >> 16 << 16;
        if (list[i].subject.line) {
            state ^= (uint64_t) list[i].subject.line->cost.line;
            list[i].order |= next_random(&state) & 0xffff;
        }
    }
}

int questions_choose(const KernelFacts *facts, uint64_t kernel, Question questions[QUIZ_OWN])
{
    static Candidate list[MOST_CANDIDATES];
    const int count = list_candidates(facts, list);
    char taken[200] = "";
    int chosen = 0;

    draw_order(list, count, kernel);
    while (chosen < QUIZ_OWN) {
        const Candidate *next = next_candidate(list, count, taken);
        if (!next)
            break;
        ask(next->kind, &next->subject, &questions[chosen++]);
        APPEND(taken, "%s%s", *taken ? " " : "", next->kind->group);
    }
    return chosen;
}

bool question_about(const KernelFacts *facts, const char *key, Question *question)
{
    static Candidate list[MOST_CANDIDATES];
    const int count = list_candidates(facts, list);

    for (int i = 0; i < count; i++) {
        ask(list[i].kind, &list[i].subject, question);
        if (!strcmp(question->key, key))
            return true;
    }
    return false;
}

int questions_transfer(const Lab *lab, Question questions[LAB_QUESTIONS])
{
    int count = 0;

    for (; count < LAB_QUESTIONS && lab->questions[count].key; count++) {
        const TransferQuestion *row = &lab->questions[count];
        Question *q = &questions[count];
        *q = (Question){ .answer = row->answer, .tolerance = row->tolerance };
        PUT(q->key, "transfer.%s", row->key);
        PUT(q->text, "%s", row->text);
        PUT(q->because, "%s", row->because);
        for (; q->choice_count < LAB_CHOICES && row->choices[q->choice_count]; q->choice_count++)
            PUT(q->choices[q->choice_count], "%s", row->choices[q->choice_count]);
    }
    return count;
}
