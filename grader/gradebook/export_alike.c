/* export_alike.c - all pairs of kernels that are alike, for a spreadsheet. */
#include "csv.h"
#include "formats.h"
#include "similarity.h"

enum { NAMES = 4000 };

void export_alike(Export *export)
{
    char names[NAMES];

    fputs("\xEF\xBB\xBF"
          "lab,percent,one,other\r\n",
          export->to);
    for (int lab = 0; lab < export->roll.lab_count; lab++) {
        const char *name = export->roll.labs[lab];
        Similarity s;
        similarity_find(export->store, name, &s);
        if (s.found.problem[0])
            fprintf(stderr, "%s: not compared: %s.\n", name, s.found.problem);
        for (int i = 0; i < s.found.count; i++) {
            const Likeness *pair = &s.found.list[i];
            csv_text(export->to, name);
            csv_number(export->to, true, "%.0f", pair->percent);
            csv_text(export->to,
                     similarity_names(&export->roll, name, &s.twins[pair->a], names, sizeof names));
            csv_last(export->to,
                     similarity_names(&export->roll, name, &s.twins[pair->b], names, sizeof names));
        }
        similarity_free(&s);
    }
}
