/* report_lines.c - results for programs: key:value lines, documented in docs/lines.md. */
#include "learner/report.h"
#include "judge/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void report_lines_machine(const Session *session)
{
    const GpuInfo *gpu = &session->gpu;
    time_t now = time(NULL);
    char date[32];

    printf("format:1\nversion:%s\n", WARPBOOK_VERSION);
    printf("device:%s\nuuid:%s\ncompute_capability:%d.%d\nsms:%d\nl2_bytes:%zu\n", gpu->name,
           gpu->uuid, gpu->cc / 10, gpu->cc % 10, gpu->gpu.sms, gpu->gpu.l2_bytes);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    if (gpu->peak_gbps > 0)
        printf("peak_gbps:%.0f\n", gpu->peak_gbps);
    if (*session->simulated)
        printf("simulated:%s\n", session->simulated);
    if (*session->course.name)
        printf("course:%s\n", session->course.name);
    printf("date:%s\nprotocol:%s\n", date, session->quick ? "quick" : "full");
    printf("driver:%s\nruntime:%s\nnvcc:%s\nseed:%016" PRIx64 "\n", gpu->driver, gpu->runtime,
           session->toolchain.version, session->seed);
}

/* Prints one line per key, whatever a compiler printed: line ends in a value become "\n", a
 * backslash "\\". */
void report_line(const char *key, const char *value)
{
    printf("%s:", key);
    for (; *value; value++)
        if (*value == '\n')
            fputs("\\n", stdout);
        else if (*value == '\\')
            fputs("\\\\", stdout);
        else
            putchar(*value);
    putchar('\n');
}

static void report_lines_case(const CaseSpeed *s, int number)
{
    static const char *const kinds[] = { "correct", "timed", "control" };

    printf("case.%d.label:%s\ncase.%d.kind:%s\n", number, s->lab_case->label, number,
           kinds[s->lab_case->kind]);
    if (s->lab_case->kind == TIMED)
        printf("case.%d.bar:%.4f\n", number, s->bar);
    if (s->unjudged.saw) {
        char words[80], why_not[400];
        diagnosis_words(s->unjudged.saw, words, sizeof words);
        message_why_not(&s->unjudged, why_not, sizeof why_not);
        printf("case.%d.saw:%s\ncase.%d.why_not:%s\n", number, words, number, why_not);
    }
    if (s->resolution > 0)
        printf("case.%d.resolution:%.5f\n", number, s->resolution);
    if (!s->measured)
        return;
    printf("case.%d.dim:%ld %ld %ld %ld\n", number, s->dim[0], s->dim[1], s->dim[2], s->dim[3]);
    printf("case.%d.ratio:%.5f\ncase.%d.ratio_lo:%.5f\ncase.%d.ratio_hi:%.5f\n", number,
           s->ratio.median, number, s->ratio.lo, number, s->ratio.hi);
    printf("case.%d.student_ms:%.6f\ncase.%d.reference_ms:%.6f\n", number, s->student_ms, number,
           s->reference_ms);
    printf("case.%d.gbps:%.1f\ncase.%d.gflops:%.1f\n", number, s->gbps, number, s->gflops);
    if (s->pairs)
        printf("case.%d.blocks:%d\ncase.%d.dropped:%d\ncase.%d.pairs:%d\ncase.%d.clock:%s\n",
               number, s->blocks, number, s->dropped, number, s->pairs, number,
               s->by_parent ? "parent" : "events");
    else
        printf("case.%d.clock:modelled\ncase.%d.simulated_blocks:%.0f\n"
               "case.%d.timed_blocks:%.0f\n",
               number, number, s->simulated_blocks, number, s->timed_blocks);
    if (s->floor > 0)
        printf("case.%d.floor:%.4f\n", number, s->floor);
}

/* Prints the observed codes and the numbers that belong to them. */
static void report_lines_saw(const Diagnosis *d)
{
    char words[600];

    if (d->lab_case)
        report_line("saw.case", d->lab_case->label);
    if (!d->saw && !d->wrong)
        return;
    diagnosis_words(d->saw, words, sizeof words);
    if (d->saw) /* wrong elements need not form a pattern that has a word */
        report_line("saw", words);
    if (d->array[0])
        report_line("saw.array", d->array);
    if (d->wrong)
        printf("saw.element:%zu\nsaw.wrong:%zu\nsaw.compared:%zu\nsaw.got:%.9g\n"
               "saw.want:%.9g\n",
               d->element, d->wrong, d->compared, d->got, d->want);
    if (d->limit > 0)
        printf("saw.value:%.6g\nsaw.limit:%.6g\nsaw.per_request:%.6g\n", d->value, d->limit,
               d->per_request);
    if (d->line)
        printf("saw.line:%d\n", d->line);
    if (d->other_line)
        printf("saw.other_line:%d\n", d->other_line);
}

void report_lines_with(const Result *result, const char *more)
{
    printf("lab:%s\n", result->entry->folder);
    printf("lab_hash:%016" PRIx64 "\n", result->hash);
    report_line("source", result->source);
    printf("source_hash:%016" PRIx64 "\n", result->source_hash);
    printf("verdict:%s\n", verdict_word(result->verdict));
    if (!result->entry->lab->unmarked)
        printf("marks:%.1f\n", result->marks);
    if (result->ratio > 0)
        printf("ratio:%.5f\n", result->ratio);
    if (result->why[0])
        report_line("why", result->why);
    report_lines_saw(&result->diagnosis);
    if (result->limiter[0])
        report_line("limiter", result->limiter);
    if (result->note[0])
        report_line("note", result->note);
    if (result->flags[0])
        report_line("flag", result->flags);
    if (result->printed[0])
        report_line("printed", result->printed);
    if (result->sandbox[0])
        report_line("sandbox", result->sandbox);
    if (result->isolation[0])
        report_line("isolation", result->isolation);
    for (int i = 0; i < result->speeds; i++)
        report_lines_case(&result->speed[i], i + 1);
    printf("wall_s:%.2f\n%send:%s\n", result->wall_s, more, result->entry->folder);
    fflush(stdout);
}

void report_lines(const Result *result)
{
    report_lines_with(result, "");
}
