/* words.c - lists of words, such as a command line. */
#include "gradebook/base/words.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

void words_add(Words *words, const char *word)
{
    if (words->count + 1 >= words->capacity) {
        words->capacity = words->capacity ? 2 * words->capacity : 64;
        words->word = xrealloc(words->word, (size_t) words->capacity, sizeof *words->word);
    }
    words->word[words->count++] = word ? xstrdup(word) : NULL;
    words->word[words->count] = NULL;
}

void words_add_all(Words *words, const char *const list[])
{
    for (; *list; list++)
        words_add(words, *list);
}

bool words_hold(const Words *words, const char *word)
{
    for (int i = 0; i < words->count; i++)
        if (!strcmp(words->word[i], word))
            return true;
    return false;
}

void words_free(Words *words)
{
    for (int i = 0; i < words->count; i++)
        free(words->word[i]);
    free(words->word);
    *words = (Words){ 0 };
}
