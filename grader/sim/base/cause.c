/* cause.c - the names of causes. */
#include "sim/base/cause.h"

#include <string.h>

#define CAUSE_KEY(name, key, words)   key,
#define CAUSE_WORDS(name, key, words) words,
const char *const cause_keys[CAUSES] = { CAUSE_ROWS(CAUSE_KEY) };
const char *const cause_words[CAUSES] = { CAUSE_ROWS(CAUSE_WORDS) };

static int cause_of(const char *word, size_t length)
{
    for (int i = 0; i < CAUSES; i++)
        if (strlen(cause_keys[i]) == length && !memcmp(cause_keys[i], word, length))
            return i;
    return -1;
}

bool causes_read(const char *text, CauseSet *set)
{
    *set = 0;
    for (;;) {
        const size_t length = strcspn(text, ",");
        const int cause = cause_of(text, length);
        if (cause < 0)
            return false;
        *set |= 1u << cause;
        if (!text[length])
            return true;
        text += length + 1;
    }
}
