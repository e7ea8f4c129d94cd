/* parsed_result.h - parses the output of `warpbook grade LAB --format lines` (docs/lines.md). */
#ifndef GRADEBOOK_STORE_PARSED_RESULT_H
#define GRADEBOOK_STORE_PARSED_RESULT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Pair {
    const char *key, *value; /* unescaped */
    bool of_lab;             /* it follows `lab:`; otherwise it describes the machine */
} Pair;

typedef struct ParsedResult {
    char *text; /* storage of keys and values */
    Pair *pairs;
    int count;
} ParsedResult;

/* Returns true if the text is complete, in format 1 and only about this lab; otherwise sets
 * `why`. */
bool parsed_read(const char *text, const char *lab, ParsedResult *result, char *why, size_t size);
const char *parsed_get(const ParsedResult *result, const char *key); /* "" if missing */
void parsed_free(ParsedResult *result);

#endif
