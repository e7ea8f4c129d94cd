/* ask.h - a calculator's inputs, by name, from a command line.
 *
 * An input is a row of a table: its meaning, its range, and where a described device has it. So
 * inputs are checked before anything is computed, and --help, the list and the error messages are
 * made from the table.
 */
#ifndef CALC_ASK_H
#define CALC_ASK_H

#include <stdbool.h>
#include "sim/device/device.h"

enum { CALC_INPUTS = 8 };

/* WHOLE a number without fraction; BYTES one that may have a unit; SHARE 0 to 1, or a percentage;
 * FLAG takes no value. */
typedef enum Kind { WHOLE, REAL, BYTES, SHARE, FLAG } Kind;

typedef struct Input {
    const char *name, *what;
    Kind kind;
    double least, most;
    bool optional;
    double fallback;                     /* of an optional one */
    double (*of_device)(const Device *); /* what --device gives; NULL: nothing */
} Input;

typedef struct Asked Asked;

typedef struct Calculator {
    const char *name, *what; /* a line of the list */
    const char *about;       /* its purpose; lines */
    const char *example;     /* options after `warpbook calc NAME` */
    const Input *inputs;     /* ends with no name */
    bool has_device, needs_device;
    bool (*show)(const Asked *); /* false after printing an error */
} Calculator;

struct Asked {
    const Calculator *calculator;
    double value[CALC_INPUTS];
    bool given[CALC_INPUTS];
    bool help, has_device;
    Device device;
};

/* Reads the options after a calculator's name, which is argv[0], and fills in what was not given.
 * Before the call, `asked` holds only the calculator. On an error prints it and returns false. With
 * --help, only asked->help is set. */
bool calc_ask(Asked *asked, int argc, char **argv);

/* An input by its name in the calculator's table. */
double asked_value(const Asked *asked, const char *name);
long asked_whole(const Asked *asked, const char *name);
bool asked_given(const Asked *asked, const char *name);

/* Prints an error in the inputs to stderr; false, so that it can be returned. */
bool calc_refuse(const Calculator *calculator, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
