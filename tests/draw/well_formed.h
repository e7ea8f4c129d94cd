/* well_formed.h - for tests: checks that a text is well-formed XML, as far as these pictures use
 * it. */
#ifndef DRAW_WELL_FORMED_H
#define DRAW_WELL_FORMED_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* After an ampersand: one of the five entities, or &#39;. */
static inline bool is_entity(const char *at)
{
    static const char *const entities[] = { "amp;", "lt;", "gt;", "quot;", "#39;" };

    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        if (!strncmp(at, entities[i], strlen(entities[i])))
            return true;
    return false;
}

/* Skips text or an attribute's value, up to `end`: no control characters, no bare markup. */
static inline const char *skip_text(const char *at, char end)
{
    for (; *at && *at != end; at++)
        if ((iscntrl((unsigned char) *at) && *at != '\n') || (unsigned char) *at > '~' ||
            *at == '<' || (*at == '&' && !is_entity(at + 1)))
            return NULL;
    return at;
}

/* Skips name="value" ..., up to > or />. */
static inline const char *skip_attributes(const char *at)
{
    while (*at == ' ') {
        at += 1 + strcspn(at + 1, "=> ");
        if (at[0] != '=' || at[1] != '"' || !(at = skip_text(at + 2, '"')) || *at++ != '"')
            return NULL;
    }
    return at;
}

static inline bool is_well_formed(const char *text)
{
    enum { DEEPEST = 16, LONGEST = 20 };
    char open[DEEPEST][LONGEST];
    int depth = 0;
    bool any = false;

    for (const char *at = text; *at;) {
        char name[LONGEST];
        size_t length;
        bool is_end;
        if (*at != '<') {
            if (!depth && *at != '\n')
                return false;
            if (!(at = skip_text(at, '<')))
                return false;
            continue;
        }
        is_end = at[1] == '/';
        at += 1 + is_end;
        length = strcspn(at, " />");
        if (!length || length >= LONGEST)
            return false;
        memcpy(name, at, length);
        name[length] = 0;
        if (!(at = skip_attributes(at + length)))
            return false;
        if (is_end && (!depth || strcmp(open[--depth], name)))
            return false;
        if (!is_end && *at != '/') {
            if (depth == DEEPEST)
                return false;
            strcpy(open[depth++], name);
        }
        at += !is_end && *at == '/';
        if (*at++ != '>')
            return false;
        any = true;
    }
    return any && !depth;
}

#endif
