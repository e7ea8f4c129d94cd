/* words.h - commands, word by word. */
#ifndef GRADEBOOK_BASE_WORDS_H
#define GRADEBOOK_BASE_WORDS_H

#include <stdbool.h>

typedef struct Words { /* ended by NULL; the words are its own. Begins as { 0 } */
    char **word;
    int count, room;
} Words;

void words_add(Words *words, const char *word);
void words_add_all(Words *words, const char *const list[]); /* which NULL ends */
bool words_hold(const Words *words, const char *word);
void words_free(Words *words);

#endif
