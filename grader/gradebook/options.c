/* options.c - the options of gradebook, one row each. */
#include "gradebook/options.h"
#include "base/number.h"
#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char usage[] =
    "usage: gradebook COMMAND [OPTION...]\n"
    "\n"
    "  grade SUBMISSIONS --out DIR    grade everything in a folder or archive; resumes where it\n"
    "                                 was stopped\n"
    "  status --out DIR               show the progress\n"
    "  report --out DIR               print a table, and what a human should check\n"
    "  regrade --student S --lab L --out DIR   grade this kernel again\n"
    "  import-roster FILE --out DIR   read a CSV of the students: id, name, email, section\n"
    "  export --format csv|json|html|alike --out DIR         to standard output\n"
    "  export --format gradescope|classroom|feedback --to FOLDER --out DIR\n"
    "                                 files for each student, into FOLDER\n"
    "  doctor [--devices ...] [--out DIR]      check whether this machine is fit to grade\n"
    "\n"
    "SUBMISSIONS: one folder or archive per student, or an export of Moodle, Canvas or Gradescope\n"
    "(docs/instructors.md). DIR holds the gradebook: its database, logs and builds.\n"
    "\n"
    "  --labs L,L...           only these labs (6, transpose or 06_transpose); default: all\n"
    "  --course FILE           bars, weights, deadlines, curves, seeds: docs/course-file.md.\n"
    "                          grade keeps a copy, later commands use it\n"
    "  --devices N,N... | sim[:NAME]   these GPUs, one submission at a time on each; or the\n"
    "                          simulated GPU. Default: the first GPU if usable, else\n"
    "                          the simulated GPU\n"
    "  --jobs N                N gradings at a time on the simulated GPU; slurm: N tasks\n"
    "  --quick                 fewer blocks, no self-test of the machine: a rough result\n"
    "  --limit SECONDS         time limit of one grading (default: 1800)\n"
    "  --memory MIB            memory limit of one grading (default: depends on the machine)\n"
    "  --trust-submissions     no bubblewrap: submissions can read and write all your files\n"
    "  --student NAME|NUMBER   regrade: the student\n"
    "  --lab L                 regrade: the lab\n"
    "  --format F              export: csv, json, html, alike (pairs of kernels),\n"
    "                          gradescope, classroom or feedback\n"
    "  --to FOLDER             export: the folder for each student's files\n"
    "  --executor local|slurm  run here (default), or as Slurm job arrays\n"
    "  --account A, --partition P, --gres gpu:1, --slurm-option=OPTION\n"
    "                          slurm: passed to sbatch\n"
    "  --shared DIR            slurm: a folder that all nodes see (default: --out)\n"
    "  --batch N               slurm: N kernels per task (default: about ten minutes' work)\n"
    "  --kernels N.A,N.A...    grade N.cu in the folder SUBMISSIONS as attempt A, for the lab of\n"
    "                          --labs; used by the tasks of a Slurm array\n"
    "  --logs DIR              with --kernels: the folder of the logs (default: logs in --out)\n"
    "  --version, --help\n"
    "\n"
    "Exit status: 0 done, 2 wrong usage, 3 something could not be graded, 130 stopped by Ctrl-C.\n"
    "doctor: 0 fit, 1 with warnings, 3 not fit.\n";

static bool set_out(void *self, const char *value)
{
    Options *o = self;
    o->out = value;
    return *value && strlen(value) < 400;
}

static bool set_labs(void *self, const char *value)
{
    Options *o = self;
    char list[400];

    if (!o->labs_named)
        memset(o->grading.requested, 0, sizeof o->grading.requested);
    o->labs_named = true;
    PUT(list, "%s", value);
    for (char *rest = list, *name; (name = strsep(&rest, ", "));) {
        const LabEntry *entry = lab_find(name);
        if (!*name)
            continue;
        if (!entry)
            return false;
        o->grading.requested[entry - all_labs] = true;
    }
    return strlen(value) < sizeof list;
}

static bool set_devices(void *self, const char *value)
{
    Options *o = self;
    PUT(o->devices, "%s", value);
    for (char *rest = o->devices, *name; (name = strsep(&rest, ", "));) {
        uint64_t n;
        if (!*name)
            continue;
        if (!parse_whole(name, 10, 1023, &n) && strcmp(name, "sim") &&
            (strncmp(name, "sim:", 4) || !name[4]))
            return false;
        for (int i = 0; i < o->grading.device_count; i++)
            if (!strcmp(name, o->grading.devices[i]))
                return false;
        if (o->grading.device_count == DEVICES)
            return false;
        o->grading.devices[o->grading.device_count++] = name;
    }
    return o->grading.device_count && strlen(value) < sizeof o->devices;
}

static bool set_jobs(void *self, const char *value)
{
    Options *o = self;
    uint64_t n;
    bool ok = parse_whole(value, 10, MOST_WORKERS, &n) && n > 0;

    o->grading.jobs = ok ? (int) n : 0;
    return ok;
}

static bool set_limit(void *self, const char *value)
{
    Options *o = self;
    return parse_number(value, 1, 1e6, &o->grading.limit_s);
}

