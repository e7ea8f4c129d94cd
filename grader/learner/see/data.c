/* data.c - the data that the page's script steps through, as JSON. */
#include "learner/see/data.h"
#include "base/util.h"

#include <string.h>

/* Most texts are printable ASCII (records_check). Any other byte is escaped, too. */
void see_json_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        const unsigned char c = (unsigned char) *text;
        if (c < ' ' || c > '~' || strchr("\"\\<>&", c))
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

/* Writes the separator of a list's i-th element. */
static void next(FILE *to, int i)
{
    fputs(i ? ",\n" : "\n", to);
}

/* ---- Lines ---- */

static void put_traffic(FILE *to, const char *name, const LineTraffic *t)
{
    if (t->requests > 0)
        fprintf(to, ",\"%s\":[%.9g,%.9g,%.9g]", name, t->requests, t->passes, t->asked);
}

static void put_line(FILE *to, const LineCost *cost)
{
    fprintf(to, "{\"line\":%d,\"ns\":%.9g,\"instructions\":%.9g,\"lanes\":%.9g", cost->line,
            spent_sum(&cost->spent), cost->instructions, cost->lanes);
    put_traffic(to, "load", &cost->load);
    put_traffic(to, "store", &cost->store);
    put_traffic(to, "atomic", &cost->atomic);
    put_traffic(to, "shared", &cost->shared);
    fputc('}', to);
}

/* ---- Accesses ---- */

static void put_turn(FILE *to, const WarpAccess *a)
{
    fprintf(to, "{\"block\":%lld,\"warp\":%d,\"mask\":%u,\"bytes\":%d,\"passes\":%d,\"least\":%d,",
            (long long) a->block, a->warp, (unsigned) a->mask, a->bytes, a->passes, a->least);
    fputs("\"at\":[", to);
    for (int lane = 0; lane < RECORD_LANES; lane++)
        fprintf(to, "%s%llu", lane ? "," : "", (unsigned long long) a->address[lane]);
    fputs("]}", to);
}

static void put_list(FILE *to, const Records *r, const AccessList *list)
{
    static const char *const kinds[] = { "load", "store", "atomic" };
    const WarpAccess *first = list->turns[0];

    fprintf(to, "{\"line\":%d,\"kind\":\"%s\",\"space\":\"%s\",\"array\":", first->line,
            kinds[first->kind], first->space == RECORD_GLOBAL ? "global" : "shared");
    see_json_text(to, first->array >= 0 ? r->arrays[first->array].name : "");
    fprintf(to, ",\"requests\":%.9g,\"passes\":%.9g,\"least\":%.9g,\"turns\":[", list->requests,
            list->passes, list->least);
    for (int i = 0; i < list->count; i++) {
        fputs(i ? "," : "", to);
        put_turn(to, list->turns[i]);
    }
    fputs("]}", to);
}

/* ---- Maps ---- */

/* When the block began, in modelled microseconds; -1: not known. */
static double begin_us(const Records *r, int launch, int64_t block)
{
    for (int i = 0; i < r->block_span_count; i++)
        if (r->block_spans[i].block == block && r->block_spans[i].launch == launch)
            return (double) r->block_spans[i].begin / r->device.sm_mhz;
    return -1;
}

/* [cell, block, warp, lane, kinds, moved, used, begin] */
static void put_cell(FILE *to, const Records *r, int at, const MapCell *c)
{
    fprintf(to, "[%d,%lld,%d,%d,%d,%llu,%llu,%.4g]", at, (long long) c->block, c->warp, c->lane,
            c->kinds, (unsigned long long) c->moved, (unsigned long long) c->used,
            begin_us(r, c->launch, c->block));
}

static void put_level(FILE *to, const Records *r, const RecordedArray *a, int level)
{
    int count = 0;

    fprintf(to, "{\"bytes\":%llu,", (unsigned long long) a->cell_bytes[level]);
    if (!level && a->cell_rows)
        fprintf(to, "\"across\":%d,\"rows\":%llu,\"rowBytes\":%llu,", a->across,
                (unsigned long long) a->cell_rows, (unsigned long long) a->row_bytes);
    fputs("\"cells\":[", to);
    for (int i = 0; i < MAP_CELLS; i++)
        if (a->cells[level][i].moved || a->cells[level][i].kinds) {
            fputs(count++ ? "," : "", to);
            put_cell(to, r, i, &a->cells[level][i]);
        }
    fputs("]}", to);
}

static void put_map(FILE *to, const Records *r, const RecordedArray *a)
{
    fputs("{\"name\":", to);
    see_json_text(to, a->name);
    fprintf(to, ",\"bytes\":%llu,\"start\":%d,\"levels\":[", (unsigned long long) a->bytes,
            a->start);
    for (int level = 0; level < MAP_LEVELS; level++) {
        fputs(level ? "," : "", to);
        put_level(to, r, a, level);
    }
    fputs("]}", to);
}

static void put_maps(FILE *to, const Records *r)
{
    int maps[SEE_MAPS];
    const int count = see_maps(r, maps);

    fputs("],\"maps\":[", to);
    for (int i = 0; i < count; i++) {
        next(to, i);
        put_map(to, r, &r->arrays[maps[i]]);
    }
}

/* ---- All ---- */

static void put_kernel(FILE *to, const SeenKernel *k)
{
    AccessList lists[SEE_LISTS];
    const int count = see_lists(k->records, lists);

    fprintf(to, "{\"id\":\"%s\",\"ns\":%.9g,\"lines\":[", k->id, see_call_ns(k));
    for (int i = 0; i < k->line_count; i++) {
        next(to, i);
        put_line(to, &k->lines[i]);
    }
    fputs("],\"accesses\":[", to);
    for (int i = 0; i < count; i++) {
        next(to, i);
        put_list(to, k->records, &lists[i]);
    }
    put_maps(to, k->records);
    fputs("]}", to);
}

void see_data(const Seen *seen, FILE *to)
{
    fputs("{\"kernels\":[", to);
    for (int i = 0; i < seen->count; i++) {
        next(to, i);
        put_kernel(to, &seen->kernels[i]);
    }
    fputs("]}\n", to);
}
