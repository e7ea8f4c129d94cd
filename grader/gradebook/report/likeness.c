/* likeness.c - similarity of one lab's kernels, by sim_c (similarity-tester).
 *
 * Each text is split into statements of tokens. Statements that the lab provides are left out; the
 * other statements are written one per line, with every name as `v` and every literal as 0, so that
 * no student's text reaches sim_c. For each pair sim_c reports the share of the first found in the
 * second, in runs of at least RUN tokens. The share of the longer text counts, since many long
 * kernels contain a given short one.
 */
#include "gradebook/report/likeness.h"
#include "base/process.h"
#include "base/tokens.h"
#include "base/util.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUN = 12, TEXTS = 2000, TOKENS = 20000, PRINTED_BYTES = 32 << 20 };
static const double limit_s = 60; /* 300 kernels take seconds */

/* ---- Statements ---- */

static const char c_words[] =
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register return short signed sizeof static struct switch typedef union "
    "unsigned void volatile while";
static const char cuda_words[] =
    "bool size_t threadIdx blockIdx blockDim gridDim warpSize x y z dim3 float2 float4 LAB_API "
    "__global__ __device__ __shared__ __restrict__ __syncthreads include define template typename";

typedef struct Statement {
    const char *tokens; /* each 0-terminated */
    int count;
    uint64_t form; /* hash; all identifiers count as equal, except the language's words */
} Statement;

typedef struct Statements {
    char *stream;
    Statement *list;
    int count;
} Statements;

static bool ends_statement(const char *token)
{
    return strchr(";{}\n", *token) && !token[1];
}

static bool is_name(const char *token)
{
    return isalpha((unsigned char) *token) || *token == '_' || (unsigned char) *token >= 0x80;
}

static uint64_t form_with(uint64_t form, const char *token)
{
    bool kept = !is_name(token) || is_in(c_words, token) || is_in(cuda_words, token);

    return *token == '\n' ? form
                          : hash_bytes(form, kept ? token : "v", strlen(kept ? token : "v") + 1);
}

static Statements statements_of(const char *text)
{
    size_t size;
    Statements s = { .stream = token_stream(text, &size) };
    const char *end = s.stream + size;
    int tokens = 0;

    s.list = xcalloc(size + 1, sizeof *s.list);
    for (const char *at = s.stream; at < end && tokens < TOKENS; at += strlen(at) + 1, tokens++) {
        Statement *last = &s.list[s.count];
        if (!last->count)
            *last = (Statement){ .tokens = at, .form = HASH_START };
        last->count++;
        last->form = form_with(last->form, at);
        s.count += ends_statement(at);
    }
    s.count += s.list[s.count].count > 0;
    return s;
}

static void statements_free(Statements *s)
{
    free(s->stream);
    free(s->list);
}

static bool holds(const Statements *s, uint64_t form)
{
    for (int i = 0; i < s->count; i++)
        if (s->list[i].form == form)
            return true;
    return false;
}

/* True if the lab provides this statement: the starter or every rung contains it. */
static bool is_given(uint64_t form, const Statements *skeleton, int skeletons)
{
    if (skeletons && holds(&skeleton[0], form))
        return true;
    for (int i = 1; i < skeletons; i++)
        if (!holds(&skeleton[i], form))
            return false;
    return skeletons > 1;
}

/* ---- sim_c's input ---- */

/* Returns true if a token was written. */
static bool write_token(FILE *to, const char *token)
{
    if (*token == '\n')
        return false;
    if (is_in(c_words, token))
        return fprintf(to, "%s ", token) > 0;
    if (is_name(token))
        return fputs("v ", to) >= 0;
    if (isdigit((unsigned char) *token) || (*token == '.' && token[1] && token[1] != '.') ||
        *token == '"' || *token == '\'')
        return fputs("0 ", to) >= 0;
    return fprintf(to, "%.3s ", token) > 0; /* an operator */
}

/* Returns the number of tokens written, or -1 on a write error. */
static int write_text(const char *path, const char *text, const Statements *skeleton, int skeletons)
{
    Statements s = statements_of(text);
    FILE *to = fopen(path, "we");
    int tokens = 0;

    for (int i = 0; to && i < s.count; i++) {
        const char *token = s.list[i].tokens;
        bool include = *token == '#' && !strcmp(token + 2, "include");
        if (include || is_given(s.list[i].form, skeleton, skeletons))
            continue;
        for (int k = 0; k < s.list[i].count; k++, token += strlen(token) + 1)
            tokens += write_token(to, token);
        fputc('\n', to);
    }
    statements_free(&s);
    return to && !fclose(to) ? tokens : -1;
}

