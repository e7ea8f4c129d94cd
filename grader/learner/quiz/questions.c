/* questions.c - the kinds of questions, one row each, and the choice of three. */
#include "learner/quiz/questions.h"
#include "base/util.h"

#include <math.h>
#include <string.h>

/* ---- What a row refers to ---- */

/* A kernel, and the line that a question is about (NULL: none). */
typedef struct Subject {
    const KernelFacts *facts;
    const FactLine *line;
} Subject;

typedef double Value(const Subject *);

static double per(double all, double count)
{
    return count > 0 ? all / count : 0;
}

static double load_sectors(const Subject *s)
{
    return per(s->line->cost.load.passes, s->line->cost.load.requests);
}

static double load_least(const Subject *s)
{
    return per(s->line->cost.load.asked / RECORD_SECTOR_BYTES, s->line->cost.load.requests);
}

static double store_sectors(const Subject *s)
{
    return per(s->line->cost.store.passes, s->line->cost.store.requests);
}

static double store_least(const Subject *s)
{
    return per(s->line->cost.store.asked / RECORD_SECTOR_BYTES, s->line->cost.store.requests);
}

static double wavefronts(const Subject *s)
{
    return per(s->line->cost.shared.passes, s->line->cost.shared.requests);
}

static double wavefronts_least(const Subject *s)
{
    return per(s->line->cost.shared.asked, s->line->cost.shared.requests);
}

static double lanes_of_line(const Subject *s)
{
    return per(s->line->cost.lanes, s->line->cost.instructions);
}

static double lanes_of_all(const Subject *s)
{
    return s->facts->limits.lanes;
}

static double instructions_of_line(const Subject *s)
{
    return s->line->cost.instructions;
}

static double per_warp(double count, double warps)
{
    const double value = per(count, warps);

    return fabs(value - round(value)) < 1e-4 * value ? round(value) : value;
}

static double loads_per_warp(const Subject *s)
{
    return per_warp(s->line->cost.load.requests, s->facts->warps);
}

static double barriers_per_warp(const Subject *s)
{
    return per_warp(s->line->cost.barriers, s->facts->warps);
}

static double barriers_doubled(const Subject *s)
{
    return per_warp(s->line->barriers_doubled, s->facts->warps_doubled);
}

static double number_of_line(const Subject *s)
{
    return s->line->cost.line;
}

static double share_of_line(const Subject *s)
{
    return 100 * per(spent_sum(&s->line->cost.spent), spent_sum(&s->facts->limits.spent));
}

static double resident_per_sm(const Subject *s)
{
    return per(s->facts->resident, s->facts->sms);
}

static double warps_per_sm(const Subject *s)
{
    return resident_per_sm(s) * ceil(s->facts->threads / 32);
}

static double threads_per_block(const Subject *s)
{
    return s->facts->threads;
}

static double blocks(const Subject *s)
{
    return s->facts->blocks;
}

static double resident(const Subject *s)
{
    return s->facts->resident;
}

static double waves(const Subject *s)
{
    return ceil(per(s->facts->blocks, s->facts->resident));
}

static double dram_bytes_per_element(const Subject *s)
{
    return per(s->facts->limits.bytes, s->facts->elements);
}

static double flops_per_byte(const Subject *s)
{
    return per(s->facts->limits.flops, s->facts->limits.bytes);
}

static double tail_share(const Subject *s)
{
    return 100 * per(s->facts->limits.spent.at[AT_TAIL], spent_sum(&s->facts->limits.spent));
}

static double copies_up(const Subject *s)
{
    return s->facts->spans.count[ENGINE_UP];
}

static double streams_used(const Subject *s)
{
    return s->facts->spans.streams;
}

static double upload_busy(const Subject *s)
{
    return 100 * per(s->facts->spans.busy_ns[ENGINE_UP], s->facts->spans.call_ns);
}

static double overlap(const Subject *s)
{
    return per(s->facts->spans.sum_ns, s->facts->spans.call_ns);
}

static double limit_share(const Subject *s)
{
    const Spent *spent = &s->facts->limits.spent;

    return 100 * per(spent->at[spent_most(spent)], spent_sum(spent));
}

/* ---- When a kind fits ---- */

static bool loads(const Subject *s)
{
    return s->line->cost.load.requests > 0;
}

static bool stores(const Subject *s)
{
    return s->line->cost.store.requests > 0;
}

static bool uses_shared(const Subject *s)
{
    return s->line->cost.shared.requests > 0;
}

/* A line whose few instructions do not matter would be a strange one to ask about. */
static bool has_idle_lanes(const Subject *s)
{
    return lanes_of_line(s) > 0 && lanes_of_line(s) < 28 && share_of_line(s) >= 2;
}

