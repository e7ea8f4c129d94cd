/* options.h - the options of a gradebook command. */
#ifndef GRADEBOOK_OPTIONS_H
#define GRADEBOOK_OPTIONS_H

#include "gradebook/run/scheduler_options.h"
#include "gradebook/slurm/slurm.h"
#include "base/options.h"

enum { MOST_WORDS = 4 };

typedef struct Options {
    const struct Command *command;
    const char
        *words[MOST_WORDS]; /* arguments that are not options, as many as the command takes */
    int word_count;
    const char *out, *from, *requests, *student, *lab, *format, *to, *course, *logs;
    const char *against;                      /* the gradebook of an earlier class */
    const char *section, *worksheet, *column; /* of reports and exports */
    const char *assignment, *note, *author;
    int64_t visible_from; /* publish: seconds since 1970; 0: at once */
    bool all, force, unpublished, verbose, dry_run, undo, redo;
    bool trusting, labs_named, replace, apart;
    GradingOptions grading;
    SlurmOptions slurm;
    char devices[400]; /* storage for grading.devices */
    char problem[100]; /* what is wrong with a value, if more is known than that it is invalid */
} Options;

/* A command of gradebook, with all that it accepts. */
typedef struct Command {
    const char *name;
    int (*run)(Options *);
    int words;              /* at most this many; `run` checks how many are needed */
    const char *word_names; /* for messages: "SUBMISSIONS" */
    const char *options;    /* names from the table in options.c, separated by spaces */
    bool no_out;            /* works without --out */
    const char *group;      /* begins a group of commands in --help: its title; or NULL */
    const char *help;       /* for --help: what it does, in a few words */
    const char *details;    /* for COMMAND --help: the rest; or NULL */
} Command;

/* An option of any command, with its row in the help. */
typedef struct GradebookOption {
    const char *name;
    bool has_value;
    bool (*set)(void *self, const char *value);
    const char *value; /* for the help: "FILE" */
    const char *text;
    char letter; /* 'v': also given as "-v"; 0: only by its name */
} GradebookOption;

extern const GradebookOption gradebook_options[]; /* the last one has no name */

bool command_takes(const Command *command, const char *option);

/* Parses the arguments that follow the command; argv[1] is the command. Returns false after
 * printing an error. */
bool take_arguments(Options *options, int argc, char **argv, const Command *command);

#endif
