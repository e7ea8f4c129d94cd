/* parsed_result.c - parses the output of `warpbook grade LAB --format lines` (docs/lines.md). */
#include "gradebook/store/parsed_result.h"
#include "gradebook/import/submission.h"
#include "base/util.h"
#include "base/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 4096 };

/* Unescapes the format's "\n" and "\\"; unprintable characters become '?'. */
static const char *unescape(char *value)
{
    char *to = value;

    for (const char *at = value; *at; at++) {
        if (at[0] == '\\' && at[1] == 'n')
            *to++ = '\n', at++;
        else if (at[0] == '\\' && at[1] == '\\')
            *to++ = '\\', at++;
        else
            *to++ = *at;
    }
    *to = 0;
    for (char *line = value; line;) { /* show() would replace the line ends, too */
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        show(line);
        if (end)
            *end = '\n';
        line = end ? end + 1 : NULL;
    }
    return value;
}

const char *parsed_get(const ParsedResult *result, const char *key)
{
    for (int i = 0; i < result->count; i++)
        if (!strcmp(result->pairs[i].key, key))
            return result->pairs[i].value;
    return "";
}

static bool split(ParsedResult *result, char *why, size_t size)
{
    bool of_lab = false;

    for (char *line = result->text; *line;) {
        char *end = strchr(line, '\n'), *colon;
        if (!end) {
            put(why, size, "its last line is incomplete");
            return false;
        }
        *end = 0;
        colon = strchr(line, ':');
        if (!colon || result->count == PAIRS) {
            put(why, size, "cannot parse this line of its output: %.60s", show(line));
            return false;
        }
        *colon = 0;
        of_lab |= !strcmp(line, "lab");
        if (*parsed_get(result, line)) {
            put(why, size, "its output has this key twice: %.60s", show(line));
            return false;
        }
        result->pairs[result->count++] = (Pair){ line, unescape(colon + 1), of_lab };
        line = end + 1;
    }
    return true;
}

bool parsed_read(const char *text, const char *lab, ParsedResult *result, char *why, size_t size)
{
    Verdict verdict;

    *result = (ParsedResult){ .text = xstrdup(text), .pairs = xcalloc(PAIRS, sizeof(Pair)) };
    if (!split(result, why, size))
        return false;
    if (!result->count)
        put(why, size, "it printed no result");
    else if (strcmp(parsed_get(result, "format"), "1"))
        put(why, size, "its result is not in format 1");
    else if (strcmp(parsed_get(result, "lab"), lab))
        put(why, size, "its result is for another lab");
    else if (strcmp(parsed_get(result, "end"), lab) ||
             strcmp(result->pairs[result->count - 1].key, "end"))
        put(why, size, "its result is incomplete");
    else if (!verdict_from_word(parsed_get(result, "verdict"), &verdict))
        put(why, size, "its result has no known verdict");
    else
        return true;
    return false;
}

void parsed_free(ParsedResult *result)
{
    free(result->text);
    free(result->pairs);
    *result = (ParsedResult){ 0 };
}