static bool set_memory(void *self, const char *value)
{
    Options *o = self;
    double mib;
    bool ok = parse_number(value, 1, 1 << 30, &mib);

    o->grading.memory_bytes = ok ? (size_t) mib << 20 : 0;
    return ok;
}

static bool set_quick(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->grading.quick = true;
}

static bool set_trusting(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->trusting = true;
}

static bool set_student(void *self, const char *value)
{
    Options *o = self;
    o->student = value;
    return *value != 0;
}

static bool set_lab(void *self, const char *value)
{
    Options *o = self;
    o->lab = value;
    return lab_find(value) != NULL;
}

static bool set_course(void *self, const char *value)
{
    Options *o = self;
    o->course = value;
    return *value != 0;
}

static bool set_format(void *self, const char *value)
{
    Options *o = self;
    o->format = value;
    return *value != 0;
}

static bool set_executor(void *self, const char *value)
{
    Options *o = self;
    o->slurm.requested = !strcmp(value, "slurm");
    return o->slurm.requested || !strcmp(value, "local");
}

static bool set_account(void *self, const char *value)
{
    Options *o = self;
    o->slurm.account = value;
    return *value != 0;
}

static bool set_partition(void *self, const char *value)
{
    Options *o = self;
    o->slurm.partition = value;
    return *value != 0;
}

static bool set_gres(void *self, const char *value)
{
    Options *o = self;
    o->slurm.gres = value;
    return *value != 0;
}

static bool set_slurm_option(void *self, const char *value)
{
    Options *o = self;
    if (!slurm_may_pass(value) || o->slurm.option_count == SLURM_OPTIONS)
        return false;
    o->slurm.options[o->slurm.option_count++] = value;
    return true;
}

static bool set_shared(void *self, const char *value)
{
    Options *o = self;
    o->slurm.shared = value;
    return *value && strlen(value) < 300;
}

static bool set_batch(void *self, const char *value)
{
    Options *o = self;
    uint64_t n;
    bool ok = parse_whole(value, 10, 1000, &n) && n > 0;

    o->slurm.batch = ok ? (int) n : 0;
    return ok;
}

static bool set_kernels(void *self, const char *value)
{
    Options *o = self;
    free(o->grading.listed.list);
    return kernels_parse(value, &o->grading.listed);
}

static bool set_logs(void *self, const char *value)
{
    Options *o = self;
    o->logs = value;
    return *value && strlen(value) < 900;
}

static bool set_to(void *self, const char *value)
{
    Options *o = self;
    o->to = value;
    return *value && strlen(value) < 900;
}

static const OptionRow option_rows[] = {
    { "out", true, set_out },
    { "labs", true, set_labs },
    { "devices", true, set_devices },
    { "jobs", true, set_jobs },
    { "quick", false, set_quick },
    { "limit", true, set_limit },
    { "memory", true, set_memory },
    { "trust-submissions", false, set_trusting },
    { "student", true, set_student },
    { "lab", true, set_lab },
    { "format", true, set_format },
    { "course", true, set_course },
    { "to", true, set_to },
    { "executor", true, set_executor },
    { "account", true, set_account },
    { "partition", true, set_partition },
    { "gres", true, set_gres },
    { "slurm-option", true, set_slurm_option },
    { "shared", true, set_shared },
    { "batch", true, set_batch },
    { "kernels", true, set_kernels },
    { "logs", true, set_logs },
    { 0 },
};

static bool take_word(void *self, const char *word)
{
    Options *options = self;

    if (options->takes_submissions && !options->submissions) {
        options->submissions = word;
        return true;
    }
    fprintf(stderr, "gradebook: unexpected argument '%s' (see --help)\n", word);
    return false;
}

/* --kernels requires one lab and the local executor; --logs requires --kernels. */
static bool check_listed(Options *options)
{
    GradingOptions *grading = &options->grading;
    int labs = 0;

    if (!grading->listed.count && !options->logs)
        return true;
    for (int i = 0; i < LABS; i++)
        if (grading->requested[i]) {
            grading->listed_lab = i;
            labs++;
        }
    if (grading->listed.count && labs == 1 && !options->slurm.requested)
        return true;
    fputs("gradebook: --kernels grades one lab, with --executor local: add --labs L; --logs needs "
          "--kernels\n",
          stderr);
    return false;
}

bool take_arguments(Options *options, int argc, char **argv, bool takes_submissions,
                    bool needs_no_out)
{
    OptionReader reader = { option_rows, options, take_word };

    options->takes_submissions = takes_submissions;
    if (options_read(&reader, argc - 1, argv + 1) < 0) {
        if (*reader.why)
            fprintf(stderr, "gradebook: %s\n", reader.why);
        return false;
    }
    if (!options->out && !needs_no_out)
        fprintf(stderr, "gradebook: missing --out DIR, the folder of the gradebook\n");
    if (!check_listed(options))
        return false;
    if (options->slurm.requested && options->grading.device_count &&
        (options->grading.device_count > 1 || strncmp(options->grading.devices[0], "sim", 3))) {
        fprintf(
            stderr,
            "gradebook: --devices %s: Slurm chooses the GPUs; use sim, sim:NAME or no --devices\n",
            options->grading.devices[0]);
        return false;
    }
    return options->out || needs_no_out;
}
