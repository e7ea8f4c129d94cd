/* answer.c - reads numbers as people write them: in predictions and in the quiz. */
#include "learner/answer.h"
#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

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

/* True if the rest may follow a number: nothing, a unit ("32 sectors", "50%", "5 µs", "2x") or a
 * comment, but no further arithmetic ("3/4", "32 * 33", "32 x 33"). */
static bool is_unit(const char *rest)
{
    rest += strspn(rest, " \t");
    if (rest[0] == 'x' && isdigit((unsigned char) rest[1 + strspn(rest + 1, " \t(.+-")]))
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

/* ---- Units ---- */

/* Units of one quantity; a number in one of them is another number in the next. In questions, the
 * plain unit counts as well; in answers it is taken as a remark, like any other word. */
static const struct {
    const char *units, *plain;
    bool always; /* whatever the question asks for */
} quantities[] = {
    { "kB MB GB TB KiB MiB GiB kilobytes megabytes gigabytes", "byte bytes B", false },
    { "s sec seconds ms us \xc2\xb5s \xce\xbcs ns", "", false },
    { "kB/s MB/s GB/s TB/s", "B/s", false },
    { "MFLOP GFLOP TFLOP", "FLOP", false },
    { "k M G T Ki Mi Gi thousand million millions billion billions", "", true },
};

/* The next word of a text, in lower case: "GB/s"; false at the end. */
static bool next_word(const char **at, char *word, size_t size)
{
    size_t length = 0;
    const char *from = *at;

    while (*from && !isalpha((unsigned char) *from) && (unsigned char) *from < 0x80)
        from++;
    for (; isalpha((unsigned char) *from) || *from == '/' || (unsigned char) *from >= 0x80; from++)
        if (length + 1 < size)
            word[length++] = (char) tolower((unsigned char) *from);
    word[length] = 0;
    *at = from;
    return length > 0;
}

static bool is_unit_of(const char *units, const char *word)
{
    char unit[32];

    while (next_word(&units, unit, sizeof unit))
        if (!strcmp(unit, word))
            return true;
    return false;
}

/* Whether the question asks for the same quantity in other units only. */
static bool asks_otherwise(const char *question, size_t quantity, const char *given)
{
    char word[32];
    bool other = false;

    while (next_word(&question, word, sizeof word)) {
        if (!strcmp(word, given))
            return false;
        other |= is_unit_of(quantities[quantity].units, word) ||
                 is_unit_of(quantities[quantity].plain, word);
    }
    return other;
}

/* "MB" behind a number of bytes changes the number; "sectors" does not. */
static bool changes_number(const char *rest, const char *question)
{
    char word[32];

    rest += strspn(rest, " \t");
    if (!isalpha((unsigned char) *rest) && (unsigned char) *rest < 0x80)
        return false;
    next_word(&rest, word, sizeof word);
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
        if (is_unit_of(quantities[i].units, word) &&
            (quantities[i].always ? !is_unit_of(question, word)
                                  : asks_otherwise(question, i, word)))
            return true;
    return false;
}

/* ---- Numbers ---- */

/* Skips what people write before a number: "line 22", "kernel.cu:22", "~4", "about 4". */
static const char *skip_words(const char *text)
{
    static const char *const words[] = { "line", "kernel.cu:", "about", "~", "=", "#" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        text += strspn(text, " \t");
        if (!strncasecmp(text, words[i], strlen(words[i])))
            text += strlen(words[i]);
    }
    return text + strspn(text, " \t");
}

bool answer_number(const char *text, const char *question, double *value, bool *percent)
{
    char plain[ANSWER_MOST];
    const char *end;
    size_t used;

    text = skip_words(text);
    used = without_commas(text, plain, sizeof plain);
    end = read_hex(plain, value);
    end = end ? end : parse_prefix(plain, value);
    if (!end)
        return false;
    text = *end ? end : text + used;
    *percent = text[strspn(text, " \t")] == '%';
    return is_unit(text) && !changes_number(text, question);
}

double answer_of_percent(double value, double expected)
{
    return fabs(value / 100 - expected) < fabs(value - expected) ? value / 100 : value;
}
