/* options.h - the options of a command line, of any of our programs: a row each. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Options Options; /* each program has its own */

/* `set` returns false if that is no value for it; `value` is NULL where none is taken. */
typedef struct OptionRow {
    const char *name; /* "--seed" */
    bool has_value;
    bool (*set)(Options *options, const char *value);
} OptionRow;

/* Takes argv[*at], and its value from "--name=value" or the next argument, which moves *at. `rows`
 * ends with an empty name. False: it has said what is wrong. */
bool take_option(const OptionRow *rows, Options *options, char **argv, int *at);

/* A whole number of digits alone, at most `most`. */
bool option_number(const char *text, int base, uint64_t most, uint64_t *value);

#endif
