/* registry.c - finds a lab by the name that the user typed: its folder, its number or its words. */
#include "base/registry.h"
#include "base/util.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The part after the number: "06_transpose" -> "transpose". A folder without a number is returned
 * whole. */
static const char *words(const char *folder)
{
    size_t digits = strspn(folder, "0123456789");

    return digits && folder[digits] == '_' ? folder + digits + 1 : folder;
}

int lab_number(const LabEntry *entry)
{
    return words(entry->folder) == entry->folder ? -1 : atoi(entry->folder);
}

const char *lab_name(const LabEntry *entry)
{
    return words(entry->folder);
}

/* The number if `text` consists of digits only, or -1; four digits are enough for labs. */
static int number_of(const char *text)
{
    size_t digits = strspn(text, "0123456789");

    return digits && digits <= 4 && !text[digits] ? atoi(text) : -1;
}

const LabEntry *lab_find_in(const LabEntry *table, const char *name)
{
    const LabEntry *found = NULL;
    int number;

    if (!name || !*name)
        return NULL;
    for (const LabEntry *entry = table; entry->folder; entry++)
        if (!strcmp(name, entry->folder))
            return entry;
    number = number_of(name);
    for (const LabEntry *entry = table; entry->folder; entry++) {
        bool meant = number >= 0 ? number == lab_number(entry) : !strcmp(name, lab_name(entry));
        if (meant && found)
            return NULL; /* ambiguous */
        if (meant)
            found = entry;
    }
    return found;
}

const LabEntry *lab_find(const char *name)
{
    return lab_find_in(all_labs, name);
}

const Case *case_labelled(const Lab *lab, const char *label)
{
    for (const Case *c = lab->cases; c && c->label; c++)
        if (!strcmp(c->label, label))
            return c;
    return NULL;
}

static size_t elements(const Array *array)
{
    return array->rows * array->cols;
}

/* "`in` of 65536 x 16"; a vector has only its length. */
static void append_shape(const Array *array, int number, char *text, size_t size)
{
    append(text, size, "%s", *text ? ", " : "");
    if (array->name || !number)
        append(text, size, "`%s` of ", array->name ? array->name : "in");
    else
        append(text, size, "`in[%d]` of ", number);
    if (array->rows > 1)
        append(text, size, "%zu x ", array->rows);
    append(text, size, "%zu", array->cols);
}

char *case_size(const Lab *lab, const Case *sized, char *text, size_t size)
{
    enum { SMALL = 16 }; /* times smaller than the largest: left out */
    Arrays arrays = { 0 };
    size_t most = 0;

    lab->shape(sized, &arrays);
    for (int i = 0; i < LAB_IN; i++)
        most = elements(&arrays.in[i]) > most ? elements(&arrays.in[i]) : most;
    *text = 0;
    for (int i = 0; i < LAB_IN; i++)
        if (elements(&arrays.in[i]) && elements(&arrays.in[i]) * SMALL >= most)
            append_shape(&arrays.in[i], i, text, size);
    return text;
}
