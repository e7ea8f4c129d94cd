/* answer.c - reads numbers as people write them: in predictions and in the quiz. */
#include "learner/answer.h"
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ANSWER_MOST = 512 };

/* Accepts digits in groups of three: "4,224", "1,048,576". Copies a number's text without these
 * commas; returns how many bytes of `text` it used. */
static size_t without_commas(const char *text, char *plain, size_t size)
{
    size_t from = 0, to = 0, digits = 0;

    while (text[from] && !isspace((unsigned char) text[from]) && to + 1 < size) {
        bool group = text[from] == ',' && digits > 0 && digits <= 3 &&
                     strspn(text + from + 1, "0123456789") == 3;
        if (!group)
            plain[to++] = text[from];
        digits = isdigit((unsigned char) text[from]) ? digits + 1 : 0;
        from++;
    }
    plain[to] = 0;
    return from;
}

/* True if the rest may follow a number: nothing, a unit ("32 sectors", "50%", "5 µs") or a comment,
 * but no further arithmetic ("3/4", "32 * 33", "2x"). */
static bool is_unit(const char *rest)
{
    rest += strspn(rest, " \t");
    if (rest[0] == 'x' && !isalpha((unsigned char) rest[1]))
        return false;
    return !*rest || isalpha((unsigned char) *rest) || strchr("%#(", *rest) ||
           (unsigned char) *rest >= 0x80;
}

/* Reads "0x20", which students who have just read an address may write. */
static const char *read_hex(const char *plain, double *value)
{
    uint64_t whole;

    if (strncmp(plain, "0x", 2) || !parse_whole(plain + 2, 16, 1ull << 53, &whole))
        return NULL;
    *value = (double) whole;
    return plain + strlen(plain);
}

bool answer_number(const char *text, double *value, bool *percent)
{
    char plain[ANSWER_MOST];
    const char *end;
    size_t used = without_commas(text, plain, sizeof plain);

    end = read_hex(plain, value);
    end = end ? end : parse_prefix(plain, value);
    if (!end)
        return false;
    text = *end ? end : text + used;
    *percent = text[strspn(text, " \t")] == '%';
    return is_unit(text);
}

double answer_of_percent(double value, double expected)
{
    return fabs(value / 100 - expected) < fabs(value - expected) ? value / 100 : value;
}
