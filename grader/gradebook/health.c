/* health.c - what gradebook doctor found, one row per check. */
#include "gradebook/health.h"
#include "gradebook/import/submission.h"
#include "base/util.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 80, WHAT_COLUMNS = 24 };

HealthRow *health_row(HealthReport *all, Health health, const char *what, const char *format, ...)
{
    HealthRow *row = &all->list[all->count < HEALTH_ROWS ? all->count++ : HEALTH_ROWS - 1];
    va_list arguments;

    *row = (HealthRow){ .health = health };
    PUT(row->what, "%s", what);
    va_start(arguments, format);
    vsnprintf(row->found, sizeof row->found, format, arguments);
    va_end(arguments);
    show(row->what);
    show(row->found); /* names of GPUs, processes, folders */
    return row;
}

void health_advise(HealthRow *row, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(row->advice, sizeof row->advice, format, arguments);
    va_end(arguments);
    show(row->advice);
}

Health health_worst(const HealthReport *all)
{
    Health worst = HEALTH_OK;

    for (int i = 0; i < all->count; i++)
        if (all->list[i].health > worst)
            worst = all->list[i].health;
    return worst;
}

void health_print(const HealthReport *all)
{
    static const char *const words[] = { "ok", "warn", "fail" };

    for (int i = 0; i < all->count; i++) {
        const HealthRow *row = &all->list[i];
        bool fits = 6 + WHAT_COLUMNS + 1 + strlen(row->found) <= COLUMNS;
        printf("%-5s %-*s%s%s\n", words[row->health], fits ? WHAT_COLUMNS : 0, row->what,
               fits ? " " : "", fits ? row->found : "");
        print_wrapped(fits ? "" : row->found, 6, COLUMNS);
        print_wrapped(row->advice, 6, COLUMNS);
    }
}
