/* export_similar.c - all pairs of similar kernels, for a spreadsheet. */
#include "gradebook/report/csv.h"
#include "gradebook/report/formats.h"
#include "gradebook/report/similarity.h"

enum { NAMES = 4000 };

static void write_pairs(Export *export, const char *lab, const Similarity *s,
                        const Likenesses *found)
{
    char names[NAMES];

    for (int i = 0; i < found->count; i++) {
        const Likeness *pair = &found->list[i];
        csv_text(export->to, lab);
        csv_number(export->to, true, "%.0f", pair->percent);
        csv_text(export->to, similarity_names(&export->results, lab, &s->kernels[pair->a], names,
                                              sizeof names));
        csv_last(export->to, similarity_names(&export->results, lab, &s->kernels[pair->b], names,
                                              sizeof names));
    }
}

void export_alike(Export *export)
{
    fputs("\xEF\xBB\xBF"
          "lab,percent,one,other\r\n",
          export->to);
    for (int lab = 0; lab < export->results.lab_count; lab++) {
        const char *name = export->results.labs[lab];
        Similarity s;
        similarity_find(export->store, name, &s);
        if (s.found.problem[0])
            fprintf(stderr, "%s: not compared: %s.\n", name, s.found.problem);
        write_pairs(export, name, &s, &s.found.fixed);
        write_pairs(export, name, &s, &s.found.pairs);
        similarity_free(&s);
    }
}
