/* command_line.c - warpbook's options: one row each. */
#include "learner/command_line.h"
#include "base/number.h"
#include "base/text.h"
#include "judge/session.h"
#include "learner/formats/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char warpbook_usage[] =
    "usage: warpbook COMMAND [LAB...] [OPTION...]\n\n"
    "  grade      grade labs/*/kernel.cu, or another submission, on the GPU, or on a simulated "
    "one\n"
    "  next       show where you are, what the lab asks, and what to do next\n"
    "  check      check that every lab grades correctly on this GPU\n"
    "  check-cheats  check that cheats are caught and honest kernels are not flagged\n"
    "  watch      grade a lab whenever its kernel.cu is saved; keys for hints and more\n"
    "  reset      put a lab's starter back, and keep a copy of your kernel\n"
    "  explain    show where a correct kernel spends its time, compared with the reference\n"
    "  compare    show a kernel that passed next to the reference: counters, time, text\n"
    "  see        write an HTML page that shows what a kernel did on the simulated GPU\n"
    "  hint       comment on a lab's last grading, then show its hints, one per call\n"
    "  progress   show what is done and what is next; for one lab, also its predictions\n"
    "  quiz       ask questions about a kernel that passes, and about the lesson\n"
    "  report     write a page about all labs, for yourself: build/report.html\n"
    "  pack       write the students' version of solutions/ and of the course file\n"
    "  build      build a submission into the cache, for a GPU that grades it later\n"
    "  labs       list the labs\n"
    "  profile    show a GPU's own counters of a kernel, by Nsight Compute (ncu)\n"
    "  sweep      show how a kernel's speed changes with the lesson's size, next to the "
    "reference's\n"
    "  sim        run any CUDA program on the simulated GPU: warpbook sim --help\n"
    "  draw       draw what a kernel does, as SVG or text: warpbook draw --help\n"
    "  calc       do the calculations of the lessons, step by step: warpbook calc\n\n"
    "LAB: 06_transpose, transpose or 6. Without one: every lab. Commands that take one lab:\n"
    "the one graded last if it failed, or the first that is not done; quiz and compare: the\n"
    "one that was passed last.\n\n"
    "  --submission PATH   a folder like labs/, or one kernel.cu (with one LAB)\n"
    "  --device N          GPU number N instead of the first one\n"
    "  --device sim[:NAME] a simulated GPU: teaching, t4, rtx4060-laptop, h200, ...\n"
    "  --seed S            repeat the inputs of an earlier grading (hexadecimal)\n"
    "  --course FILE       grade: take bars, curves and seeds from FILE (- for standard\n"
    "                      input) instead of course.ini\n"
    "  -v, --verbose       grade: also sizes, rates, the machine, the protocol and the seed;\n"
    "                      explain: also how busy each unit is\n"
    "  --again             grade: grade labs that have not changed, too\n"
    "  --core              without LAB: only the labs of the course, no further labs\n"
    "  --quick             fewer blocks and no self-test of the machine: a first estimate\n"
    "  --strict            exit with 1 if a lab did not pass\n"
    "  --format text|lines a table, or key:value lines (docs/lines.md)\n"
    "  --format gcc|github|junit|sarif\n"
    "                      grade: for editors and CI services (docs/formats.md)\n"
    "  --events FD         grade, explain, see: also write progress to this descriptor\n"
    "                      (docs/lines.md)\n"
    "  --answers A,B,...   quiz: the answers, in order, instead of standard input\n"
    "  --level N           hint: show all levels up to N, 1 to 3\n"
    "  --rung N            compare: with that rung of solutions/ instead of the reference\n"
    "  --yes               reset: do not ask\n"
    "  --builds-only       check-cheats: run only the cheats that the build refuses\n"
    "  --timed-only        check: run only the kernels that are timed\n"
    "  --sample N          check: of the wrong kernels, run only every Nth\n"
    "  --seal DIR          grade, one LAB: write stand-ins for its solutions to DIR "
    "(gradebook's);\n"
    "                      pack: the students' tree\n"
    "  --cc X.Y            build, one LAB: for GPUs of that compute capability\n"
    "  --case TEXT         explain: the case whose label begins with TEXT, not the slowest one\n"
    "  --trace FILE        explain: also write when the kernel's blocks and warps ran; profile:\n"
    "                      write when the GPU ran kernels and copies. For ui.perfetto.dev\n"
    "                      (docs/learning.md)\n"
    "  --figures FILE      check, one LAB: also write the measurements to FILE (docs/measured)\n"
    "  --version, --help\n\n"
    "Exit status: 0 graded, 1 with --strict when a lab did not pass (check: if a lab is\n"
    "unsound; explain: if the kernel is not correct), 2 wrong usage, 3 something could not be\n"
    "graded.\n";

static bool set_device(void *self, const char *value)
{
    Options *o = self;
    uint64_t n;

    o->device = value;
    return parse_whole(value, 10, 1023, &n) || !strcmp(value, "sim") ||
           (!strncmp(value, "sim:", 4) && value[4] && strlen(value) < 200);
}

static bool set_level(void *self, const char *value)
{
    Options *o = self;
    uint64_t n;
    bool fine = parse_whole(value, 10, LAB_HINTS, &n) && n > 0;

    o->level = (int) n;
    return fine;
}