static bool has_lanes(const Subject *s)
{
    return lanes_of_all(s) > 0 && !s->facts->entry->lab->streams;
}

static bool one_launch(const Subject *s)
{
    return s->facts->launches == 1 && s->facts->warps > 0;
}

static bool loads_in_a_loop(const Subject *s)
{
    return one_launch(s) && loads_per_warp(s) >= 2;
}

static bool has_barrier(const Subject *s)
{
    return one_launch(s) && barriers_per_warp(s) > 0 && s->facts->warps_doubled > 0;
}

/* The first of the lines, by a clear margin. */
static bool is_dominant(const Subject *s)
{
    const KernelFacts *f = s->facts;

    return s->line == f->lines && f->line_count > 1 && share_of_line(s) >= 10 &&
           spent_sum(&f->lines[1].cost.spent) < 0.6 * spent_sum(&f->lines[0].cost.spent);
}

static bool has_residents(const Subject *s)
{
    return s->facts->resident > 0 && s->facts->blocks > 0 && !s->facts->entry->lab->streams;
}

static bool has_waves(const Subject *s)
{
    return has_residents(s) && s->facts->launches == 1 && waves(s) >= 2 && waves(s) <= 200;
}

static bool has_tail(const Subject *s)
{
    return has_residents(s) && tail_share(s) >= 3;
}

static bool uses_dram(const Subject *s)
{
    return s->facts->limits.bytes > 0.5 * s->facts->elements && s->facts->elements > 1000 &&
           !s->facts->entry->lab->streams;
}

static bool has_flops(const Subject *s)
{
    return uses_dram(s) && s->facts->limits.flops > s->facts->elements;
}

static bool copies(const Subject *s)
{
    return s->facts->entry->lab->streams && s->facts->spans.count[ENGINE_UP] > 0 &&
           s->facts->spans.call_ns > 0;
}

/* The largest part of the time is clearly the largest, and nothing else is busy all the time. */
static bool has_clear_limit(const Subject *s)
{
    const Limits *limits = &s->facts->limits;
    const Limit most = spent_most(&limits->spent);

    if (most != limits_most(limits))
        return false;
    for (int i = 0; i < LIMITS; i++)
        if (i != (int) most && (limits->spent.at[i] > 0.75 * limits->spent.at[most] ||
                                limits->busy[i] > 0.75 * spent_sum(&limits->spent)))
            return false;
    return spent_sum(&limits->spent) > 0;
}

/* The largest parts of the time as choices, in a fixed order; returns which one is the largest. */
static int limit_choices(const Subject *s, Question *question)
{
    Spent left = s->facts->limits.spent;
    bool offered[LIMITS] = { false };
    const Limit most = spent_most(&left);
    int right = 0;

    for (int i = 0; i < 4; i++) {
        const Limit next = spent_most(&left);
        offered[next] = true;
        left.at[next] = -1;
    }
    for (int i = 0; i < LIMITS; i++) {
        if (!offered[i])
            continue;
        PUT(question->choices[question->choice_count], "%s", limit_words[i]);
        question->choice_count++;
        if (i == (int) most)
            right = question->choice_count;
    }
    return right;
}

/* ---- The kinds ---- */

/* Texts hold {line}, {source}, {lab}, {case}, {doubled}, {array}, {sms}, {device}; {answer} and
 * {other}, the values of `answer` and `other`. */
typedef struct QuestionKind {
    const char *key, *title;
    const char *group; /* of a group, at most one question is asked */
    bool of_line;      /* about a line of the kernel */
    bool (*fits)(const Subject *);
    Value *answer, *other;
    double tolerance, relative; /* the larger one counts */
    const char *text, *because;
    int (*choose)(const Subject *, Question *); /* fills choices; returns the right one, from 1 */
} QuestionKind;

