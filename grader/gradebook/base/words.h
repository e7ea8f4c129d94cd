/* words.h - lists of words, such as a command line. */
#ifndef GRADEBOOK_BASE_WORDS_H
#define GRADEBOOK_BASE_WORDS_H

#include <stdbool.h>

typedef struct Words { /* NULL-terminated; owns its words. Starts as { 0 } */
    char **word;
    int count, capacity;
} Words;

void words_add(Words *words, const char *word);
void words_add_all(Words *words, const char *const list[]); /* NULL-terminated */
bool words_hold(const Words *words, const char *word);
void words_free(Words *words);

#endif
