/* parsed_result.h - what `warpbook grade LAB --format lines` printed (docs/lines.md), taken apart.
 */
#ifndef GRADEBOOK_STORE_PARSED_RESULT_H
#define GRADEBOOK_STORE_PARSED_RESULT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Pair {
    const char *key, *value; /* unescaped */
    bool of_lab;             /* from lab: on; else of the machine */
} Pair;

typedef struct ParsedResult {
    char *text; /* what keys and values lie in */
    Pair *pairs;
    int count;
} ParsedResult;

/* True if the text is whole, of format 1, and of this one lab. Else false, with `why`. */
bool parsed_take(const char *text, const char *lab, ParsedResult *reading, char *why, size_t size);
const char *parsed_get(const ParsedResult *reading, const char *key); /* "" if it is not there */
void parsed_free(ParsedResult *reading);

#endif
