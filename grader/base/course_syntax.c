/* course_syntax.c - parses the values in a course file. */
#include "base/course_syntax.h"
#include "base/number.h"
#include "base/util.h"

#include <ctype.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool take_number(const char *text, double *value)
{
    return strspn(text, "0123456789.") == strlen(text) && parse_number(text, 0, DBL_MAX, value);
}

bool take_span(const char *text, double *seconds)
{
    static const char units[] = "smhd";
    static const double worth[] = { 1, 60, 3600, 86400 };
    size_t length = strlen(text);
    const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
    char digits[16];

    *seconds = 0;
    if (!strcmp(text, "0"))
        return true;
    if (!unit || length - 1 > 9 || strspn(text, "0123456789") != length - 1)
        return false;
    parse_number(PUT(digits, "%.*s", (int) length - 1, text), 0, 1e9, seconds);
    *seconds *= worth[unit - units];
    return true;
}

/* Parses "Z", "+01:00" or "-0730" into seconds east of Greenwich. */
static bool take_zone(const char *text, long *east_s)
{
    int hours, minutes, read = 0;

    *east_s = 0;
    if (!strcmp(text, "Z"))
        return true;
    if ((*text != '+' && *text != '-') || !isdigit((unsigned char) text[1]) ||
        !isdigit((unsigned char) text[2]) ||
        sscanf(text + 1, text[3] == ':' ? "%2d:%2d%n" : "%2d%2d%n", &hours, &minutes, &read) != 2 ||
        text[1 + read] || read < 4 || hours > 14 || minutes > 59)
        return false;
    *east_s = (*text == '-' ? -1 : 1) * (hours * 3600L + minutes * 60L);
    return true;
}

bool take_time(const char *text, int64_t *seconds)
{
    struct tm given = { 0 }, real;
    char separator;
    int read = 0, more = 0;
    long east_s;
    time_t when;

    if (sscanf(text, "%4d-%2d-%2d%c%2d:%2d%n", &given.tm_year, &given.tm_mon, &given.tm_mday,
               &separator, &given.tm_hour, &given.tm_min, &read) != 6 ||
        read < 15 || (separator != ' ' && separator != 'T'))
        return false;
    text += read;
    if (sscanf(text, ":%2d%n", &given.tm_sec, &more) == 1)
        text += more;
    text += strspn(text, " ");
    if (!take_zone(text, &east_s))
        return false;
    given.tm_year -= 1900;
    given.tm_mon -= 1;
    real = given;
    when = timegm(&real);
    *seconds = (int64_t) when - east_s;
    return real.tm_mday == given.tm_mday && real.tm_mon == given.tm_mon &&
           real.tm_hour == given.tm_hour && real.tm_min == given.tm_min &&
           real.tm_sec == given.tm_sec && given.tm_year > 100;
}

bool take_seed(const char *text, uint64_t *seed)
{
    return strlen(text) <= 16 && parse_whole(text, 16, UINT64_MAX, seed) && *seed;
}

int place_in(const char *words, const char *word)
{
    int place = 0;

    for (; *words; place++) {
        size_t length = strcspn(words, ",");
        if (strlen(word) == length && !strncmp(words, word, length))
            return place;
        words += length;
        words += strspn(words, ", ");
    }
    return -1;
}
