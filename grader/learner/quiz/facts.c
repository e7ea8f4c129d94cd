/* facts.c - collects the answers of the quiz from a run on the simulated GPU. */
#include "learner/quiz/facts.h"
#include "judge/compare.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_MOST = 256 << 10, WARP = 32 };

/* ---- Lines ---- */

/* Copies line `number` of a text, without its indentation and a comment at its end. Characters that
 * are not printable ASCII become question marks. */
static void take_source(const char *text, int number, char line[FACT_SOURCE + 4])
{
    size_t length;
    const char *comment;

    *line = 0;
    for (; text && number > 1; number--) {
        text = strchr(text, '\n');
        text += text != NULL;
    }
    if (!text)
        return;
    text += strspn(text, " \t");
    length = strcspn(text, "\r\n");
    comment = strstr(text, "//");
    if (comment && comment > text && comment < text + length)
        length = (size_t) (comment - text);
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    put(line, FACT_SOURCE + 4, "%.*s%s", length > FACT_SOURCE ? FACT_SOURCE - 3 : (int) length,
        text, length > FACT_SOURCE ? "..." : "");
    for (char *at = line; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
}

static void take_lines(Worker *worker, const char *source, KernelFacts *facts)
{
    char *text = read_file(source, SOURCE_MOST, NULL);

    while (facts->line_count < FACT_LINES) {
        FactLine *line = &facts->lines[facts->line_count];
        if (!worker_cost(worker, facts->line_count, &line->cost))
            break;
        take_source(text, line->cost.line, line->source);
        facts->line_count++;
    }
    free(text);
}

/* ---- Launches, copies ---- */

static double product(const int size[3])
{
    return (double) size[0] * size[1] * size[2];
}

static double warps_of(const Records *r)
{
    double warps = 0;

    for (int i = 0; i < r->launch_count; i++)
        warps += product(r->launches[i].grid) * ceil(product(r->launches[i].block) / WARP);
    return r->lost_launches ? 0 : warps;
}

static void take_launches(const Records *r, KernelFacts *facts)
{
    const RecordedLaunch *longest = NULL;

    for (int i = 0; i < r->launch_count; i++)
        if (!longest || r->launches[i].cycles > longest->cycles)
            longest = &r->launches[i];
    facts->warps = warps_of(r);
    facts->launches = r->lost_launches ? 0 : r->launch_count;
    if (!longest)
        return;
    facts->blocks = product(longest->grid);
    facts->threads = product(longest->block);
    facts->resident = (double) longest->resident;
}

/* The time in which at least one of the spans of this engine runs. Spans of one engine begin in
 * order. */
static double busy_ns(const Span *spans, int count, Engine engine)
{
    double busy = 0, until = -INFINITY;

    for (int i = 0; i < count; i++) {
        if (spans[i].engine != (int) engine || spans[i].end_ns <= until)
            continue;
        busy += spans[i].end_ns - fmax(spans[i].begin_ns, until);
        until = spans[i].end_ns;
    }
    return busy;
}

/* True if an earlier span is in the same stream. */
static bool seen_stream(const Span *spans, int i)
{
    for (int k = 0; k < i; k++)
        if (spans[k].stream == spans[i].stream)
            return true;
    return false;
}

void facts_of_spans(const Span *spans, int count, FactSpans *facts)
{
    double begin = INFINITY, end = -INFINITY;

    *facts = (FactSpans){ .streams = 0 };
    for (int i = 0; i < count; i++) {
        begin = fmin(begin, spans[i].begin_ns);
        end = fmax(end, spans[i].end_ns);
        facts->sum_ns += spans[i].end_ns - spans[i].begin_ns;
        facts->count[spans[i].engine]++;
        facts->streams += !seen_stream(spans, i);
    }
    facts->call_ns = count ? end - begin : 0;
    for (int engine = 0; engine < ENGINES; engine++)
        facts->busy_ns[engine] = busy_ns(spans, count, (Engine) engine);
}

/* ---- Arrays ---- */

static void take_array(const Array *array, const char *fallback, int index, KernelFacts *facts)
{
    const double elements = (double) array->rows * (double) array->cols;

    facts->array_bytes += elements * (double) type_bytes(array->type);
    if (elements <= facts->elements)
        return;
    facts->elements = elements;
    if (array->name)
        PUT(facts->array, "%s", array->name);
    else if (index)
        PUT(facts->array, "%s[%d]", fallback, index);
    else
        PUT(facts->array, "%s", fallback);
}

static void take_arrays(KernelFacts *facts)
{
    Arrays arrays = { 0 };

    facts->entry->lab->shape(&facts->sized, &arrays);
    for (int i = 0; i < LAB_IN; i++)
        take_array(&arrays.in[i], "in", i, facts);
    for (int i = 0; i < LAB_OUT; i++)
        take_array(&arrays.out[i], "out", i, facts);
}

/* ---- A call of twice the size ---- */

static bool grows(const Case *c)
{
    return c->size && c->balance <= 0 && !c->stays_short;
}

static FactLine *line_of(KernelFacts *facts, int number)
{
    for (int i = 0; i < facts->line_count; i++)
        if (facts->lines[i].cost.line == number)
            return &facts->lines[i];
    return NULL;
}

static bool has_barriers(const KernelFacts *facts)
{
    for (int i = 0; i < facts->line_count; i++)
        if (facts->lines[i].cost.barriers > 0)
            return true;
    return false;
}

/* A failure only means that no question is about the doubled size. */
static void run_doubled(const CollectJob *job, Records *records, KernelFacts *facts)
{
    static char why[COLLECT_WHY];
    CollectJob larger = *job;
    Worker worker;
    LineCost cost;

    if (!has_barriers(facts) || !grows(&facts->sized))
        return;
    facts->doubled = *job->lab_case;
    facts->doubled.size(facts->doubled.dim, &job->session->gpu.gpu, 2);
    larger.lab_case = &facts->doubled;
    if (collect_run(&larger, &(RecordFilter){ -1, -1 }, &worker, records, why) && !*why)
        facts->warps_doubled = warps_of(records);
    for (int i = 0; facts->warps_doubled > 0 && worker_cost(&worker, i, &cost); i++) {
        FactLine *line = line_of(facts, cost.line);
        if (line)
            line->barriers_doubled = cost.barriers;
    }
    worker_end(&worker);
}

bool facts_collect(const CollectJob *job, KernelFacts *facts, char *why)
{
    static Records records;
    Worker worker;
    Limited limited;
    bool well;

    *facts = (KernelFacts){ .entry = job->entry, .sized = *job->lab_case };
    PUT(facts->device, "%s", job->session->gpu.name);
    facts->sms = job->session->gpu.gpu.sms;
    facts->l2_bytes = (double) job->session->gpu.gpu.l2_bytes;
    well = collect_run(job, &(RecordFilter){ -1, -1 }, &worker, &records, why) && !*why;
    if (well && worker_limits(&worker, &limited) != PASS) {
        put(why, COLLECT_WHY, "%s", worker.why);
        well = false;
    }
    if (well) {
        facts->limits = limited.limits;
        take_lines(&worker, job->source, facts);
        take_launches(&records, facts);
        facts_of_spans(records.spans, records.span_count, &facts->spans);
        take_arrays(facts);
    }
    worker_end(&worker);
    if (well)
        run_doubled(job, &records, facts);
    return well;
}
