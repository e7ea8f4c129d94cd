/* names.c - compares people's names. */
#include "gradebook/import/names.h"

#include <ctype.h>
#include <string.h>

/* The small letter for a capital one of two bytes in UTF-8: Latin, Greek and Cyrillic. Canvas
 * writes names in small letters. */
static unsigned small(unsigned c)
{
    if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) ||
        (c >= 0x410 && c <= 0x42f))
        return c + 0x20;
    if (c >= 0x400 && c <= 0x40f)
        return c + 0x50;
    if (c == 0x178)
        return 0xff;
    if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e))
        return c + (c & 1);
    return c >= 0x100 && c <= 0x177 && c != 0x130 && c != 0x131 ? c | 1 : c;
}

static void add_byte(PlainName *plain, unsigned c)
{
    plain->text[plain->length++] = (char) c;
    plain->sum += (c & 0xff) * (c & 0xff);
}

/* Adds the character at `name` in small letters, and returns its number of bytes. */
static size_t add_letter(PlainName *plain, const char *name)
{
    const unsigned char *at = (const unsigned char *) name;

    if ((at[0] & 0xe0) == 0xc0 && (at[1] & 0xc0) == 0x80) {
        unsigned c = small((at[0] & 0x1fu) << 6 | (at[1] & 0x3fu));
        add_byte(plain, 0xc0 | c >> 6);
        add_byte(plain, 0x80 | (c & 0x3f));
        return 2;
    }
    add_byte(plain, at[0] < 128 ? (unsigned) tolower(at[0]) : at[0]);
    return 1;
}

void plain_name(const char *name, PlainName *plain)
{
    bool within = false;

    *plain = (PlainName){ 0 };
    while (*name && plain->length + 2 < sizeof plain->text) {
        unsigned char c = (unsigned char) *name;
        if (c < 128 && !isalnum(c)) {
            within = false;
            name++;
            continue;
        }
        if (!within && plain->words < NAME_WORDS)
            plain->begins[plain->words++] = plain->length;
        within = true;
        name += add_letter(plain, name);
    }
}

/* True if `a` is `b` rotated to start at one of its words. */
static bool is_rotated(const PlainName *a, const PlainName *b)
{
    for (int word = 0; word < b->words; word++) {
        size_t begin = b->begins[word], rest = b->length - begin;
        if (!memcmp(a->text, b->text + begin, rest) && !memcmp(a->text + rest, b->text, begin))
            return true;
    }
    return false;
}

bool same_plain(const PlainName *a, const PlainName *b)
{
    return a->length && a->length == b->length && a->sum == b->sum &&
           (is_rotated(a, b) || is_rotated(b, a));
}

bool same_name(const char *a, const char *b)
{
    PlainName x, y;

    plain_name(a, &x);
    plain_name(b, &y);
    return same_plain(&x, &y);
}
