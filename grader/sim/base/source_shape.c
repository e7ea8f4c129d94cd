/* source_shape.c - finds declarations of arrays in a source, and evaluates their sizes.
 *
 * It does not parse C++: it recognises what kernels usually contain, and gives up elsewhere. A
 * wrong guess would mislead, so a shape counts only if all of it is understood.
 */
#include "sim/base/source_shape.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME = 80, DEPTH = 8, STEPS = 1000, STATEMENT = 4096, SOURCE_BYTES = 1 << 20 };
static const long most = 1 << 24;

static bool is_word(char c)
{
    return isalnum((unsigned char) c) || c == '_';
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* The next place after `from` where the word stands alone. */
static const char *find_word(const char *source, const char *from, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = from; (at = strstr(at, word)); at++)
        if ((at == source || !is_word(at[-1])) && !is_word(at[length]))
            return at;
    return NULL;
}

/* ---- Expressions ---- */

typedef struct Expression {
    const char *source, *at;
    int depth;
    bool unknown;
    int *steps; /* that are left for all expressions: the source may be hostile */
} Expression;

static long sum(Expression *e);

/* The value of an enumerator, a constant or a macro. */
static long value_of(Expression *e, const char *name)
{
    for (const char *at = e->source; (at = find_word(e->source, at, name)); at++) {
        const char *after = skip_blanks(at + strlen(name));
        const bool macro = at - e->source >= 8 && !strncmp(at - 8, "#define ", 8);
        const bool constant = *after == '=' && after[1] != '=';
        if (!macro && !constant)
            continue;
        Expression inner = { e->source, after + constant, e->depth + 1, e->depth >= DEPTH,
                             e->steps };
        long value = inner.unknown ? 0 : sum(&inner);
        e->unknown |= inner.unknown || (constant && !strchr(",;}", *skip_blanks(inner.at)));
        return value;
    }
    e->unknown = true;
    return 0;
}

static long factor(Expression *e)
{
    char name[NAME];
    size_t length = 0;
    long value;

    if (--*e->steps < 0) {
        e->unknown = true;
        return 0;
    }
    e->at = skip_blanks(e->at);
    if (*e->at == '(') {
        e->at++;
        value = sum(e);
        e->at = skip_blanks(e->at);
        e->unknown |= *e->at != ')';
        e->at += *e->at == ')';
        return value;
    }
    if (isdigit((unsigned char) *e->at)) {
        char *end;
        value = strtol(e->at, &end, 0);
        e->at = end + strspn(end, "uUlL");
        e->unknown |= value > most || is_word(*e->at) || *e->at == '.';
        return value;
    }
    while (is_word(e->at[length]) && length + 1 < sizeof name)
        length++;
    snprintf(name, sizeof name, "%.*s", (int) length, e->at);
    e->at += length;
    if (length)
        return value_of(e, name);
    e->unknown = true;
    return 0;
}

static long product(Expression *e)
{
    long value = factor(e);

    for (e->at = skip_blanks(e->at); !e->unknown && *e->at && strchr("*/%", *e->at);
         e->at = skip_blanks(e->at)) {
        const char operation = *e->at++;
        const long by = factor(e);
        e->unknown |= (operation != '*' && !by) || labs(value) > most || labs(by) > most;
        if (!e->unknown)
            value = operation == '*' ? value * by : operation == '/' ? value / by : value % by;
        e->unknown |= labs(value) > most;
    }
    return value;
}

static long sum(Expression *e)
{
    long value = product(e);

    for (e->at = skip_blanks(e->at); !e->unknown && (*e->at == '+' || *e->at == '-');
         e->at = skip_blanks(e->at)) {
        const bool minus = *e->at++ == '-';
        const long by = product(e);
        value += minus ? -by : by;
        e->unknown |= labs(value) > most;
    }
    return value;
}

/* ---- Declarations ---- */

