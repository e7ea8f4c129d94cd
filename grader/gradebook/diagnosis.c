/* diagnosis.c - what gradebook doctor found, a row a thing that it looked at. */
#include "diagnosis.h"
#include "handin.h"
#include "../util.h"
#include "../wrap.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 80, WHAT_COLUMNS = 24 };

Diagnosis *diagnose(Diagnoses *all, Health health, const char *what, const char *format, ...)
{
    Diagnosis *diagnosis = &all->list[all->count < DIAGNOSES ? all->count++ : DIAGNOSES - 1];
    va_list arguments;

    *diagnosis = (Diagnosis){ .health = health };
    PUT(diagnosis->what, "%s", what);
    va_start(arguments, format);
    vsnprintf(diagnosis->found, sizeof diagnosis->found, format, arguments);
    va_end(arguments);
    show(diagnosis->what);
    show(diagnosis->found); /* names of GPUs, processes, folders */
    return diagnosis;
}

void advise(Diagnosis *diagnosis, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(diagnosis->advice, sizeof diagnosis->advice, format, arguments);
    va_end(arguments);
    show(diagnosis->advice);
}

Health diagnoses_worst(const Diagnoses *all)
{
    Health worst = HEALTH_OK;

    for (int i = 0; i < all->count; i++)
        if (all->list[i].health > worst)
            worst = all->list[i].health;
    return worst;
}

void diagnoses_print(const Diagnoses *all)
{
    static const char *const words[] = { "ok", "warn", "fail" };

    for (int i = 0; i < all->count; i++) {
        const Diagnosis *diagnosis = &all->list[i];
        bool fits = 6 + WHAT_COLUMNS + 1 + strlen(diagnosis->found) <= COLUMNS;
        printf("%-5s %-*s%s%s\n", words[diagnosis->health], fits ? WHAT_COLUMNS : 0,
               diagnosis->what, fits ? " " : "", fits ? diagnosis->found : "");
        print_wrapped(fits ? "" : diagnosis->found, 6, COLUMNS);
        print_wrapped(diagnosis->advice, 6, COLUMNS);
    }
}
