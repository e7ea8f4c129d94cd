/* main.c - gradebook grades a whole course: one row per command. */
#include "gradebook/commands/command.h"
#include "gradebook/help.h"
#include "base/util.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

enum { LIMIT_S = 1800 }; /* per kernel and lab; warpbook's own limits are far lower */

#define GRADING                                                                                    \
    "out labs devices jobs quick limit memory trust-submissions course executor account "          \
    "partition gres slurm-option shared batch"

#define FILTER   " student lab labs section"
#define DECIDING "out course note author undo"

static const Command commands[] = {
    { "grade", command_grade, 1, "SUBMISSIONS", GRADING " kernels logs assignment replace",
      .group = "Grading", .help = "grade all that was submitted, or continue",
      .details =
          "SUBMISSIONS has one folder or archive per student, or is an export of Moodle, "
          "Canvas or Gradescope (docs/gradebook.md). The same command continues where it was "
          "stopped. Only what is new is graded. Without SUBMISSIONS, --course FILE is stored, and "
          "nothing is imported." },
    { "regrade", command_regrade, 0, "", GRADING " student lab all requests note author",
      .help = "grade again, for a student, a lab or a list",
      .details =
          "Give --student S --lab L, or --lab L --all, or --requests FILE, a CSV. Nothing is "
          "stored if the file has a mistake." },
    { "status", command_status, 0, "", "out course" FILTER, .help = "show the progress" },
    { "imports", command_imports, 1, "[IMPORT]", "out undo redo replace note author",
      .help = "list the imports; take one back, or let it count again",
      .details =
          "IMPORT is a number of the list. --undo takes the import back: earlier imports of the "
          "assignment count again. Nothing is removed. If students would lose a submission, "
          "nothing "
          "is changed unless you add --replace." },
    { "import-roster", command_roster, 1, "FILE", "out", .group = "Students",
      .help = "read a CSV of the students: id, name, email, section, alias, status" },
    { "match", command_match, 2, "STUDENT PERSON", "out apart undo author",
      .help = "list students who are not identified; or tell who one is",
      .details = "STUDENT is named as the list names him: NAME_NUMBER, a number or a name. PERSON "
                 "is an id, e-mail address, alias or name of the roster, or another student. The "
                 "answer is kept for later imports." },
    { "waiting", command_waiting, 0, "", "out course to against" FILTER, .group = "Decisions",
      .help = "list what waits for a decision, with the evidence",
      .details = "--to FOLDER also writes the kernels." },
    { "decide", command_decide, 3, "STUDENT LAB pass|zero|MARKS", DECIDING,
      .help = "set the marks of a student's lab",
      .details = "pass: as a verdict, so lateness still counts. MARKS: 0 to 100, final. STUDENT: "
                 "number, e-mail address or name." },
    { "extend", command_extend, 3, "STUDENT LAB|all 2d|UNTIL", DECIDING,
      .help = "extend a student's deadline" },
    { "excuse", command_excuse, 2, "STUDENT LAB", DECIDING,
      .help = "take a lab out of a student's total" },
    { "history", command_history, 2, "STUDENT [LAB]", "out course",
      .help = "print all that happened to a student's marks" },
    { "report", command_report, 0, "", "out course verbose" FILTER, .group = "Results",
      .help = "print a table, and what a human should check" },
    { "export", command_export, 0, "",
      "out course format to force worksheet column unpublished against" FILTER,
      .help = "write results for people and programs" },
    { "publish", command_publish, 0, "", "out course visible-from note dry-run" FILTER,
      .help = "freeze the marks of --labs that students see, or say what has changed since" },
    { "doctor", command_doctor, 0, "", "out devices jobs memory trust-submissions", .no_out = true,
      .group = "The machine and the gradebook",
      .help = "check whether this machine is fit to grade",
      .details = "Exit status: 0 fit, 1 with warnings, 3 not fit." },
    { "devices", command_devices, 0, "", "out",
      .help = "how steadily each device measured on each day" },
    { "check-course", command_check_course, 1, "FILE", "out", .no_out = true,
      .help = "read a course file: its mistakes, or what it means",
      .details = "Prints a table of the labs, and warnings. With --out DIR, it also says which "
                 "kernels of this gradebook would be graded again. Stores nothing." },
    { "backup", command_backup, 0, "", "out to",
      .help = "copy the database, also while grading runs" },
    { "rebuild", command_rebuild, 0, "", "out from",
      .help = "make a gradebook from logs, if its database is lost" },
    { 0 },
};

static bool has_option(int argc, char **argv, const char *name, const char *letter)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name) || (letter && !strcmp(argv[i], letter)))
            return true;
    return false;
}

static const Command *find_command(const char *name)
{
    for (const Command *command = commands; command->name; command++)
        if (!strcmp(name, command->name))
            return command;
    return NULL;
}

int main(int argc, char **argv)
{
    Options options = { .grading = { .limit_s = LIMIT_S } };
    const Command *command = argc > 1 ? find_command(argv[1]) : NULL;

    program_name = "gradebook";
    setlocale(LC_CTYPE, "C.UTF-8"); /* names in archives */
    if (has_option(argc, argv, "--help", "-h")) {
        if (command)
            help_command(stdout, command);
        else
            help_commands(stdout, commands);
        return fflush(stdout) || ferror(stdout) ? COULD_NOT : DONE;
    }
    if (has_option(argc, argv, "--version", NULL))
        return puts("gradebook " WARPBOOK_VERSION) < 0;
    prctl(PR_SET_DUMPABLE, 0); /* submissions must not read our memory */
    umask(077);                /* only the instructor may read marks and submissions */
    for (const LabEntry *entry = all_labs; entry->folder && entry - all_labs < LABS; entry++)
        options.grading.requested[entry - all_labs] = true;
    if (command)
        return take_arguments(&options, argc, argv, command) ? command->run(&options) : USAGE;
    if (argc > 1)
        return say(USAGE, "unknown command '%s' (see --help)", argv[1]);
    help_commands(stderr, commands);
    return USAGE;
}
