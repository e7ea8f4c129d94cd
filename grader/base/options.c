/* options.c - parses a command line. */
#include "base/options.h"
#include "base/util.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_VALUE = 2000 }; /* paths; longer ones are refused before anything copies them */

/* Fills getopt_long's table, and `letters`, which begins with the characters that set its mode. */
static void list_options(const OptionReader *reader, struct option *list, char *letters,
                         size_t size)
{
    const OptionRow *rows = reader->rows;
    int count = 0;

    put(letters, size, reader->word ? "-:" : "+:");
    for (; rows[count].name; count++) {
        if (count == MOST_OPTIONS)
            die("a command has more than %d options", MOST_OPTIONS);
        list[count] = (struct option){ rows[count].name,
                                       rows[count].has_value ? required_argument : no_argument };
        if (rows[count].letter)
            append(letters, size, "%c%s", rows[count].letter, rows[count].has_value ? ":" : "");
    }
    list[count] = (struct option){ 0 };
}

/* getopt_long sets the row only for a name. */
static void find_letter(OptionReader *reader, int found)
{
    for (int i = 0; reader->rows[i].name; i++)
        if (found && reader->rows[i].letter == found)
            reader->row = i;
}

/* Handles what getopt_long found at argv[optind - 1] or before it. */
static bool take(OptionReader *reader, int found, char **argv)
{
    if (found == ':')
        return PUT(reader->why, "option '%.300s' needs a value (see --help)", argv[optind - 1]),
               false;
    if (found == '?')
        return PUT(reader->why, "unknown option '%.300s' (see --help)", argv[optind - 1]), false;
    if (found == 1)
        return reader->word(reader->self, optarg);
    find_letter(reader, found);
    if ((!optarg || strlen(optarg) <= LONGEST_VALUE) &&
        reader->rows[reader->row].set(reader->self, optarg))
        return true;
    if (!reader->why[0])
        PUT(reader->why, "invalid value for --%s: '%.300s' (see --help)",
            reader->rows[reader->row].name, optarg ? optarg : "");
    return false;
}

int options_read(OptionReader *reader, int argc, char **argv)
{
    struct option list[MOST_OPTIONS + 1];
    char letters[2 * MOST_OPTIONS + 4];
    int found;

    list_options(reader, list, letters, sizeof letters);
    reader->why[0] = 0;
    reader->row = 0;
    opterr = 0;
    optind = 0; /* GNU: restarts getopt_long, whatever it parsed before */
    while ((found = getopt_long(argc, argv, letters, list, &reader->row)) != -1)
        if (!take(reader, found, argv))
            return -1;
    for (; reader->word && optind < argc; optind++) /* words after "--" */
        if (!reader->word(reader->self, argv[optind]))
            return -1;
    return optind;
}
