/* parse_table.c - directives after a label:
 * targets: .branchtargets A, B;   functions: .calltargets f, g;
 * prototype: .callprototype (.param .b32 _) _ (.param .b64 _);
 */
#include "sim/ptx/parse.h"

#include <stdlib.h>

enum { MOST_ENTRIES = 1 << 20 };

static Table *table_add(Parser *p, Name name)
{
    Function *f = &p->module->functions[p->function];

    if (!parse_room(p, &f->tables, f->table_count, &p->table_room, sizeof *f->tables, 1 << 20,
                    "tables") ||
        !symbol_add(p, name, SYMBOL_TABLE, f->table_count))
        return NULL;
    f->tables[f->table_count] = (Table){ 0 };
    return &f->tables[f->table_count++];
}

/* The index of the function of that name, or -1. */
static int function_named(Parser *p, Name name)
{
    int number;
    const Symbol *symbol = symbol_find(p, name, &number);

    return symbol && symbol->kind == SYMBOL_FUNCTION ? symbol->index : -1;
}

static void read_targets(Parser *p, Table *table, bool branches)
{
    int index = p->module->functions[p->function].table_count - 1, room = 0;

    do {
        Name name;
        int line = p->token.line;
        if (!expect_name(p, &name) || !parse_room(p, &table->entries, table->count, &room,
                                                  sizeof *table->entries, MOST_ENTRIES, "targets"))
            return;
        table->entries[table->count] = branches ? -1 : function_named(p, name);
        if (branches)
            pending_add(p, (Pending){ name, line, -1, index, table->count });
        table->count++;
    } while (take_punct(p, ','));
}

static void keep_sizes(Parser *p, int first, int count, int **sizes, int **aligns)
{
    *sizes = calloc((size_t) count + 1, sizeof **sizes);
    *aligns = calloc((size_t) count + 1, sizeof **aligns);
    if (!*sizes || !*aligns) {
        parse_fail(p, p->token.line, "not enough memory");
        return;
    }
    for (int i = 0; i < count; i++) {
        const Declaration *declaration = &p->declarations[first + i];
        (*sizes)[i] = (int) declaration->size;
        (*aligns)[i] = declaration->align;
    }
}

static void read_prototype(Parser *p, Table *table)
{
    int first = p->declaration_count;
    Name name;

    if (at_punct(p, '('))
        table->return_count = read_parameters(p);
    if (expect_name(p, &name) && at_punct(p, '('))
        table->param_count = read_parameters(p);
    if (p->failed)
        return;
    keep_sizes(p, first, table->return_count, &table->return_sizes, &table->return_aligns);
    keep_sizes(p, first + table->return_count, table->param_count, &table->param_sizes,
               &table->param_aligns);
    p->declaration_count = first;
    while (p->token.kind == TOKEN_DOT || p->token.kind == TOKEN_INTEGER)
        advance(p); /* .noreturn, .abi_preserve 8 */
}

bool read_table(Parser *p, Name name)
{
    bool branches = at_dot(p, ".branchtargets"), calls = at_dot(p, ".calltargets");

    if (!branches && !calls && !at_dot(p, ".callprototype"))
        return false;
    advance(p);
    if (symbol_in_scope(p, name))
        return !parse_fail_name(p, p->token.line, name, "is declared twice");
    Table *table = table_add(p, name);
    if (!table)
        return true;
    if (branches || calls)
        read_targets(p, table, branches);
    else
        read_prototype(p, table);
    expect_punct(p, ';');
    return true;
}
