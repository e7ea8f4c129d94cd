/* names.h - compares people's names. */
#ifndef GRADEBOOK_IMPORT_NAMES_H
#define GRADEBOOK_IMPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_WORDS = 12 };

/* A name's letters and digits without separators, and where its words begin. */
typedef struct PlainName {
    char text[256];
    size_t begins[NAME_WORDS], length;
    int words;
    unsigned sum; /* equal for equal names, whatever their order */
} PlainName;

void plain_name(const char *name, PlainName *plain);
bool same_plain(const PlainName *a, const PlainName *b);

/* Jane Doe, "Doe, Jane", jane_doe, doejane and JaneDoe are the same name: the same words, rotated,
 * with any separators. */
bool same_name(const char *a, const char *b);

#endif
