/* options.c - the options of gradebook, one row each. */
#include "gradebook/options.h"
#include "base/course_syntax.h"
#include "base/number.h"
#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set_out(void *self, const char *value)
{
    Options *o = self;
    o->out = value;
    return *value && strlen(value) < 400;
}

static const LabEntry *take_lab(Options *options, const char *name)
{
    const LabEntry *entry = lab_find(name);

    if (!entry)
        PUT(options->problem, "there is no lab '%.60s'", name);
    return entry;
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
        const LabEntry *entry;
        if (!*name)
            continue;
        if (!(entry = take_lab(o, name)))
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

static bool set_assignment(void *self, const char *value)
{
    Options *o = self;
    o->assignment = value;
    return true;
}

static bool set_replace(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    o->replace = true;
    return true;
}

static bool set_apart(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    o->apart = true;
    return true;
}

static bool set_undo(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    o->undo = true;
    return true;
}

static bool set_redo(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->redo = true;
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
    return take_lab(o, value) != NULL;
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

static bool set_section(void *self, const char *value)
{
    Options *o = self;
    o->section = value;
    return *value != 0;
}

static bool set_against(void *self, const char *value)
{
    Options *o = self;
    o->against = value;
    return *value && strlen(value) < 400;
}

static bool set_worksheet(void *self, const char *value)
{
    Options *o = self;
    o->worksheet = value;
    return *value != 0;
}

static bool set_column(void *self, const char *value)
{
    Options *o = self;
    o->column = value;
    return *value != 0;
}

static bool set_force(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->force = true;
}

static bool set_unpublished(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->unpublished = true;
}

static bool set_visible_from(void *self, const char *value)
{
    Options *o = self;
    return take_time(value, &o->visible_from);
}

static bool set_note(void *self, const char *value)
{
    Options *o = self;
    o->note = value;
    return *value && strlen(value) < 1000;
}

static bool set_dry_run(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->dry_run = true;
}

static bool set_author(void *self, const char *value)
{
    Options *o = self;
    o->author = value;
    return *value != 0;
}

static bool set_verbose(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->verbose = true;
}

static bool set_requests(void *self, const char *value)
{
    Options *o = self;
    o->requests = value;
    return *value != 0;
}

static bool set_all(void *self, const char *value)
{
    Options *o = self;
    (void) value;
    return o->all = true;
}

static bool set_from(void *self, const char *value)
{
    Options *o = self;
    o->from = value;
    return *value && strlen(value) < 400;
}

static bool set_to(void *self, const char *value)
{
    Options *o = self;
    o->to = value;
    return *value && strlen(value) < 900;
}

const GradebookOption gradebook_options[] = {
    { "out", true, set_out, "DIR", "the folder of the gradebook: its database, logs and builds" },
    { "labs", true, set_labs, "L,L...",
      "only these labs (6, transpose or 06_transpose); default: all" },
    { "assignment", true, set_assignment, "NAME",
      "the assignment of these submissions. Importing it again replaces its earlier import; "
      "another "
      "one never does" },
    { "replace", false, set_replace, "",
      "students whose submissions are no longer there become missing" },
    { "apart", false, set_apart, "", "this student is a separate person" },
    { "course", true, set_course, "FILE",
      "bars, weights, deadlines, curves, seeds (docs/course-file.md); grade keeps a copy, which "
      "later commands use" },
    { "devices", true, set_devices, "N,N...|sim[:NAME]",
      "these GPUs, one kernel at a time on each; or the simulated GPU. Default: the first GPU if "
      "usable, else the simulated GPU" },
    { "jobs", true, set_jobs, "N",
      "gradings at a time on the simulated GPU; with Slurm: number of tasks" },
    { "quick", false, set_quick, "", "fewer blocks, no self-test of the machine: a rough result" },
    { "limit", true, set_limit, "SECONDS", "time limit of one grading; default: 1800" },
    { "memory", true, set_memory, "MIB",
      "memory limit of one grading; default: depends on the machine" },
    { "trust-submissions", false, set_trusting, "",
      "no bubblewrap: submissions can read and write all your files" },
    { "student", true, set_student, "WHO",
      "the student: a name, or an id or e-mail address of the roster" },
    { "lab", true, set_lab, "L", "the lab" },
    { "all", false, set_all, "", "the kernels of all students" },
    { "requests", true, set_requests, "FILE",
      "a CSV with the columns student (id, e-mail address or name), lab and, optionally, note" },
    { "section", true, set_section, "S", "only this section of the roster" },
    { "verbose", false, set_verbose, "", "a line per lab, and whole lists (also -v)", 'v' },
    { "format", true, set_format, "F",
      "one file: csv (a row per student and lab), marks (one per student), json, html, alike "
      "(pairs "
      "of kernels), moodle, moodle-feedback or canvas. Files for each student: gradescope, "
      "classroom or feedback; pictures: the distributions of marks and speeds" },
    { "to", true, set_to, "FILE|FOLDER",
      "the new file, which only you may read, or the folder; default for one file: standard "
      "output" },
    { "against", true, set_against, "DIR",
      "also compare with the kernels of an earlier class: DIR is its gradebook" },
    { "force", false, set_force, "", "replace the file" },
    { "worksheet", true, set_worksheet, "FILE",
      "moodle: the grading worksheet; canvas: the exported gradebook" },
    { "column", true, set_column, "NAME", "moodle, canvas: the column that gets the marks" },
    { "author", true, set_author, "NAME", "who decides; default: your login name" },
    { "undo", false, set_undo, "", "take back the latest answer or decision of this kind" },
    { "redo", false, set_redo, "", "let an import count again that was taken back" },
    { "unpublished", false, set_unpublished, "",
      "the current marks, not those that were published" },
    { "from", true, set_from, "DIR", "the folder of the old gradebook" },
    { "visible-from", true, set_visible_from, "TIME",
      "students see the marks from then on: 2026-12-01 08:00 +01:00; default: at once" },
    { "note", true, set_note, "TEXT", "why, for the record" },
    { "dry-run", false, set_dry_run, "", "only say what would change" },
    { "executor", true, set_executor, "local|slurm", "run here (default), or as Slurm job arrays" },
    { "account", true, set_account, "A", "passed to sbatch" },
    { "partition", true, set_partition, "P", "passed to sbatch" },
    { "gres", true, set_gres, "gpu:1", "passed to sbatch" },
    { "slurm-option", true, set_slurm_option, "OPTION", "passed to sbatch; can be repeated" },
    { "shared", true, set_shared, "DIR",
      "with Slurm: a folder that all nodes see; default: --out" },
    { "batch", true, set_batch, "N",
      "with Slurm: kernels per task; default: about ten minutes' work" },
    { "kernels", true, set_kernels, "N.A,N.A...",
      "grades N.cu in the folder SUBMISSIONS as attempt A, for the lab of --labs; used by the "
      "tasks of a Slurm array" },
    { "logs", true, set_logs, "DIR",
      "with --kernels: the folder of the logs; default: logs in --out" },
    { 0 },
};

static bool take_word(void *self, const char *word)
{
    Options *options = self;
    const Command *command = options->command;

    if (options->word_count < command->words && options->word_count < MOST_WORDS) {
        options->words[options->word_count++] = word;
        return true;
    }
    fprintf(stderr,
            "gradebook: unexpected argument '%s': usage: gradebook %s%s%s (gradebook %s --help)\n",
            word, command->name, *command->word_names ? " " : "", command->word_names,
            command->name);
    return false;
}

/* ---- The options of one command ---- */

bool command_takes(const Command *command, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = command->options; (at = strstr(at, name)); at += length)
        if ((at == command->options || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

/* Copies the rows that the command takes. */
static void rows_of(const Command *command, OptionRow rows[MOST_OPTIONS])
{
    int count = 0;

    for (const GradebookOption *row = gradebook_options; row->name && count + 1 < MOST_OPTIONS;
         row++)
        if (command_takes(command, row->name))
            rows[count++] = (OptionRow){ row->name, row->has_value, row->set, row->letter };
    rows[count] = (OptionRow){ 0 };
}

/* An option that belongs to other commands is not called unknown. */
static void report_option(const Command *command, const OptionReader *reader, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (const GradebookOption *row = gradebook_options; row->name; row++) {
            size_t length = strlen(row->name);
            if (!strncmp(argv[i], "--", 2) && !strncmp(argv[i] + 2, row->name, length) &&
                (!argv[i][length + 2] || argv[i][length + 2] == '=') &&
                !command_takes(command, row->name)) {
                fprintf(stderr, "gradebook: %s does not take --%s (gradebook %s --help)\n",
                        command->name, row->name, command->name);
                return;
            }
        }
    fprintf(stderr, "gradebook: %s\n", reader->why);
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

static bool check_slurm(const Options *options)
{
    const GradingOptions *grading = &options->grading;

    if (!options->slurm.requested || !grading->device_count ||
        (grading->device_count == 1 && !strncmp(grading->devices[0], "sim", 3)))
        return true;
    fprintf(stderr,
            "gradebook: --devices %s: Slurm chooses the GPUs; use sim, sim:NAME or no --devices\n",
            grading->devices[0]);
    return false;
}

bool take_arguments(Options *options, int argc, char **argv, const Command *command)
{
    OptionRow rows[MOST_OPTIONS];
    OptionReader reader = { rows, options, take_word };

    options->command = command;
    rows_of(command, rows);
    if (options_read(&reader, argc - 1, argv + 1) < 0) {
        if (*options->problem)
            fprintf(stderr, "gradebook: %s (gradebook %s --help)\n", options->problem,
                    command->name);
        else if (*reader.why)
            report_option(command, &reader, argc - 1, argv + 1);
        return false;
    }
    if (!options->out && !command->no_out)
        fprintf(stderr, "gradebook: missing --out DIR, the folder of the gradebook\n");
    return check_listed(options) && check_slurm(options) && (options->out || command->no_out);
}
