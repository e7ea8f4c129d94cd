/* keys.c - the keys of `make watch`, and how bytes from a terminal become keys. */
#include "learner/watch/keys.h"
#include "base/util.h"

#include <string.h>

enum { CTRL_C = 3, CTRL_D = 4 };

const Key watch_keys[] = {
    { 'n', ACT_NEXT, "next" },
    { 'h', ACT_HINT, "hint" },
    { 'e', ACT_EXPLAIN, "explain" },
    { 's', ACT_SEE, "see" },
    { 'p', ACT_PREDICTIONS, "predict" },
    { 'l', ACT_LIST, "list" },
    { 'r', ACT_RESET, "reset" },
    { 'g', ACT_GRADE, "grade" },
    { 'q', ACT_QUIT, "quit" },
    { CTRL_C, ACT_QUIT, NULL },
    { CTRL_D, ACT_QUIT, NULL },
    { KEY_ENTER, ACT_BACK, NULL },
    { KEY_ESCAPE, ACT_BACK, NULL },
    { '?', ACT_HELP, NULL },
    { 'k', ACT_LINE_UP, NULL },
    { KEY_UP, ACT_LINE_UP, NULL },
    { 'j', ACT_LINE_DOWN, NULL },
    { KEY_DOWN, ACT_LINE_DOWN, NULL },
    { 'b', ACT_PAGE_UP, NULL },
    { KEY_PAGE_UP, ACT_PAGE_UP, NULL },
    { ' ', ACT_PAGE_DOWN, NULL },
    { KEY_PAGE_DOWN, ACT_PAGE_DOWN, NULL },
    { 0 },
};

const char watch_help[] = "Save kernel.cu: each save is graded here.\n\n"
                          "n      the next lab that is not done\n"
                          "h      the next hint; your last grading comes first\n"
                          "e      what limits your kernel, and which lines cost most\n"
                          "s      a page of what your kernel did, for a browser\n"
                          "p      your predictions, explained\n"
                          "l      the list of labs; a number and Enter turn to that lab\n"
                          "r      the starter back; your kernel is kept as a copy\n"
                          "g      grade again\n"
                          "q      quit\n"
                          "Enter  back to the result\n"
                          "space, b, arrows  scroll\n\n"
                          "After a pass, in a shell: make quiz, make compare\n";

Action key_action(int key)
{
    for (const Key *row = watch_keys; row->key; row++)
        if (row->key == key)
            return row->action;
    return ACT_NONE;
}

/* A control sequence: ESC, [ or O, parameters, a final byte. */
static int read_sequence(const char *bytes, size_t size, size_t *used)
{
    static const struct {
        const char *sequence;
        int key;
    } known[] = {
        { "[A", KEY_UP },   { "[B", KEY_DOWN },     { "OA", KEY_UP },
        { "OB", KEY_DOWN }, { "[5~", KEY_PAGE_UP }, { "[6~", KEY_PAGE_DOWN },
    };
    size_t end = 2;

    while (end < size && !(bytes[end] >= '@' && bytes[end] <= '~'))
        end++;
    *used = end < size ? end + 1 : 0;
    for (size_t i = 0; *used && i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].sequence) == *used - 1 &&
            !memcmp(bytes + 1, known[i].sequence, *used - 1))
            return known[i].key;
    return KEY_NONE;
}

int key_read(const char *bytes, size_t size, size_t *used)
{
    enum { LONGEST = 16 };

    *used = size > 0;
    if (!size)
        return KEY_NONE;
    if (bytes[0] == '\r')
        return KEY_ENTER;
    if (bytes[0] != KEY_ESCAPE || size == 1 || (bytes[1] != '[' && bytes[1] != 'O'))
        return (unsigned char) bytes[0];
    if (size > LONGEST)
        size = LONGEST;
    int key = read_sequence(bytes, size, used);
    if (!*used && size == LONGEST)
        *used = size;
    return key;
}

char *keys_line(int columns, char *text, size_t size)
{
    int used = 0;

    put(text, size, "%s", "");
    for (const Key *row = watch_keys; row->key; row++) {
        int width = row->word ? 2 + (int) strlen(row->word) : 0;
        bool fits = used + 2 + width <= columns;
        if (!row->word)
            continue;
        append(text, size, "%s%c %s", !used ? "" : fits ? "  " : "\n", row->key, row->word);
        used = used && fits ? used + 2 + width : width;
    }
    return text;
}