/* No process that the grader starts may write to that descriptor. */
static bool set_events(void *self, const char *value)
{
    Options *o = self;
    uint64_t n;
    bool fine = parse_whole(value, 10, 1023, &n) && n > 2;

    o->events = fine ? (int) n : 0;
    return fine && !fcntl(o->events, F_SETFD, FD_CLOEXEC);
}

static bool set_seed_option(void *self, const char *value)
{
    Options *o = self;
    o->seeded = true;
    value += strncmp(value, "0x", 2) ? 0 : 2;
    return parse_whole(value, 16, UINT64_MAX, &o->seed);
}

static bool set_rung(void *self, const char *value)
{
    Options *o = self;
    uint64_t n = 0;

    if (!parse_whole(value, 10, 99, &n) || !n)
        return false;
    o->rung = (int) n;
    return true;
}

static bool set_submission(void *self, const char *value)
{
    Options *o = self;
    o->submission = value;
    return *value && strlen(value) < PATH - 64;
}

static bool set_course(void *self, const char *value)
{
    Options *o = self;
    o->course = value;
    return *value;
}

static bool set_trace(void *self, const char *value)
{
    Options *o = self;
    o->trace = value;
    return *value;
}

static bool set_label(void *self, const char *value)
{
    Options *o = self;
    o->label = value;
    return *value;
}

static bool set_figures(void *self, const char *value)
{
    Options *o = self;
    o->figures = value;
    return *value;
}

static bool set_sealed(void *self, const char *value)
{
    Options *o = self;
    o->sealed = value;
    return *value && strlen(value) < PATH - 64;
}

static bool set_answers(void *self, const char *value)
{
    Options *o = self;
    o->answers = value;
    return *value;
}

static bool set_cc(void *self, const char *value)
{
    Options *o = self;
    int major, minor, end = 0;

    if (sscanf(value, "%2d.%1d%n", &major, &minor, &end) != 2 || value[end])
        return false;
    o->cc = 10 * major + minor;
    return o->cc > 0;
}

static bool set_format(void *self, const char *value)
{
    Options *o = self;
    o->lines = !strcmp(value, "lines");
    o->format = format_find(value);
    return o->lines || o->format || !strcmp(value, "text");
}

static bool set_quick(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->quick = true;
}

static bool set_yes(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->yes = true;
}

static bool set_builds_only(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->builds_only = true;
}

static bool set_timed_only(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->timed_only = true;
}

static bool set_sample(void *self, const char *value)
{
    Options *o = self;
    uint64_t n;
    bool fine = parse_whole(value, 10, 1000, &n) && n > 0;

    o->sample = (int) n;
    return fine;
}

static bool set_core(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->core = true;
}

static bool set_strict(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->strict = true;
}

static bool set_verbose(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->verbose = true;
}

static bool set_again(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->again = true;
}

const OptionRow option_rows[] = {
    { "submission", true, set_submission },
    { "device", true, set_device },
    { "seed", true, set_seed_option },
    { "quick", false, set_quick },
    { "core", false, set_core },
    { "strict", false, set_strict },
    { "format", true, set_format },
    { "level", true, set_level },
    { "rung", true, set_rung },
    { "builds-only", false, set_builds_only },
    { "figures", true, set_figures },
    { "timed-only", false, set_timed_only },
    { "sample", true, set_sample },
    { "seal", true, set_sealed },
    { "cc", true, set_cc },
    { "course", true, set_course },
    { "events", true, set_events },
    { "yes", false, set_yes },
    { "answers", true, set_answers },
    { "again", false, set_again },
    { "verbose", false, set_verbose, 'v' },
    { "trace", true, set_trace },
    { "case", true, set_label },
    { 0 },
};

/* The only lab whose name begins with this text; NULL: none, or several. */
static const LabEntry *lab_meant(const char *name)
{
    const LabEntry *found = NULL;

    for (const LabEntry *entry = all_labs; *name && entry->folder; entry++)
        if (!strncmp(lab_name(entry), name, strlen(name))) {
            if (found)
                return NULL;
            found = entry;
        }
    return found;
}

static void refuse_lab(const char *given, const char *name)
{
    const LabEntry *meant = lab_meant(name);
    char text[2000];

    PUT(text, "warpbook: there is no lab %s", given);
    if (meant)
        APPEND(text, "; did you mean %s?", lab_name(meant));
    else
        APPEND(text, "; the labs are:");
    for (const LabEntry *entry = all_labs; !meant && entry->folder; entry++)
        APPEND(text, " %s", lab_name(entry));
    print_wrapped_to(stderr, text, 0, 80);
}

bool take_lab(void *self, const char *given)
{
    Options *options = self;
    char text[PATH], *name = text, *slash;
    const LabEntry *entry;

    PUT(text, "%s", given);
    while ((slash = strrchr(name, '/')) && !slash[1])
        *slash = 0;
    name = slash ? slash + 1 : name;
    entry = lab_find(name);

    if (!entry) {
        refuse_lab(given, name);
        return false;
    }
    for (int i = 0; i < options->count; i++)
        if (options->labs[i] == entry)
            return true;
    options->labs[options->count++] = entry;
    return true;
}