static bool write_texts(const char *folder, const char *const *texts, int *tokens, int count,
                        const char *const *skeleton, int skeletons)
{
    Statements *given = xcalloc((size_t) skeletons + 1, sizeof *given);
    bool ok = true;

    for (int i = 0; i < skeletons; i++)
        given[i] = statements_of(skeleton[i]);
    for (int i = 0; i < count && ok; i++) {
        char path[400];
        tokens[i] = write_text(PUT(path, "%s/%d.c", folder, i), texts[i], given, skeletons);
        ok = tokens[i] >= 0;
    }
    for (int i = 0; i < skeletons; i++)
        statements_free(&given[i]);
    free(given);
    return ok;
}

/* ---- sim_c's output ---- */

static int by_percent(const void *a, const void *b)
{
    const Likeness *x = a, *y = b;

    if (x->percent != y->percent)
        return y->percent - x->percent;
    return x->a != y->a ? x->a - y->a : x->b - y->b;
}

static void in_order(Likenesses *found)
{
    if (found->count)
        qsort(found->list, (size_t) found->count, sizeof *found->list, by_percent);
}

/* If the list is full, the pair replaces the least similar pair. */
static void add(Likenesses *found, Likeness pair)
{
    if (found->count == LIKENESS_PAIRS) {
        if (!found->cut)
            in_order(found);
        found->cut = true;
        if (found->list[LIKENESS_PAIRS - 1].percent >= pair.percent)
            return;
        found->count--;
        while (found->count && found->list[found->count - 1].percent < pair.percent)
            found->list[found->count] = found->list[found->count - 1], found->count--;
        found->list[found->count] = pair;
        found->count = LIKENESS_PAIRS;
        return;
    }
    found->list[found->count++] = pair;
}

/* Lines such as "3.c consists for 14 % of 7.c material". */
static void take_pairs(const char *output, const int *tokens, int count, int fixed, int least,
                       Compared *found)
{
    for (; output && *output; output = strchr(output, '\n'), output += output != NULL) {
        int a, b, percent;
        if (!isdigit((unsigned char) *output) || /* sscanf would continue on the next line */
            sscanf(output, "%d.c consists for %d %% of %d.c material", &a, &percent, &b) != 3 ||
            a < 0 || b <= a || b >= count || a >= fixed || percent < 0 || percent > 100)
            continue;
        if (tokens[b] > tokens[a])
            percent = percent * tokens[a] / tokens[b];
        if (percent >= least)
            add(b < fixed ? &found->pairs : &found->fixed, (Likeness){ a, b, percent });
    }
    in_order(&found->pairs);
    in_order(&found->fixed);
}

/* ---- The run ---- */

static char **words(int count, char *run, char *least)
{
    char **argv = xcalloc((size_t) count + 16, sizeof *argv);
    const char *const options[] = { "sim_c", "-p", "-e", "-s", "-u", "-r", run, "-t", least };
    int used = 0;

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        argv[used++] = xstrdup(options[i]);
    for (int i = 0; i < count; i++) {
        char name[20];
        argv[used++] = xstrdup(PUT(name, "%d.c", i));
    }
    return argv;
}

static void run(const char *folder, const int *tokens, int count, int fixed, int least,
                Compared *found)
{
    char run_tokens[12], percent[12];
    char **argv = words(count, PUT(run_tokens, "%d", RUN), PUT(percent, "%d", least));
    Program program = { 0 }, *const one[] = { &program };

    if (program_start(&program, argv, NULL, folder, limit_s, PRINTED_BYTES, 1 << 20))
        while (!program_over(&program))
            program_wait(one, 1, 1);
    if (program.trouble[0])
        PUT(found->problem, "sim_c cannot be started: %s", program.trouble);
    else if (program.late)
        PUT(found->problem, "sim_c exceeded its time limit of %.0f s", limit_s);
    else if (program.status == 127 << 8)
        PUT(found->problem, "sim_c is not installed: apt install similarity-tester");
    else if (program.status)
        PUT(found->problem, "sim_c failed: %.200s",
            program.errors.text ? program.errors.text : "no error message");
    else
        take_pairs(program.out.text ? program.out.text : "", tokens, count, fixed, least, found);
    program_free(&program);
    for (int i = 0; argv[i]; i++)
        free(argv[i]);
    free(argv);
}

void likeness_find(const char *const *texts, int count, int fixed, const char *const *skeleton,
                   int skeletons, int least, Compared *found)
{
    const char *temporary = getenv("TMPDIR");
    char folder[300];
    int *tokens;

    found->pairs.count = found->fixed.count = 0;
    found->pairs.cut = found->fixed.cut = false;
    found->problem[0] = 0;
    if (count < 2)
        return;
    if (count > TEXTS) {
        PUT(found->problem, "there are more than %d kernels", TEXTS);
        return;
    }
    PUT(folder, "%.200s/gradebook-likeness-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(folder)) {
        PUT(found->problem, "cannot write %s: %m", folder);
        return;
    }
    tokens = xcalloc((size_t) count, sizeof *tokens);
    if (write_texts(folder, texts, tokens, count, skeleton, skeletons))
        run(folder, tokens, count, fixed, least, found);
    else
        PUT(found->problem, "cannot write %s: %m", folder);
    free(tokens);
    remove_tree(folder);
}
