/* options.h - the options of a command line, of any of our programs: a row each, by getopt_long. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `set` returns false if that is no value for it; `value` is NULL where none is taken. */
typedef struct OptionRow {
    const char *name; /* without its dashes: "seed" */
    bool has_value;
    bool (*set)(void *self, const char *value);
} OptionRow;

enum { MOST_OPTIONS = 64 };

typedef struct OptionReader {
    const OptionRow *rows;                      /* the last one has no name */
    void *self;                                 /* for `set` and `word` */
    bool (*word)(void *self, const char *word); /* an argument that is no option; false: refused.
                                                 * NULL: the first one ends the options */
    char why[600];                              /* what is wrong; "" if a callback has said it */
} OptionReader;

/* Reads argv[1] .. argv[argc - 1]: "--name value" or "--name=value", in any order with words.
 * Returns how many arguments were read, argv[0] included; -1 with reader->why set if one is wrong.
 */
int options_read(OptionReader *reader, int argc, char **argv);

#endif
