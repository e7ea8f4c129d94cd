/* course.c - a course file: the settings that a course changes from the labs' defaults.
 *
 * The text becomes a list of settings, each with its line. Settings of [course] and [all] are
 * applied first, then those of single labs, whatever their order in the file. Reading continues
 * after a mistake, so that all mistakes are reported at once. Each row of a table describes one
 * key that may be set.
 */
#include "base/course.h"
#include "base/course_syntax.h"
#include "base/util.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIM_DEVICES "grader/sim/devices"

enum { SETTINGS = 2000, MISTAKES = 100, EVERY_LAB = -1, THE_COURSE = -2, NO_SECTION = -3 };

typedef struct Setting {
    int line, section; /* section: the index of a lab, or one of the above */
    char key[100], value[200];
} Setting;

typedef struct Mistake {
    int line;
    char text[400];
} Mistake;

typedef struct Reading {
    const char *shown;
    Course *course;
    Setting settings[SETTINGS];
    int count;
    Mistake mistakes[MISTAKES];
    int faults;
} Reading;

static void mistake(Reading *r, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void mistake(Reading *r, int line, const char *format, ...)
{
    va_list arguments;

    if (r->faults == MISTAKES)
        return;
    r->mistakes[r->faults].line = line;
    va_start(arguments, format);
    vsnprintf(r->mistakes[r->faults].text, sizeof r->mistakes->text, format, arguments);
    va_end(arguments);
    r->faults++;
}

/* ---- What may be set ---- */

typedef enum Kind { TEXT, DEVICE, NUMBER, WHOLE, SPAN, TIME, SEED, WORD, BAR } Kind;

typedef struct Key {
    const char *name;
    bool of_course; /* belongs in [course]; otherwise in [all] and in labs */
    Kind kind;
    size_t offset; /* of the value in Course or in CourseLab */
    double least, most;
    const char *allowed; /* for a WORD: the allowed words, in the order of their values */
    bool secret;
} Key;

#define OF_COURSE(kind, member)                                                                    \
    true, kind, offsetof(Course, member), 0, sizeof((Course *) 0)->member
#define POLICY(member) offsetof(CourseLab, policy.member)

static const Key keys[] = {
    { "name", OF_COURSE(TEXT, name), "a text of at most 119 bytes" },
    { "device", OF_COURSE(DEVICE, device),
      "sim:NAME with a NAME of " SIM_DEVICES ", or a part of a GPU's name, such as H200" },
    { "times", true, WORD, offsetof(Course, times), 0, 0, "system, files" },
    { "late_days", true, WHOLE, offsetof(Course, late_days), 0, 365,
      "a whole number from 0 to 365" },
    { "weight", false, NUMBER, POLICY(weight), 0, 1000, "a number from 0 to 1000" },
    { "bar", false, BAR, 0, 0.01, 2, "a number from 0.01 to 2" },
    { "deadline", false, TIME, POLICY(deadline), 0, 0,
      "a time with its zone, such as 2026-11-30 23:59 +01:00" },
    { "late_grace", false, SPAN, POLICY(late_grace_s), 0, 1e9,
      "a duration: 0, 90s, 30m, 2h or 7d" },
    { "late_unit", false, SPAN, POLICY(late_unit_s), 1, 1e9, "a duration: 1h, 1d" },
    { "late_factor", false, NUMBER, POLICY(late_factor), 0, 1, "a number from 0 to 1" },
    { "late_curve", false, WORD, POLICY(late_curve), 0, 0, "power, linear" },
    { "late_cutoff", false, SPAN, POLICY(late_cutoff_s), 0, 1e9, "a duration: 0 (never), 2h, 7d" },
    { "base", false, NUMBER, POLICY(base), 0, 100, "a number from 0 to 100" },
    { "gain", false, NUMBER, POLICY(gain), 0, 1, "a number from 0 to 1" },
    { "growth", false, WORD, POLICY(growth), 0, 0, "linear, log" },
    { "quiz", false, NUMBER, POLICY(quiz), 0, 1, "a number from 0 to 1" },
    { "correct", false, NUMBER, POLICY(correct), 0, 100, "a number from 0 to 100" },
    { "close", false, WORD, POLICY(close), 0, 0, "pass, curve, human" },
    { "judge", false, WORD, POLICY(judge), 0, 0, "time, counts" },
    { "practice_seed", false, SEED, offsetof(CourseLab, practice_seed), 0, 0,
      "1 to 16 hexadecimal digits, not 0" },
    { "seed", false, SEED, offsetof(CourseLab, seed), 0, 0, "1 to 16 hexadecimal digits, not 0",
      .secret = true },
};
enum { KEYS = sizeof keys / sizeof *keys };

_Static_assert(sizeof(Growth) == sizeof(int) && sizeof(Closeness) == sizeof(int) &&
                   sizeof(Judged) == sizeof(int),
               "WORD sets ints");

/* "bar of flat" is the key "bar" for the case "flat". */
static const Key *key_of(const Setting *setting)
{
    for (int i = 0; i < KEYS; i++) {
        size_t length = strlen(keys[i].name);
        if (keys[i].of_course == (setting->section == THE_COURSE) &&
            !strncmp(setting->key, keys[i].name, length) &&
            (!setting->key[length] ||
             (keys[i].kind == BAR && !strncmp(setting->key + length, " of ", 4))))
            return &keys[i];
    }
    return NULL;
}

static const char *keys_of(int section, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < KEYS; i++)
        if (keys[i].of_course == (section == THE_COURSE))
            append(text, size, "%s%s", *text ? ", " : "", keys[i].name);
    return text;
}

