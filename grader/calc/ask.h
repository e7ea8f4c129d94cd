/* ask.h - reads a calculator's named inputs from a command line.
 *
 * An input is a row of a table: its meaning, its range, and how to read it from a described
 * device. Inputs are therefore checked before any calculation, and the table also gives --help,
 * the list of calculators and the error messages.
 */
#ifndef CALC_ASK_H
#define CALC_ASK_H

#include <stdbool.h>
#include "sim/device/device.h"

enum { CALC_INPUTS = 8 };

/* WHOLE: a number without a fraction. BYTES: a number that may have a unit. SHARE: 0 to 1, or a
 * percentage. FLAG: takes no value. */
typedef enum Kind { WHOLE, REAL, BYTES, SHARE, FLAG } Kind;

typedef struct Input {
    const char *name, *what;
    Kind kind;
    double least, most;
    bool optional;
    double fallback;                     /* the value if an optional input is missing */
    double (*of_device)(const Device *); /* the value that --device supplies; NULL: none */
} Input;

typedef struct Asked Asked;

typedef struct Calculator {
    const char *name, *what; /* its line in the list */
    const char *about;       /* its purpose, in lines */
    const char *example;     /* options after `warpbook calc NAME` */
    const Input *inputs;     /* ends with no name */
    bool has_device, needs_device;
    bool (*show)(const Asked *); /* returns false after printing an error */
} Calculator;

struct Asked {
    const Calculator *calculator;
    double value[CALC_INPUTS];
    bool given[CALC_INPUTS];
    bool help, has_device;
    Device device;
};

/* Reads the options after a calculator's name, which is argv[0], and fills in the missing inputs.
 * Before the call, `asked` contains only the calculator. On an error, prints it and returns false.
 * With --help, sets only asked->help. */
bool calc_ask(Asked *asked, int argc, char **argv);

/* The value of an input, by its name in the calculator's table. */
double asked_value(const Asked *asked, const char *name);
long asked_whole(const Asked *asked, const char *name);
bool asked_given(const Asked *asked, const char *name);

/* Prints an error in the inputs to stderr; returns false, so that callers can return it. */
bool calc_refuse(const Calculator *calculator, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
