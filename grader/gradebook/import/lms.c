/* lms.c - finds a submission's owner from the file names that learning systems use.
 *
 * Each layout is a row of the table and parses the name of the top folder or file. The part that a
 * student can choose (a file's own name) follows the system's part, so the system's part is read
 * from the left, up to the first match.
 */
#include "gradebook/import/lms.h"
#include "base/util.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <yaml.h>

/* ---- The names ---- */

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* The next mark of Moodle in a name; *end is what follows it. */
static const char *moodle_mark(const char *text, const char **end, bool *is_text)
{
    static const char mark[] = "_assignsubmission_";
    static const char *const kinds[] = { "file", "onlinetext" };

    for (; (text = strstr(text, mark)); text++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (!strncmp(text + strlen(mark), kinds[i], strlen(kinds[i]))) {
                *end = text + strlen(mark) + strlen(kinds[i]);
                *is_text = i == 1;
                return text;
            }
    return NULL;
}

/* NAME_123456_assignsubmission_file_ (a folder; some versions omit the last underscore), or the
 * same before a file's own name. NAME may contain anything. If the mark occurs twice in a folder's
 * name, Moodle wrote the last one. In a file's name either is possible, since the student chooses
 * both NAME and the file's name: such a file is kept separate, under its whole name. Text that the
 * student typed into Moodle is in NAME_123456_assignsubmission_onlinetext_. */
static bool moodle(const char *top, bool is_folder, Owner *owner)
{
    const char *file, *at = moodle_mark(top, &file, &owner->is_text), *number, *next;

    if (!at)
        return false;
    while ((next = moodle_mark(at + 1, &file, &owner->is_text))) {
        if (!is_folder)
            return false;
        at = next;
    }
    number = at;
    while (number > top && isdigit((unsigned char) number[-1]))
        number--;
    if (number == at || number - top < 2 || number[-1] != '_' || (*file && *file != '_'))
        return false;
    file += *file == '_';
    if (is_folder ? *file : !*file)
        return false;
    PUT(owner->student, "%.*s", (int) (number - 1 - top), top);
    PUT(owner->number, "%.*s", (int) (at - number), number);
    PUT(owner->file, "%s", file);
    return true;
}

/* The length of an anonymous student, anon_aB3dE; 0: none. */
static size_t anonymous(const char *top)
{
    size_t length = 0;

    if (strncmp(top, "anon_", 5))
        return 0;
    while (isalnum((unsigned char) top[5 + length]))
        length++;
    return length == 5 && top[10] == '_' ? 10 : 0;
}

/* doejane_LATE_12345_67890_lab6-1.zip: the name in lower case, LATE if it is late, the numbers of
 * the student and the file, and -1, -2 for resubmissions. Always files. In an anonymous assignment
 * anon_aB3dE_67890_lab6.zip: name and number are replaced. */
static bool canvas(const char *top, bool is_folder, Owner *owner)
{
    size_t hidden = anonymous(top), name = hidden ? hidden : strcspn(top, "_"), number, file;
    const char *at = top + name;
    bool late = !strncmp(at, "_LATE_", 6) || !strncmp(at, "_late_", 6);

    if (is_folder || !name || !*at)
        return false;
    at += late ? 6 : 1;
    number = hidden ? 0 : digits(at);
    if (!hidden && (!number || number > 18 || at[number] != '_'))
        return false;
    at += hidden ? 0 : number + 1;
    file = digits(at);
    if (!file || file > 18 || at[file] != '_' || !at[file + 1])
        return false;
    PUT(owner->student, "%.*s", (int) name, top);
    PUT(owner->number, "%.*s", (int) number, at - (hidden ? 0 : number + 1));
    PUT(owner->file, "%s", at + file + 1);
    owner->late = late;
    owner->order = strtoll(at, NULL, 10);
    return true;
}

/* The folder submission_123456789; submission_metadata.yml next to it contains the students'
 * names. */
static bool gradescope(const char *top, bool is_folder, Owner *owner)
{
    static const char mark[] = "submission_";
    const char *number = top + strlen(mark);

    if (!is_folder || strncmp(top, mark, strlen(mark)) || !digits(number) || number[digits(number)])
        return false;
    PUT(owner->student, "%s", top);
    PUT(owner->file, "%s", "");
    owner->order = digits(number) < 19 ? strtoll(number, NULL, 10) : 0;
    return true;
}

/* A folder or archive with the student's name. */
static bool plain(const char *top, bool is_folder, Owner *owner)
{
    static const char *const ends[] = { ".zip",     ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2",
                                        ".tar.zst", ".tar", ".rar",    ".7z",     ".zipx" };
    size_t length = strlen(top);

    for (size_t i = 0; !is_folder && i < sizeof ends / sizeof *ends; i++) {
        size_t tail = strlen(ends[i]);
        if (length > tail && !strcasecmp(top + length - tail, ends[i])) {
            length -= tail;
            break;
        }
    }
    PUT(owner->student, "%.*s", (int) length, top);
    if (length >= sizeof owner->student) /* two long names stay apart */
        PUT(owner->number, "%016" PRIx64, hash_bytes(HASH_START, top, length));
    PUT(owner->file, "%s", is_folder ? "" : top);
    return true;
}

static const struct {
    const char *layout;
    bool (*matches)(const char *top, bool is_folder, Owner *owner);
} layouts[] = {
    { "moodle", moodle },
    { "gradescope", gradescope },
    { "canvas", canvas },
    { "plain", plain }, /* last, since it accepts everything */
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

void lms_owner(const char *top, bool is_folder, Owner *owner)
{
    for (size_t i = 0; i < LAYOUTS; i++) {
        *owner = (Owner){ .layout = layouts[i].layout };
        if (layouts[i].matches(top, is_folder, owner))
            return;
    }
}

bool lms_knows(const char *top, bool is_folder)
{
    Owner owner = { 0 };

    for (size_t i = 0; i + 1 < LAYOUTS; i++)
        if (layouts[i].matches(top, is_folder, &owner))
            return true;
    return false;
}

/* ---- submission_metadata.yml ---- */

/* 2026-10-01 12:30:00.123456000 Z, or 2026-10-01T12:30:00-07:00: seconds since 1970; 0 if it is not
 * a date. */
static int64_t yaml_time(const char *text)
{
    struct tm when = { 0 };
    int east_h = 0, east_m = 0;
    const char *zone;
    char separator;

    if (sscanf(text, "%4d-%2d-%2d%c%2d:%2d:%2d", &when.tm_year, &when.tm_mon, &when.tm_mday,
               &separator, &when.tm_hour, &when.tm_min, &when.tm_sec) != 7)
        return 0;
    when.tm_year -= 1900;
    when.tm_mon -= 1;
    zone = strlen(text) > 19 ? strpbrk(text + 19, "+-") : NULL;
    if (zone && sscanf(zone + 1, "%2d:%2d", &east_h, &east_m) < 1)
        return 0;
    return (int64_t) timegm(&when) -
           (zone && *zone == '-' ? -1 : 1) * (int64_t) (east_h * 3600 + east_m * 60);
}

/* True if the submission was in this folder. A folder that contains archives has several
 * submissions. */
static bool is_in_folder(const Submission *submission, const char *folder)
{
    size_t length = strlen(folder);

    return !strcmp(submission->layout, "gradescope") &&
           !strncmp(submission->source, folder, length) &&
           (!submission->source[length] || submission->source[length] == '/');
}

enum { MEMBERS = 32 };
typedef struct Group {
    char folder[200];
    char name[MEMBERS][200], number[MEMBERS][64], email[MEMBERS][200];
    int members;
    int64_t sent;
} Group;

static void assign_members(Class *class, const Group *group)
{
    int before = class->count;

    for (int i = 0; group->members && i < before; i++) {
        if (!is_in_folder(class->list[i], group->folder))
            continue;
        class->list[i]->sent = group->sent ? group->sent : class->list[i]->sent;
        class->list[i]->timed |= group->sent != 0;
        for (int m = group->members; m-- > 0;) {
            Submission *submission = m ? class_copy(class, class->list[i]) : class->list[i];
            PUT(submission->student, "%s", group->name[m]);
            PUT(submission->number, "%s", group->number[m]);
            PUT(submission->email, "%s", group->email[m]);
        }
    }
}

/* Two people with the same name and no student number stay separate: the e-mail address, or else
 * the path of the submission, becomes their number. */
static void make_distinct_people(Class *class)
{
    bool *shared = xcalloc((size_t) class->count + 1, sizeof *shared);

    for (int i = 0; i < class->count; i++)
        for (int k = 0; k < class->count && !class->list[i]->number[0]; k++)
            shared[i] |= k != i && !class->list[k]->number[0] &&
                         !strcmp(class->list[i]->student, class->list[k]->student);
    for (int i = 0; i < class->count; i++)
        if (shared[i])
            PUT(class->list[i]->number, "%.63s",
                class->list[i]->email[0] ? class->list[i]->email : class->list[i]->source);
    free(shared);
}

/* The value of a key in a mapping; NULL if missing. */
static yaml_node_t *value_of(yaml_document_t *yaml, const yaml_node_t *mapping, const char *key)
{
    if (!mapping || mapping->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *node = yaml_document_get_node(yaml, pair->key);
        if (node && node->type == YAML_SCALAR_NODE &&
            !strcmp((const char *) node->data.scalar.value, key))
            return yaml_document_get_node(yaml, pair->value);
    }
    return NULL;
}

/* Copies a scalar as printable text; "" for any other node. */
static char *copy_text(const yaml_node_t *node, char *text, size_t size)
{
    bool scalar = node && node->type == YAML_SCALAR_NODE;

    show_apart(scalar ? (const char *) node->data.scalar.value : "", text, size);
    return text;
}

static void read_members(yaml_document_t *yaml, const yaml_node_t *list, Group *group)
{
    if (!list || list->type != YAML_SEQUENCE_NODE)
        return;
    for (yaml_node_item_t *item = list->data.sequence.items.start;
         item < list->data.sequence.items.top && group->members < MEMBERS; item++) {
        const yaml_node_t *member = yaml_document_get_node(yaml, *item);
        int m = group->members;
        copy_text(value_of(yaml, member, ":name"), group->name[m], sizeof group->name[m]);
        copy_text(value_of(yaml, member, ":sid"), group->number[m], sizeof group->number[m]);
        copy_text(value_of(yaml, member, ":email"), group->email[m], sizeof group->email[m]);
        group->members += group->name[m][0] != 0;
    }
}

static void read_submission(yaml_document_t *yaml, const yaml_node_pair_t *pair, Class *class)
{
    Group *group = xcalloc(1, sizeof *group);
    const yaml_node_t *submission = yaml_document_get_node(yaml, pair->value);
    char time[64];

    copy_text(yaml_document_get_node(yaml, pair->key), group->folder, sizeof group->folder);
    read_members(yaml, value_of(yaml, submission, ":submitters"), group);
    group->sent =
        yaml_time(copy_text(value_of(yaml, submission, ":created_at"), time, sizeof time));
    if (!strncmp(group->folder, "submission_", 11))
        assign_members(class, group);
    free(group);
}

void lms_gradescope(Class *class, const char *text)
{
    yaml_parser_t parser;
    yaml_document_t yaml;
    const yaml_node_t *root;

    if (!yaml_parser_initialize(&parser))
        die("out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *) text, strlen(text));
    if (yaml_parser_load(&parser, &yaml)) {
        root = yaml_document_get_root_node(&yaml);
        for (yaml_node_pair_t *pair =
                 root && root->type == YAML_MAPPING_NODE ? root->data.mapping.pairs.start : NULL;
             pair && pair < root->data.mapping.pairs.top; pair++)
            read_submission(&yaml, pair, class);
        yaml_document_delete(&yaml);
    } else {
        REMARK(class, "refused", "submission_metadata.yml",
               "it is not valid YAML (line %zu), so names and times are unknown",
               parser.problem_mark.line + 1);
    }
    yaml_parser_delete(&parser);
    make_distinct_people(class);
}
