/* options.c - reads a command line. */
#include "base/options.h"
#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool take_option(const OptionRow *rows, Options *options, char **argv, int *at)
{
    char *equals = strchr(argv[*at], '=');
    size_t length = equals ? (size_t) (equals - argv[*at]) : strlen(argv[*at]);

    for (const OptionRow *row = rows; row->name; row++) {
        const char *value = !row->has_value ? NULL : equals ? equals + 1 : argv[*at + 1];
        if (strlen(row->name) != length || strncmp(argv[*at], row->name, length))
            continue;
        if (row->has_value ? !value : equals != NULL)
            break;
        if (!row->set(options, value)) {
            fprintf(stderr, "%s: %s: not a value for it: %s\n", program_name, row->name, value);
            return false;
        }
        *at += row->has_value && !equals;
        return true;
    }
    fprintf(stderr, "%s: %s: no such option, or its value is missing (--help)\n", program_name,
            argv[*at]);
    return false;
}

bool option_number(const char *text, int base, uint64_t most, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, base);
    return *text && !*end && !errno && *text != '-' && *value <= most;
}