/* Whether the statement that contains this place has the word __shared__ before it. */
static bool is_declared(const char *source, const char *at)
{
    const char *begin = at;

    while (begin > source && at - begin < STATEMENT && !strchr(";{}", begin[-1]))
        begin--;
    for (const char *word = begin; (word = strstr(word, "__shared__")); word++)
        return word < at;
    return false;
}

/* The dimensions after the name; 0: one of them is unknown. */
static int dimensions(const char *source, const char *at, int *steps, long dims[SHAPE_DIMS])
{
    int count = 0;

    for (at = skip_blanks(at); *at == '['; at = skip_blanks(at)) {
        Expression e = { source, at + 1, 0, false, steps };
        const long value = sum(&e);
        if (e.unknown || value < 1 || *e.at != ']' || count == SHAPE_DIMS)
            return 0;
        dims[count++] = value;
        at = e.at + 1;
    }
    return count;
}

int source_shape(const char *source, const char *name, long dims[SHAPE_DIMS])
{
    long other[SHAPE_DIMS] = { 0 };
    int count = 0, steps = STEPS;

    memset(dims, 0, SHAPE_DIMS * sizeof *dims);
    for (const char *at = source; (at = find_word(source, at, name)); at++) {
        const char *after = at + strlen(name);
        if (*skip_blanks(after) != '[' || !is_declared(source, at))
            continue;
        memset(other, 0, sizeof other);
        const int found = dimensions(source, after, &steps, count ? other : dims);
        if (!found || (count && (found != count || memcmp(other, dims, sizeof other))))
            return 0;
        count = found;
    }
    return count;
}

/* ---- Sentences ---- */

/* "[33]" or "[32..35]" becomes "[1][0]" or "[1][0..3]". Returns the end of the index, or NULL. */
static const char *rewrite(const char *at, const long *dims, int count, char *text, size_t size)
{
    char *end;
    long first = strtol(at + 1, &end, 10), last = first, inner = 1;
    size_t used = 0;

    if (end == at + 1 || first < 0)
        return NULL;
    if (!strncmp(end, "..", 2))
        last = strtol(end + 2, &end, 10);
    const long more = last - first;
    if (*end != ']')
        return NULL;
    for (int i = 1; i < count; i++) {
        if (dims[i] < 1 || dims[i] > most / inner)
            return NULL;
        inner *= dims[i];
    }
    for (int i = 0; i < count && used < size; i++) {
        const long index = first / inner;
        used += (size_t) snprintf(text + used, size - used, "[%ld", index);
        if (i == count - 1 && more > 0 && used < size)
            used += (size_t) snprintf(text + used, size - used, "..%ld", index + more);
        if (used < size)
            used += (size_t) snprintf(text + used, size - used, "]");
        first %= inner;
        inner = i + 1 < count ? inner / dims[i + 1] : 1;
    }
    return used < size ? end + 1 : NULL;
}

void source_shape_sentence(const char *source, char *text, size_t size)
{
    char name[NAME], index[NAME];
    long dims[SHAPE_DIMS];

    for (char *at = text; (at = strchr(at, '`')); at++) {
        const size_t length = strcspn(at + 1, "[`"), before = (size_t) (at + 1 - text) + length;
        if (at[1 + length] != '[' || length + 1 > sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int) length, at + 1);
        const int count = source_shape(source, name, dims);
        const char *end =
            count > 1 ? rewrite(at + 1 + length, dims, count, index, sizeof index) : NULL;
        if (!end || before + strlen(index) + strlen(end) >= size)
            continue;
        memmove(text + before + strlen(index), end, strlen(end) + 1);
        memcpy(text + before, index, strlen(index));
        at = text + before;
    }
}

void source_shape_file(const char *path, char *text, size_t size)
{
    struct stat about;
    FILE *file = !stat(path, &about) && S_ISREG(about.st_mode) ? fopen(path, "r") : NULL;
    char *source = file ? malloc(SOURCE_BYTES + 1) : NULL;

    if (source) {
        source[fread(source, 1, SOURCE_BYTES, file)] = 0;
        source_shape_sentence(source, text, size);
    }
    free(source);
    if (file)
        fclose(file);
}
