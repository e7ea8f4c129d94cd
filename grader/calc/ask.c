/* ask.c - a calculator's inputs, by name, from the words of a command line. */
#include "calc/ask.h"
#include "base/number.h"
#include "base/util.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_CHARACTERS = 40 };

/* ---- Complaints, and inputs by name ---- */

bool calc_complain(const Calculator *calculator, const char *format, ...)
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

/* A number, then perhaps a unit. */
static bool read_number(Kind kind, const char *text, double *value)
{
    const char *end = strlen(text) > NUMBER_CHARACTERS ? NULL : parse_prefix(text, value);
    double unit = end ? unit_of(kind, end) : 0;

    *value = *value * unit + 0; /* -0 is 0 */
    return unit > 0;
}

static bool set_input(Asked *asked, int at, const char *text)
{
    static const char *const kinds[] = { "a whole number", "a number",
                                         "bytes, or KiB, MiB, GiB, KB, MB, GB,",
                                         "a part, or a percentage," };
    const Input *input = &asked->calculator->inputs[at];
    double value;
    bool fine = read_number(input->kind, text, &value);

    if (fine && (input->kind == WHOLE || input->kind == BYTES))
        fine = value == floor(value);
    if (!fine || !(value >= input->least && value <= input->most))
        return calc_complain(asked->calculator, "--%s %.*s: is to be %s from %.15g to %.15g",
                             input->name, NUMBER_CHARACTERS, text, kinds[input->kind], input->least,
                             input->most);
    asked->value[at] = value;
    return asked->given[at] = true;
}

/* ---- Devices ---- */

static bool set_device(Asked *asked, const char *given)
{
    const char *name = !strcmp(given, "sim") ? "teaching" : given;
    char build[3000], folder[4000], why[900];

    name += strncmp(name, "sim:", 4) ? 0 : 4;
    if (*name && strspn(name, "0123456789") == strlen(name))
        return calc_complain(
            asked->calculator,
            "--device %.20s: a described GPU is wanted, such as sim:t4, not a real "
            "one's number; build/warpbook sim --list shows them",
            name);
    if (!find_build_folder(build, sizeof build))
        return calc_complain(asked->calculator,
                             "--device %.40s: the build folder cannot be found: %s; run make first",
                             name, strerror(errno));
    PUT(folder, "%s/devices", build);
    if (!device_read(folder, name, &asked->device, why, sizeof why))
        return calc_complain(asked->calculator, "--device %.40s: %s", name, why);
    return asked->has_device = true;
}

/* ---- Words ---- */

/* Takes words[*at] with its value, from "--name=value" or the next word. */
static bool take_word(Asked *asked, int count, char **words, int *at)
{
    const Calculator *calculator = asked->calculator;
    const char *word = words[*at], *equals = strchr(word, '=');
    const char *value = equals ? equals + 1 : *at + 1 < count ? words[*at + 1] : NULL;
    size_t length = equals ? (size_t) (equals - word) : strlen(word);
    bool device = calculator->has_device && length == 8 && !strncmp(word, "--device", 8);
    int input = length > 2 ? find_input(calculator, word + 2, length - 2) : -1;

    if (strncmp(word, "--", 2))
        return calc_complain(calculator, "%.60s: say which number it is, as in: %s", word,
                             calculator->example);
    if (!device && input < 0)
        return calc_complain(calculator, "%.60s: there is no such option", word);
    if (!device && calculator->inputs[input].kind == FLAG) {
        asked->given[input] = true;
        return !equals || calc_complain(calculator, "%.60s: takes no value", word);
    }
    if (!value || (!equals && !strncmp(value, "--", 2)))
        return calc_complain(calculator, "%.60s: its value is missing", word);
    *at += !equals;
    return device ? set_device(asked, value) : set_input(asked, input, value);
}

/* What was not given: from the device, or what is usual. */
static bool fill_in(Asked *asked)
{
    const Calculator *calculator = asked->calculator;

    if (calculator->needs_device && !asked->has_device)
        return calc_complain(calculator,
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
            return calc_complain(calculator, "--%s is missing (%s)%s", input->name, input->what,
                                 input->of_device ? ": give it, or --device" : "");
    }
    return true;
}

bool calc_ask(Asked *asked, int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
            return asked->help = true;
    for (int i = 0; i < count; i++)
        if (!take_word(asked, count, words, &i))
            return false;
    return fill_in(asked);
}