static const QuestionKind kinds[] = {
    { "load_sectors", "sectors per load", "sectors", true, loads, load_sectors, load_least, 0.25,
      0.05,
      "Line {line}: {source}\n"
      "How many 32-byte sectors does one warp touch per load from global memory, on average?",
      "{other} sectors would hold the bytes that the lanes of a warp use in one load. make draw "
      "KIND=sectors LAB={lab} FLAGS=\"--line {line}\" shows which lane uses which "
      "sector." },
    { "store_sectors", "sectors per store", "sectors", true, stores, store_sectors, store_least,
      0.25, 0.05,
      "Line {line}: {source}\n"
      "How many 32-byte sectors does one warp touch per store to global memory, on average?",
      "{other} sectors would hold the bytes that the lanes of a warp write in one store. make draw "
      "KIND=sectors LAB={lab} FLAGS=\"--line {line}\" shows which lane uses which "
      "sector." },
    { "wavefronts", "wavefronts per request", "shared", true, uses_shared, wavefronts,
      wavefronts_least, 0.2, 0.05,
      "Line {line}: {source}\n"
      "How many wavefronts of shared memory does one request of a warp need, on average?",
      "Without bank conflicts a request would need {other}. A load or store of more than 4 bytes "
      "per lane needs several in any case. make draw KIND=banks LAB={lab} FLAGS=\"--line {line}\" "
      "shows the banks." },
    { "lanes_of_line", "active lanes", "lanes", true, has_idle_lanes, lanes_of_line,
      instructions_of_line, 1, 0.05,
      "Line {line}: {source}\n"
      "How many of a warp's 32 lanes are active in this line, on average over its instructions?",
      "That is the average over {other} warp instructions. make draw "
      "KIND=lanes LAB={lab} shows the lanes of one warp, instruction by instruction." },
    { "lanes_of_all", "active lanes on average", "lanes", false, has_lanes, lanes_of_all, NULL, 1,
      0, "How many of a warp's 32 lanes are active in an average instruction of your kernel?",
      "Lanes are idle in a branch that they do not take, after an early "
      "return, and in an incomplete warp. make draw KIND=lanes LAB={lab} shows one warp." },
    { "costliest_line", "the line that takes most of the time", "time", true, is_dominant,
      number_of_line, share_of_line, 0, 0,
      "Which line of kernel.cu takes most of the time in the case {case}? Answer with its "
      "number.",
      "That line, {source}, takes {other} % of the modelled time. At another size it may be "
      "another line. make explain LAB={lab} lists "
      "the lines that cost most." },
    { "resident_blocks", "blocks per SM", "occupancy", false, has_residents, resident_per_sm,
      threads_per_block, 0, 0,
      "The {device} has {sms} SMs. How many blocks of your kernel fit on one SM at a time? "
      "(build/warpbook calc occupancy does such calculations.)",
      "A block has {other} threads; threads, registers, shared memory or the number of blocks "
      "per SM is used up then. make draw KIND=blocks LAB={lab} shows blocks on SMs over "
      "time." },
    { "resident_warps", "warps per SM", "occupancy", false, has_residents, warps_per_sm,
      threads_per_block, 0, 0,
      "How many warps of your kernel fit on one SM of the {device} at a time?",
      "Blocks of {other} threads fit as long as threads, registers and shared memory last. The "
      "schedulers choose among them when one "
      "waits. make draw KIND=blocks LAB={lab} shows blocks on SMs over time." },
    { "waves", "waves of blocks", "waves", false, has_waves, waves, resident, 0, 0,
      "Your kernel launches one grid (case {case}). In how many waves do its blocks run on the "
      "{device}, counting an incomplete last wave?",
      "The GPU holds {other} blocks at a time. make draw "
      "KIND=blocks LAB={lab} shows them." },
    { "blocks", "blocks launched", "waves", false, has_residents, blocks, threads_per_block, 0, 0,
      "How many blocks does your kernel launch in the case {case}? If there are several launches: "
      "in the longest one.",
      "Each has {other} threads. Your host code computes that number; make draw "
      "KIND=blocks LAB={lab} shows where they run." },
    { "tail_share", "share of the tail", "waves", false, has_tail, tail_share, blocks, 5, 0,
      "What share of the time, in %, do SMs have no block because the grid is nearly done (the "
      "tail)?",
      "The grid has {other} blocks. make draw KIND=blocks LAB={lab} shows the SMs "
      "that run out of blocks." },
    { "dram_bytes", "bytes of DRAM per element", "traffic", false, uses_dram,
      dram_bytes_per_element, NULL, 0.5, 0.1,
      "How many bytes does DRAM move per element of `{array}`, reads and writes together (case "
      "{case})?",
      "Bytes that a cache delivers, or still holds at the end, do not count; whole sectors do, "
      "even if only a few of their bytes are used. make see LAB={lab} shows which sectors of each "
      "array were moved, and which of their bytes were used." },
    { "flops_per_byte", "FP32 operations per byte", "traffic", false, has_flops, flops_per_byte,
      NULL, 0.05, 0.15,
      "How many FP32 operations does your kernel do per byte that DRAM moves? A multiply-add "
      "counts as two.",
      "This is the kernel's place on the roofline. make draw KIND=roofline "
      "LAB={lab} FLAGS=\"--svg roofline.svg\" draws it." },
    { "limit", "what takes most of the time", "limit", false, has_clear_limit, limit_share, NULL, 0,
      0, "What takes the largest part of your kernel's modelled time on the {device}?",
      "It takes {answer} % of the time. make explain LAB={lab} shows all parts, next to the "
      "reference's.",
      limit_choices },
    { "loads_per_warp", "loads per warp", "loops", true, loads_in_a_loop, loads_per_warp, NULL,
      0.25, 0.05,
      "Line {line}: {source}\n"
      "How often does one warp load from global memory in this line, on average (case {case})?",
      "A warp makes that many requests here, in a loop or because the line holds several loads. "
      "make explain LAB={lab} lists the lines that cost most." },
    { "barriers", "barriers per warp", "barriers", true, has_barrier, barriers_per_warp,
      barriers_doubled, 0.25, 0.05,
      "How often does one warp wait at the barrier in line {line}, on average (case {case})?",
      "At twice the size ({doubled}) it waits {other} times. make explain LAB={lab} lists the "
      "lines that "
      "cost most, and what warps wait for." },
    { "barriers_doubled", "barriers per warp at twice the size", "barriers", true, has_barrier,
      barriers_doubled, barriers_per_warp, 0.25, 0.05,
      "In the case {case}, one warp waits {other} times at the barrier in line {line}, on average. "
      "How often at twice the size: {doubled}?",
      "Twice the work means more blocks, or more rounds in each block: only the "
      "latter makes a warp wait more often. make draw KIND=blocks LAB={lab} shows the blocks." },
    { "copies", "copies to the GPU", "copies", false, copies, copies_up, NULL, 0, 0,
      "How many copies from the host to the GPU does your function make in the case {case}?",
      "A chunk of its own copy can be worked on before the rest has arrived. make draw "
      "KIND=streams LAB={lab} FLAGS=\"--svg "
      "streams.svg\" draws them." },
    { "streams", "streams", "streams", false, copies, streams_used, NULL, 0, 0,
      "In how many different streams does your function run its copies and kernels?",
      "Work in one stream runs in order; only work in different streams can overlap. "
      "make draw KIND=streams LAB={lab} FLAGS=\"--svg streams.svg\" draws them." },
    { "upload_busy", "share of the upload", "engines", false, copies, upload_busy, NULL, 5, 0,
      "During what share of a call, in %, is a copy from the host to the GPU running (case "
      "{case})?",
      "An engine that is busy nearly all the time is the limit. "
      "make draw KIND=streams LAB={lab} FLAGS=\"--svg streams.svg\" draws the engines." },
    { "overlap", "gain by overlap", "engines", false, copies, overlap, NULL, 0.1, 0.05,
      "If your copies and kernels ran one after the other, how many times as long would a call "
      "take "
      "(case {case})?",
      "That is the sum of their times over the time of the call. make draw KIND=streams "
      "LAB={lab} FLAGS=\"--svg streams.svg\" draws the overlap." },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *question_kind(int i)
{
    return i >= 0 && i < KINDS ? kinds[i].key : NULL;
}

char *question_title(const Lab *lab, const char *key, char *text, size_t size)
{
    const size_t length = strcspn(key, "@");

    for (int k = 0; k < KINDS; k++)
        if (strlen(kinds[k].key) == length && !strncmp(kinds[k].key, key, length))
            return put(text, size, "%s%s%s", kinds[k].title, key[length] ? ", line " : "",
                       key[length] ? key + length + 1 : "");
    for (int i = 0; !strncmp(key, "transfer.", 9) && i < LAB_QUESTIONS && lab->questions[i].key;
         i++)
        if (!strcmp(lab->questions[i].key, key + 9))
            return put(text, size, "%s", lab->questions[i].text);
    return put(text, size, "%s", key);
}

/* ---- Texts ---- */

static void say_case(const Case *c, char *text, size_t size)
{
    put(text, size, "%s", c->label ? c->label : "");
    for (int i = 0; i < LAB_DIMS && c->dim[i]; i++)
        append(text, size, "%s%ld", i ? " x " : ", ", c->dim[i]);
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
        say_case(&f->sized, text, size);
    else if (!strcmp(name, "doubled"))
        say_case(&f->doubled, text, size);
    else if (!strcmp(name, "array"))
        put(text, size, "%s", f->array);
    else if (!strcmp(name, "sms"))
        put(text, size, "%d", f->sms);
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

enum { MOST_CANDIDATES = KINDS * FACT_LINES };

/* A line of which nothing is known to the reader cannot be asked about. */
static bool fits(const QuestionKind *kind, const Subject *s)
{
    return (!kind->of_line || *s->line->source) && kind->fits(s);
}

static int list_candidates(const KernelFacts *facts, Candidate *list)
{
    int count = 0;

    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < (kinds[k].of_line ? facts->line_count : 1); i++) {
            const Subject s = { facts, kinds[k].of_line ? &facts->lines[i] : NULL };
            if (fits(&kinds[k], &s))
                list[count++] = (Candidate){ &kinds[k], s, 0 };
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
