/* options.h - parses the command line of any of the project's programs with getopt_long: one row
 * per option. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `set` returns false if the value is invalid; `value` is NULL for an option that takes none. */
typedef struct OptionRow {
    const char *name; /* without its dashes: "seed" */
    bool has_value;
    bool (*set)(void *self, const char *value);
    char letter; /* 'v': also given as "-v"; 0: only by its name */
} OptionRow;

enum { MOST_OPTIONS = 64 };

typedef struct OptionReader {
    const OptionRow *rows; /* the last one has no name */
    void *self;            /* passed to `set` and `word` */
    /* Called for an argument that is not an option; returns false if it is refused. NULL: the first
     * one ends the options. */
    bool (*word)(void *self, const char *word);
    int row;       /* the row whose `set` is called */
    char why[600]; /* the error, which `set` may word; "" if `word` has already reported it */
} OptionReader;

/* Parses argv[1] to argv[argc - 1]: "--name value" or "--name=value", mixed with words in any
 * order. Returns how many arguments were read, argv[0] included; -1 with reader->why set if one
 * is invalid. */
int options_read(OptionReader *reader, int argc, char **argv);

#endif
