/* ncu.c - reads the table that ncu prints as CSV, and prints the rows that a lesson uses. */
#include "learner/profile/profile.h"
#include "base/number.h"
#include "base/util.h"

#include <string.h>

enum { LINE = 1 << 16, COLUMNS = 4096 };

/* ---- CSV: every field in quotes, quotes inside doubled ---- */

/* Splits a line in place. Returns the number of fields; 0: it is not such a line. */
static int split(char *line, char **field, int room)
{
    int count = 0;

    for (char *from = line; *from == '"' && count < room;) {
        char *to = field[count++] = ++from;
        for (; *from && (*from != '"' || from[1] == '"'); from++) {
            from += *from == '"';
            *to++ = *from;
        }
        if (*from != '"')
            return 0;
        from++;
        *to = 0;
        if (*from != ',')
            return *from && *from != '\r' ? 0 : count;
        from++;
    }
    return 0;
}

/* "1,048,576" and "99.5" */
static bool read_value(const char *text, double *value)
{
    char digits[64];
    size_t length = 0;

    for (; *text && length < sizeof digits - 1; text++)
        if (*text != ',')
            digits[length++] = *text;
    digits[length] = 0;
    return length && parse_number(digits, -1e300, 1e300, value);
}

/* ---- The table ---- */

typedef struct Columns {
    int name, grid, block;
    int metric[COLUMNS]; /* by column: its number in Profiled.metric; -1: not wanted */
    int count;
} Columns;

static bool is_wanted(const char *metric)
{
    for (const ProfileRow *row = profile_rows; row->words; row++)
        if (!strcmp(row->metric, metric) || (row->per && !strcmp(row->per, metric)))
            return true;
    return false;
}

static bool read_head(char **field, int count, Columns *columns, Profiled *profiled)
{
    *columns = (Columns){ .name = -1, .grid = -1, .block = -1, .count = count };
    for (int i = 0; i < count; i++) {
        columns->metric[i] = -1;
        if (!strcmp(field[i], "Kernel Name"))
            columns->name = i;
        else if (!strcmp(field[i], "Grid Size"))
            columns->grid = i;
        else if (!strcmp(field[i], "Block Size"))
            columns->block = i;
        else if (is_wanted(field[i]) && profiled->metric_count < PROFILE_VALUES) {
            columns->metric[i] = profiled->metric_count;
            PUT(profiled->metric[profiled->metric_count++], "%.95s", field[i]);
        }
    }
    return columns->name >= 0 && columns->grid >= 0 && columns->block >= 0;
}

static void read_kernel(char **field, int count, const Columns *columns, Profiled *profiled)
{
    ProfiledKernel *kernel;

    profiled->launches++;
    if (profiled->kernel_count == PROFILE_KERNELS)
        return;
    kernel = &profiled->kernels[profiled->kernel_count++];
    *kernel = (ProfiledKernel){ .name = "" };
    PUT(kernel->name, "%.*s", (int) strcspn(field[columns->name], "("), field[columns->name]);
    PUT(kernel->grid, "%.39s", field[columns->grid]);
    PUT(kernel->block, "%.39s", field[columns->block]);
    for (int i = 0; i < count && i < columns->count; i++)
        if (columns->metric[i] >= 0)
            kernel->known[columns->metric[i]] =
                read_value(field[i], &kernel->value[columns->metric[i]]);
}

bool profile_read(const char *text, size_t bytes, Profiled *profiled, char *why, size_t size)
{
    static char line[LINE], *field[COLUMNS];
    static Columns columns;
    bool has_head = false;

    *profiled = (Profiled){ .launches = 0 };
    for (const char *at = text; next_line(&at, text + bytes, line, sizeof line);) {
        const int count = split(line, field, COLUMNS);
        if (!count)
            continue; /* a line of the program, or of ncu itself */
        if (!has_head) {
            if (!read_head(field, count, &columns, profiled)) {
                put(why, size, "its first line has no column 'Kernel Name'");
                return false;
            }
            has_head = true;
        } else if (*field[0] && count == columns.count) { /* the line of units has no ID */
            read_kernel(field, count, &columns, profiled);
        }
    }
    if (!has_head || !profiled->kernel_count)
        put(why, size, "it has no kernel");
    return has_head && profiled->kernel_count;
}

/* ---- Values ---- */

static bool metric_of(const Profiled *profiled, const ProfiledKernel *kernel, const char *metric,
                      double *value)
{
    for (int i = 0; i < profiled->metric_count; i++)
        if (!strcmp(profiled->metric[i], metric) && kernel->known[i]) {
            *value = kernel->value[i];
            return true;
        }
    return false;
}

bool profile_value(const Profiled *profiled, const ProfiledKernel *kernel, const ProfileRow *row,
                   double *value)
{
    double per = 1;

    if (!metric_of(profiled, kernel, row->metric, value) ||
        (row->per && (!metric_of(profiled, kernel, row->per, &per) || per == 0)))
        return false;
    *value *= row->factor / per;
    return true;
}

const ProfiledKernel *profile_longest(const Profiled *profiled)
{
    const ProfiledKernel *longest = NULL;
    double most = -1, time;

    for (int i = 0; i < profiled->kernel_count; i++) {
        const ProfiledKernel *kernel = &profiled->kernels[i];
        if (!metric_of(profiled, kernel, "gpu__time_duration.sum", &time))
            time = 0;
        if (time > most) {
            most = time;
            longest = kernel;
        }
    }
    return longest;
}

void profile_print(const LabEntry *entry, const Profiled *profiled, FILE *to)
{
    const ProfiledKernel *kernel = profile_longest(profiled);
    double value;

    fprintf(to, "%s, grid %s, block %s", kernel->name, kernel->grid, kernel->block);
    if (profiled->launches > 1)
        fprintf(to, ", the longest of %ld launches", profiled->launches);
    fprintf(to, "\n\n");
    for (const ProfileRow *row = profile_rows; row->words; row++) {
        if (!profile_row_is_for(row, entry))
            continue;
        if (profile_value(profiled, kernel, row, &value))
            fprintf(to, "  %-44s %14.*f %s\n", row->words, row->decimals, value, row->unit);
        else
            fprintf(to, "  %-44s %14s\n", row->words, "-");
    }
}
