/* keys.h - the keys of `make watch`, and how bytes from a terminal become keys. */
#ifndef LEARNER_WATCH_KEYS_H
#define LEARNER_WATCH_KEYS_H

#include <stddef.h>

/* Keys that are more than one byte. */
enum {
    KEY_NONE = -1,
    KEY_ENTER = '\n',
    KEY_BACKSPACE = 8,
    KEY_ESCAPE = 27,
    KEY_DELETE = 127,
    KEY_UP = 256,
    KEY_DOWN,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN
};

typedef enum Action {
    ACT_NONE,
    ACT_NEXT,
    ACT_HINT,
    ACT_EXPLAIN,
    ACT_SEE,
    ACT_PREDICTIONS,
    ACT_LIST,
    ACT_RESET,
    ACT_GRADE,
    ACT_QUIT,
    ACT_BACK,
    ACT_HELP,
    ACT_LINE_UP,
    ACT_LINE_DOWN,
    ACT_PAGE_UP,
    ACT_PAGE_DOWN
} Action;

/* A row for each key; `word` is NULL if the key is not in the line at the bottom. */
typedef struct Key {
    int key;
    Action action;
    const char *word;
} Key;

extern const Key watch_keys[]; /* ends with key 0 */

Action key_action(int key);

/* Takes the first key from `size` bytes and sets how many it uses; 0: the bytes are only the
 * beginning of a key. KEY_NONE: a sequence without a meaning here. */
int key_read(const char *bytes, size_t size, size_t *used);

/* What each key does, a line each, for the key ?. */
extern const char watch_help[];

/* The keys as "n next  h hint  ...", broken into lines of at most `columns`. Returns the buffer. */
char *keys_line(int columns, char *text, size_t size);

#endif
