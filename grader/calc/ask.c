/* ask.c - reads a calculator's named inputs from a command line. */
#include "calc/ask.h"
#include "base/number.h"
#include "base/options.h"
#include "base/util.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_CHARACTERS = 40 };

/* ---- Errors, and inputs by name ---- */

bool calc_refuse(const Calculator *calculator, const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "warpbook calc %s: ", calculator->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " (warpbook calc %s --help)\n", calculator->name);
    return false;
}

static int find_input(const Calculator *calculator, const char *name, size_t length)
{
    for (int i = 0; calculator->inputs[i].name; i++)
        if (strlen(calculator->inputs[i].name) == length &&
            !strncmp(calculator->inputs[i].name, name, length))
            return i;
    return -1;
}

double asked_value(const Asked *asked, const char *name)
{
    return asked->value[find_input(asked->calculator, name, strlen(name))];
}

long asked_whole(const Asked *asked, const char *name)
{
    return (long) asked_value(asked, name);
}

bool asked_given(const Asked *asked, const char *name)
{
    return asked->given[find_input(asked->calculator, name, strlen(name))];
}

/* ---- Numbers ---- */

static double unit_of(Kind kind, const char *text)
{
    static const struct {
        const char *name;
        double factor;
    } bytes[] = {
        { "B", 1 },    { "KiB", 1024 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 },
        { "KB", 1e3 }, { "MB", 1e6 },   { "GB", 1e9 },
    };

    if (!*text)
        return 1;
    if (kind == SHARE)
        return strcmp(text, "%") ? 0 : 0.01;
    for (size_t i = 0; kind == BYTES && i < sizeof bytes / sizeof *bytes; i++)
        if (!strcmp(text, bytes[i].name))
            return bytes[i].factor;
    return 0;
}

/* Reads a number and an optional unit. */
static bool read_number(Kind kind, const char *text, double *value)
{
    const char *end;
    double unit;

    *value = 0;
    end = strlen(text) > NUMBER_CHARACTERS ? NULL : parse_prefix(text, value);
    unit = end ? unit_of(kind, end) : 0;
    *value = *value * unit + 0; /* turns -0 into 0 */
    return unit > 0;
}

/* Filled in by options_read(). */
typedef struct Words {
    Asked *asked;
    OptionReader reader;
} Words;

/* ---- Devices ---- */

static bool set_device(Words *words, const char *given)
{
    const char *name = !strcmp(given, "sim") ? "teaching" : given;
    char build[3000], folder[4000], why[900];

    name += strncmp(name, "sim:", 4) ? 0 : 4;
    if (*name && strspn(name, "0123456789") == strlen(name))
        return PUT(words->reader.why,
                   "--device %.20s is the number of a real GPU: use a described one, such as "
                   "sim:t4 (build/warpbook sim --list shows them)",
                   name),
               false;
    if (!find_build_folder(build, sizeof build))
        return PUT(words->reader.why,
                   "--device %.40s: cannot find the build folder: %s; run make first", name,
                   strerror(errno)),
               false;
    PUT(folder, "%s/devices", build);
    if (!device_read(folder, name, &words->asked->device, why, sizeof why))
        return PUT(words->reader.why, "--device %.40s: %.500s", name, why), false;
    return words->asked->has_device = true;
}

/* ---- Options ---- */

static bool set_input(Words *words, int at, const char *text)
{
    static const char *const kinds[] = { "a whole number", "a number",
                                         "bytes, or KiB, MiB, GiB, KB, MB, GB,",
                                         "a part, or a percentage," };
    const Input *input = &words->asked->calculator->inputs[at];
    double value;
    bool fine = read_number(input->kind, text, &value);

    if (fine && (input->kind == WHOLE || input->kind == BYTES))
        fine = value == floor(value);
    if (!fine || !(value >= input->least && value <= input->most))
        return PUT(words->reader.why, "--%s must be %s from %.15g to %.15g, not '%.*s'",
                   input->name, kinds[input->kind], input->least, input->most, NUMBER_CHARACTERS,
                   text),
               false;
    words->asked->value[at] = value;
    return words->asked->given[at] = true;
}

static bool set_option(void *self, const char *value)
{
    Words *words = self;
    const int at = words->reader.row;

    if (!words->asked->calculator->inputs[at].name)
        return set_device(words, value);
    if (value)
        return set_input(words, at, value);
    return words->asked->given[at] = true;
}

static bool refuse_word(void *self, const char *word)
{
    Words *words = self;

    return PUT(words->reader.why, "'%.60s' needs the name of an option before it, as in: %s", word,
               words->asked->calculator->example),
           false;
}

/* One row per input, then --device. */
static void list_inputs(const Calculator *calculator, OptionRow *rows)
{
    int count = 0;

    for (const Input *input = calculator->inputs; input->name; input++)
        rows[count++] = (OptionRow){ input->name, input->kind != FLAG, set_option };
    if (calculator->has_device)
        rows[count++] = (OptionRow){ "device", true, set_option };
    rows[count] = (OptionRow){ 0 };
}

/* Fills in missing inputs from the device or with their defaults. */
static bool fill_in(Asked *asked)
{
    const Calculator *calculator = asked->calculator;

    if (calculator->needs_device && !asked->has_device)
        return calc_refuse(calculator,
                           "--device is missing: sim:t4, sim:h200, ...; build/warpbook sim "
                           "--list shows them all");
    for (int i = 0; calculator->inputs[i].name; i++) {
        const Input *input = &calculator->inputs[i];
        if (asked->given[i])
            continue;
        if (input->of_device && asked->has_device)
            asked->value[i] = input->of_device(&asked->device);
        else if (input->optional)
            asked->value[i] = input->fallback;
        else
            return calc_refuse(calculator, "--%s is missing (%s)%s", input->name, input->what,
                               input->of_device ? ": give it, or --device" : "");
    }
    return true;
}

bool calc_ask(Asked *asked, int argc, char **argv)
{
    OptionRow rows[CALC_INPUTS + 2];
    Words words = { asked, { .rows = rows, .word = refuse_word } };

    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return asked->help = true;
    list_inputs(asked->calculator, rows);
    words.reader.self = &words;
    if (options_read(&words.reader, argc, argv) >= 0)
        return fill_in(asked);
    fprintf(stderr, "warpbook calc %s: %s\n", asked->calculator->name, words.reader.why);
    return false;
}