/* ---- Applying ---- */

/* A GPU's name has no colon, so "simm:h200" would name a device that does not exist. Outside the
 * workbook's folder, names of simulated GPUs cannot be checked. */
static bool is_device(const char *name)
{
    char path[200];

    if (strncmp(name, "sim:", 4))
        return !strchr(name, ':');
    PUT(path, SIM_DEVICES "/%.80s.txt", name + 4);
    return file_exists(path) || !file_exists(SIM_DEVICES);
}

static bool set_value(const Key *key, const char *text, void *at)
{
    double number;
    int place;

    switch (key->kind) {
    case TEXT:
    case DEVICE:
        if (key->kind == DEVICE && !is_device(text))
            return false;
        put(at, (size_t) key->most, "%s", text);
        return *text && strlen(text) < (size_t) key->most;
    case NUMBER:
    case BAR:
        if (!take_number(text, &number) || number < key->least || number > key->most)
            return false;
        *(double *) at = number;
        return true;
    case WHOLE:
        if (!take_number(text, &number) || number < key->least || number > key->most ||
            number != (int) number)
            return false;
        *(int *) at = (int) number;
        return true;
    case SPAN:
        return take_span(text, at) && *(double *) at >= key->least && *(double *) at <= key->most;
    case TIME:
        return take_time(text, at);
    case SEED:
        return take_seed(text, at);
    case WORD:
        if ((place = place_in(key->allowed, text)) < 0)
            return false;
        *(int *) at = place;
        return true;
    }
    return false;
}

/* Sets the bar of all timed cases, or of the one named after " of ". */
static void set_bars(Reading *r, const Setting *setting, const Key *key, CourseLab *lab, int place)
{
    const char *of = setting->key[3] ? setting->key + 7 : NULL;
    const Case *cases = all_labs[place].lab->cases;
    char labels[200] = "";
    bool found = false;

    for (int i = 0; cases[i].label && i < COURSE_CASES; i++) {
        if (cases[i].kind != TIMED)
            continue;
        APPEND(labels, "%s%s", *labels ? ", " : "", cases[i].label);
        if (of && strcmp(of, cases[i].label))
            continue;
        found = true;
        if (!set_value(key, setting->value, &lab->bar[i])) {
            mistake(r, setting->line, "%s = %s: expected %s", setting->key, setting->value,
                    key->allowed);
            return;
        }
    }
    if (!found)
        mistake(r, setting->line, "%s: lab %s has no such timed case; its timed cases: %s",
                setting->key, all_labs[place].folder, *labels ? labels : "none");
}

static void apply(Reading *r, const Setting *setting, const Key *key, int place)
{
    CourseLab *lab = place >= 0 ? &r->course->lab[place] : NULL;

    if (key->kind == BAR) {
        set_bars(r, setting, key, lab, place);
        return;
    }
    if (!set_value(key, setting->value, (char *) (lab ? (void *) lab : r->course) + key->offset))
        mistake(r, setting->line, "%s = %s: expected %s%s", setting->key,
                key->secret ? "..." : setting->value, key->kind == WORD ? "one of: " : "",
                key->allowed);
    if (lab && key->kind == TIME)
        lab->policy.has_deadline = true;
}

