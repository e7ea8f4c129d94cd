/* quiz_sheet.c - answers that are handed in. The file comes from a student: nothing in it is
 * trusted. */
#include "base/quiz_sheet.h"
#include "base/number.h"
#include "base/util.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

enum { LINE_MOST = 200 };

bool quiz_sheet_answer(const QuizSheet *sheet, const char *key, double *given)
{
    for (int i = 0; i < sheet->count; i++)
        if (!strcmp(sheet->key[i], key)) {
            *given = sheet->given[i];
            return true;
        }
    return false;
}

static void take(const char *key, const char *value, QuizSheet *sheet)
{
    double given;

    if (!strcmp(key, "kernel")) {
        parse_whole(value, 16, UINT64_MAX, &sheet->kernel);
    } else if (!strcmp(key, "device")) {
        PUT(sheet->device, "%s", value);
    } else if (sheet->count < QUIZ_SHEET_ANSWERS && strlen(key) < QUIZ_SHEET_KEY &&
               !quiz_sheet_answer(sheet, key, &given) &&
               parse_number(value, -DBL_MAX, DBL_MAX, &given)) {
        PUT(sheet->key[sheet->count], "%s", key);
        sheet->given[sheet->count++] = given;
    }
}

void quiz_sheet_read(const char *text, size_t size, QuizSheet *sheet)
{
    char line[LINE_MOST], *colon, *value;

    *sheet = (QuizSheet){ 0 };
    if (size > QUIZ_SHEET_BYTES)
        return;
    for (const char *at = text; next_line(&at, text + size, line, sizeof line);) {
        colon = strchr(line, ':');
        if (*line == '#' || !colon)
            continue;
        *colon = 0;
        value = colon + 1 + strspn(colon + 1, " \t");
        value[strcspn(value, " \t")] = 0;
        take(line, value, sheet);
    }
}

void quiz_sheet_write(const QuizSheet *sheet, FILE *to)
{
    fprintf(to, "# Answers to make quiz, about the kernel.cu with this hash.\n"
                "# Hand this file in with kernel.cu if your course asks for it.\n");
    fprintf(to, "kernel: %016" PRIx64 "\ndevice: %s\n", sheet->kernel, sheet->device);
    for (int i = 0; i < sheet->count; i++)
        fprintf(to, "%s: %.10g\n", sheet->key[i], sheet->given[i]);
}
