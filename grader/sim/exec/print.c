/* print.c - print_format(): each conversion is read, checked and passed to snprintf separately. */
#include "sim/exec/print.h"

#include <stdio.h>
#include <string.h>

enum { MOST_WIDTH = 500 };

typedef struct Printer {
    char *line;
    size_t size, used;
    const char *at; /* position in the format */
    NextValue *next;
    ReadText *read;
    void *self;
    int values;
} Printer;

/* %[flags][width][.precision][length]conversion */
typedef struct Conversion {
    char flags[8];
    int width, precision; /* -1: none */
    int longs;            /* > 0: l ll j z t, values of 8 bytes; h: -1; hh: -2 */
    char letter;
} Conversion;

static void put_bytes(Printer *printer, const char *text, size_t length)
{
    size_t room = printer->size - 1 - printer->used;

    if (length > room)
        length = room;
    memcpy(printer->line + printer->used, text, length);
    printer->used += length;
}

static uint64_t take(Printer *printer, int bytes)
{
    uint64_t value;

    if (printer->next(printer->self, bytes, &value))
        printer->values++;
    return value;
}

/* ---- Reading ---- */

static void read_flags(Printer *printer, Conversion *c)
{
    size_t count = 0;

    while (*printer->at && strchr("-+ #0", *printer->at)) {
        if (count < 5 && !memchr(c->flags, *printer->at, count))
            c->flags[count++] = *printer->at;
        printer->at++;
    }
    c->flags[count] = 0;
}

static int bounded(int n)
{
    return n > MOST_WIDTH ? MOST_WIDTH : n;
}

/* Reads digits, or * for a value. */
static int read_number(Printer *printer)
{
    int n = 0;

    if (*printer->at == '*') {
        printer->at++;
        return (int32_t) take(printer, 4);
    }
    for (; *printer->at >= '0' && *printer->at <= '9'; printer->at++)
        n = bounded(n * 10 + (*printer->at - '0'));
    return n;
}

static void read_width(Printer *printer, Conversion *c)
{
    bool asked = *printer->at == '*' || (*printer->at >= '0' && *printer->at <= '9');

    c->width = asked ? read_number(printer) : -1;
    if (asked && c->width < 0) { /* a negative value aligns left */
        c->width = c->width < -MOST_WIDTH ? MOST_WIDTH : -c->width;
        strcat(c->flags, "-");
    }
    c->width = bounded(c->width);
    c->precision = -1;
    if (*printer->at == '.') {
        printer->at++;
        c->precision = bounded(read_number(printer));
    }
}

static void read_length(Printer *printer, Conversion *c)
{
    for (c->longs = 0; *printer->at && strchr("hljztL", *printer->at); printer->at++)
        c->longs += *printer->at == 'h' ? -1 : 1;
}

/* ---- Writing ---- */

/* Writes the specification again, with another length modifier. */
static void specify(const Conversion *c, const char *length, char *spec, size_t size)
{
    char width[16] = "", precision[16] = "";

    if (c->width >= 0)
        snprintf(width, sizeof width, "%d", c->width);
    if (c->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", c->precision);
    snprintf(spec, size, "%%%s%s%s%s%c", c->flags, width, precision, length, c->letter);
}

static void put_integer(Printer *printer, const Conversion *c, bool is_signed)
{
    uint64_t value = take(printer, c->longs > 0 ? 8 : 4);
    char spec[64], text[2 * MOST_WIDTH];

    if (c->longs <= 0 && is_signed)
        value = (uint64_t) (int32_t) value;
    if (c->longs == -1)
        value = is_signed ? (uint64_t) (int16_t) value : (uint16_t) value;
    if (c->longs <= -2)
        value = is_signed ? (uint64_t) (int8_t) value : (uint8_t) value;
    specify(c, "ll", spec, sizeof spec);
    snprintf(text, sizeof text, spec, (unsigned long long) value);
    put_bytes(printer, text, strlen(text));
}

static void put_float(Printer *printer, const Conversion *c)
{
    uint64_t bits = take(printer, 8);
    char spec[64], text[2 * MOST_WIDTH];
    double value;

    memcpy(&value, &bits, sizeof value);
    specify(c, "", spec, sizeof spec);
    snprintf(text, sizeof text, spec, value);
    put_bytes(printer, text, strlen(text));
}

static void put_char(Printer *printer, const Conversion *c)
{
    int value = (unsigned char) take(printer, 4);
    int width = c->width > 0 ? c->width : 1;
    char text[MOST_WIDTH + 1];

    memset(text, ' ', sizeof text);
    text[strchr(c->flags, '-') ? 0 : width - 1] = (char) value;
    put_bytes(printer, text, (size_t) width);
}

static void put_text(Printer *printer, const Conversion *c)
{
    static _Thread_local char found[MOST_PRINTED], text[MOST_PRINTED];
    char spec[64];

    if (!printer->read(printer->self, take(printer, 8), found, sizeof found))
        strcpy(found, "(null)");
    specify(c, "", spec, sizeof spec);
    snprintf(text, sizeof text, spec, found);
    put_bytes(printer, text, strlen(text));
}

static void put_pointer(Printer *printer, const Conversion *c)
{
    char digits[32], text[2 * MOST_WIDTH];

    snprintf(digits, sizeof digits, "0x%llx", (unsigned long long) take(printer, 8));
    snprintf(text, sizeof text, strchr(c->flags, '-') ? "%-*s" : "%*s", c->width > 0 ? c->width : 0,
             digits);
    put_bytes(printer, text, strlen(text));
}

/* Text that is not a conversion is printed unchanged. */
static void put_conversion(Printer *printer)
{
    const char *start = printer->at++;
    Conversion c;

    read_flags(printer, &c);
    read_width(printer, &c);
    read_length(printer, &c);
    c.letter = *printer->at;
    if (c.letter)
        printer->at++;
    if (c.letter == '%')
        put_bytes(printer, "%", 1);
    else if (c.letter == 'd' || c.letter == 'i')
        put_integer(printer, &c, true);
    else if (c.letter && strchr("uxXo", c.letter))
        put_integer(printer, &c, false);
    else if (c.letter && strchr("fFeEgGaA", c.letter))
        put_float(printer, &c);
    else if (c.letter == 'c')
        put_char(printer, &c);
    else if (c.letter == 's')
        put_text(printer, &c);
    else if (c.letter == 'p')
        put_pointer(printer, &c);
    else
        put_bytes(printer, start, (size_t) (printer->at - start));
}

int print_format(char *line, size_t size, const char *format, NextValue *next, ReadText *read,
                 void *self)
{
    Printer printer = {
        .line = line, .size = size, .at = format, .next = next, .read = read, .self = self
    };

    while (*printer.at) {
        size_t plain = strcspn(printer.at, "%");
        put_bytes(&printer, printer.at, plain);
        printer.at += plain;
        if (*printer.at == '%')
            put_conversion(&printer);
    }
    line[printer.used] = 0;
    return printer.values;
}