static bool is_repeated(Reading *r, int at)
{
    const Setting *s = &r->settings[at];

    for (int i = 0; i < at; i++)
        if (r->settings[i].section == s->section && !strcmp(r->settings[i].key, s->key)) {
            mistake(r, s->line, "%s is already set in line %d", s->key, r->settings[i].line);
            return true;
        }
    return false;
}

/* Applies the settings of the course and of all labs (if `first`), or of single labs. */
static void apply_all(Reading *r, bool first)
{
    char names[300];

    for (int i = 0; i < r->count; i++) {
        const Setting *s = &r->settings[i];
        const Key *key = key_of(s);
        int before = r->faults;
        if ((s->section < 0) != first || is_repeated(r, i))
            continue;
        if (!key)
            mistake(r, s->line, "unknown key %s in this section; allowed keys: %s", s->key,
                    keys_of(s->section, names, sizeof names));
        else if (key->kind == BAR && s->section == EVERY_LAB)
            mistake(r, s->line, "%s: set a bar in the section of its lab", s->key);
        else if (s->section != EVERY_LAB)
            apply(r, s, key, s->section);
        else
            for (int lab = 0; lab < COURSE_LABS && all_labs[lab].folder && r->faults == before;
                 lab++)
                apply(r, s, key, lab);
    }
}

/* ---- Lines ---- */

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && isspace((unsigned char) end[-1]))
        *--end = 0;
    while (isspace((unsigned char) *text))
        text++;
    return text;
}

static int section_named(Reading *r, int line, const char *name)
{
    const LabEntry *entry = lab_find(name);
    char names[400] = "";

    if (!strcmp(name, "course"))
        return THE_COURSE;
    if (!strcmp(name, "all"))
        return EVERY_LAB;
    if (entry && entry - all_labs < COURSE_LABS)
        return (int) (entry - all_labs);
    for (entry = all_labs; entry->folder; entry++)
        APPEND(names, ", %s", entry->folder);
    mistake(r, line, "unknown section [%s]; the sections are: course, all%s", name, names);
    return NO_SECTION;
}

/* Finds the `=` after the key. In "bar of d = 64 = 0.8" it is the second one: a case's label may
 * contain " = ". */
static char *find_equals(char *line)
{
    return !strncmp(line, "bar of ", 7) ? strrchr(line, '=') : strchr(line, '=');
}

static void take_setting(Reading *r, int number, int section, char *line)
{
    char *equals = find_equals(line), *key, *value;
    Setting *s = &r->settings[r->count];

    if (!equals) {
        mistake(r, number, "%.60s: neither [section] nor key = value", line);
        return;
    }
    *equals = 0;
    key = trim(line);
    value = trim(equals + 1);
    if (section == NO_SECTION || r->count == SETTINGS)
        return;
    if (strlen(key) >= sizeof s->key || strlen(value) >= sizeof s->value) {
        mistake(r, number, "%.60s: the value is too long", key);
        return;
    }
    *s = (Setting){ .line = number, .section = section };
    PUT(s->key, "%s", key);
    PUT(s->value, "%s", value);
    r->count++;
}

static void take_lines(Reading *r, const char *text)
{
    char *copy = xstrdup(text), *rest = copy, *line;
    int number = 0, section = NO_SECTION;
    bool begun = false;

    if (!strncmp(rest, "\xef\xbb\xbf", 3)) /* the byte order mark that some editors write */
        rest += 3;
    while ((line = strsep(&rest, "\n"))) {
        number++;
        line = trim(line);
        if (!*line || *line == '#' || *line == ';')
            continue;
        if (*line == '[') {
            char *end = strchr(line, ']');
            begun = true;
            section = NO_SECTION;
            if (!end || end[1])
                mistake(r, number, "%.60s: a section must be [name], alone on its line", line);
            else
                section = section_named(r, number, (*end = 0, trim(line + 1)));
            continue;
        }
        if (!begun)
            mistake(r, number, "%.60s: comes before the first section, such as [all]", line);
        take_setting(r, number, section, line);
    }
    free(copy);
}

/* ---- Settings that must be consistent with each other ---- */

static int line_of(const Reading *r, int lab, const char *key)
{
    int line = 0;

    for (int i = 0; i < r->count; i++)
        if (!strcmp(r->settings[i].key, key) &&
            (r->settings[i].section == lab || (r->settings[i].section == EVERY_LAB && !line)))
            line = r->settings[i].line;
    return line;
}

static void check_together(Reading *r)
{
    int reported = 0;

    for (int lab = 0; lab < COURSE_LABS && all_labs[lab].folder; lab++) {
        const Policy *p = &r->course->lab[lab].policy;
        int line = line_of(r, lab, "late_cutoff");
        if (p->late_cutoff_s <= 0 || p->late_cutoff_s >= p->late_grace_s || line == reported)
            continue;
        reported = line;
        mistake(r, line, "late_cutoff: it is shorter than late_grace in %s", all_labs[lab].folder);
    }
}

/* ---- The whole file ---- */

void course_default(Course *course)
{
    *course = (Course){ 0 };
    for (int i = 0; i < COURSE_LABS; i++)
        course->lab[i].policy = policy_default;
}

static int by_line(const void *a, const void *b)
{
    return ((const Mistake *) a)->line - ((const Mistake *) b)->line;
}

static char *list_mistakes(Reading *r)
{
    char *text = NULL;
    size_t size;
    FILE *to = text_open(&text, &size);

    qsort(r->mistakes, (size_t) r->faults, sizeof *r->mistakes, by_line);
    for (int i = 0; i < r->faults; i++)
        fprintf(to, "%s:%d: %s\n", r->shown, r->mistakes[i].line, r->mistakes[i].text);
    text_close(to);
    return text;
}

static Reading *read_text(const char *text, const char *shown, Course *course)
{
    Reading *r = xcalloc(1, sizeof *r);

    r->shown = shown;
    r->course = course;
    course_default(course);
    take_lines(r, text);
    apply_all(r, true);
    apply_all(r, false);
    check_together(r);
    return r;
}

bool course_read(const char *text, const char *shown, Course *course, char **mistakes)
{
    Reading *r = read_text(text, shown, course);
    bool fine = r->faults == 0;

    *mistakes = fine ? NULL : list_mistakes(r);
    if (!fine)
        course_default(course);
    free(r);
    return fine;
}

/* Reads standard input, which may be a pipe, to its end. Returns NULL with errno set on failure. */
static char *read_stdin(size_t *size)
{
    char *text = xcalloc(1, COURSE_BYTES + 1);

    *size = fread(text, 1, COURSE_BYTES + 1, stdin);
    if (*size <= COURSE_BYTES && !ferror(stdin))
        return text;
    free(text);
    errno = *size > COURSE_BYTES ? EFBIG : EIO;
    return NULL;
}

bool course_load(const char *path, Course *course, char **text, char **mistakes)
{
    bool standard = !strcmp(path, "-");
    size_t size = 0;
    char why[600];

    *mistakes = NULL;
    *text = standard ? read_stdin(&size) : read_file(path, COURSE_BYTES, &size);
    if (*text && strlen(*text) == size) {
        if (course_read(*text, standard ? "standard input" : path, course, mistakes))
            return true;
    } else {
        course_default(course);
        PUT(why, "%s: %s\n", path,
            *text            ? "this is not a text file: it contains a byte 0"
            : errno == EFBIG ? "larger than 64 KiB, the limit for a course file"
                             : strerror(errno));
        *mistakes = xstrdup(why);
    }
    free(*text);
    *text = NULL;
    return false;
}

/* ---- Texts made from a course file ---- */

static const char *section_name(int section)
{
    return section == THE_COURSE  ? "course"
           : section == EVERY_LAB ? "all"
                                  : all_labs[section].folder;
}

char *course_public(const char *text)
{
    Course *course = xcalloc(1, sizeof *course);
    Reading *r = read_text(text, "", course);
    int section = NO_SECTION;
    char *result = NULL;
    size_t size;
    FILE *to = text_open(&result, &size);

    for (int i = 0; i < r->count; i++) {
        const Setting *s = &r->settings[i];
        const Key *key = key_of(s);
        if (!key || key->secret)
            continue;
        if (s->section != section)
            fprintf(to, "%s[%s]\n", section == NO_SECTION ? "" : "\n", section_name(s->section));
        section = s->section;
        fprintf(to, "%s = %s\n", s->key, s->value);
    }
    text_close(to);
    free(r);
    free(course);
    return result;
}
