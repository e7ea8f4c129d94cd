/* parse_symbol.c - the symbol table: names in nested scopes, found by hash.
 *
 * Symbols are on a stack. The chain of each bucket begins with the newest symbol, so the first
 * match is the innermost one, and the end of a scope pops its symbols.
 *
 * .reg .b32 %r<1000> is one symbol, whatever its size: %r17 is looked up as %r17, as number 7 of
 * %r1<>, and as number 17 of %r<>. Registers are created when they are first used.
 */
#include "sim/ptx/parse.h"

#include <stdlib.h>
#include <string.h>

#define HASH_BEGIN 14695981039346656037ull

static uint64_t hash_on(uint64_t hash, char c)
{
    return (hash ^ (unsigned char) c) * 1099511628211ull;
}

static uint64_t hash_name(Name name)
{
    uint64_t hash = HASH_BEGIN;

    for (int i = 0; i < name.length; i++)
        hash = hash_on(hash, name.at[i]);
    return hash;
}

/* The low bits of the hash depend on too few characters. */
static int bucket_of(uint64_t hash, int buckets)
{
    return (int) ((hash ^ hash >> 29) & (uint64_t) (buckets - 1));
}

static bool same(const Symbol *symbol, uint64_t hash, Name name)
{
    return symbol->hash == hash && symbol->name.length == name.length &&
           !memcmp(symbol->name.at, name.at, (size_t) name.length);
}

/* ---- Finding ---- */

/* The newest symbol of that name: a range that contains `number`, or any other kind if that is -1.
 */
static int newest(const Symbols *symbols, uint64_t hash, Name name, int number)
{
    int i = symbols->buckets[bucket_of(hash, symbols->bucket_count)];

    for (; i >= 0; i = symbols->all[i].next) {
        const Symbol *symbol = &symbols->all[i];
        bool is_range = symbol->kind == SYMBOL_RANGE;
        if (same(symbol, hash, name) &&
            (number < 0 ? !is_range : is_range && number < symbol->count))
            break;
    }
    return i;
}

/* The index of the trailing digits; at most nine are counted. */
static int digits_at(Name name)
{
    int at = name.length;

    while (at > 1 && name.length - at < 9 && name.at[at - 1] >= '0' && name.at[at - 1] <= '9')
        at--;
    return at;
}

static int number_at(Name name, int at)
{
    int number = 0;

    for (; at < name.length; at++)
        number = number * 10 + name.at[at] - '0';
    return number;
}

const Symbol *symbol_find(const Parser *p, Name name, int *number)
{
    const Symbols *symbols = &p->symbols;
    int best = -1, split = digits_at(name);
    uint64_t hash = hash_name((Name){ name.at, split });

    for (int at = split; at < name.length; hash = hash_on(hash, name.at[at]), at++) {
        if (name.at[at] == '0' && at < name.length - 1)
            continue; /* %r007 is not number 7 of %r<> */
        int n = number_at(name, at), i = newest(symbols, hash, (Name){ name.at, at }, n);
        if (i > best) {
            best = i;
            *number = n;
        }
    }
    int i = newest(symbols, hash, name, -1);
    if (i > best)
        best = i;
    return best < 0 ? NULL : &symbols->all[best];
}

const Symbol *symbol_find_target(const Parser *p, Name name)
{
    const Symbols *symbols = &p->symbols;
    uint64_t hash = hash_name(name);
    int i = symbols->buckets[bucket_of(hash, symbols->bucket_count)];

    for (; i >= 0; i = symbols->all[i].next)
        if (same(&symbols->all[i], hash, name) &&
            (symbols->all[i].kind == SYMBOL_LABEL || symbols->all[i].kind == SYMBOL_TABLE))
            return &symbols->all[i];
    return NULL;
}

const Symbol *symbol_in_scope(const Parser *p, Name name)
{
    const Symbols *symbols = &p->symbols;
    uint64_t hash = hash_name(name);

    for (int number = -1; number <= 0; number++) {
        int i = newest(symbols, hash, name, number);
        if (i >= 0 && symbols->all[i].depth == p->depth)
            return &symbols->all[i];
    }
    return NULL;
}

/* ---- Adding and removing ---- */

static void link_symbol(Symbols *symbols, int i)
{
    int *bucket = &symbols->buckets[bucket_of(symbols->all[i].hash, symbols->bucket_count)];

    symbols->all[i].next = *bucket;
    *bucket = i;
}

static bool make_buckets(Parser *p, int count)
{
    Symbols *symbols = &p->symbols;
    int *buckets = malloc((size_t) count * sizeof *buckets);

    if (!buckets)
        return parse_fail(p, p->token.line, "not enough memory");
    free(symbols->buckets);
    symbols->buckets = buckets;
    symbols->bucket_count = count;
    memset(buckets, -1, (size_t) count * sizeof *buckets);
    for (int i = 0; i < symbols->count; i++)
        link_symbol(symbols, i);
    return true;
}

Symbol *symbol_add(Parser *p, Name name, SymbolKind kind, int index)
{
    Symbols *symbols = &p->symbols;

    if (!parse_room(p, &symbols->all, symbols->count, &symbols->room, sizeof *symbols->all, 1 << 26,
                    "names"))
        return NULL;
    if (symbols->count >= symbols->bucket_count && !make_buckets(p, symbols->bucket_count * 2))
        return NULL;
    Symbol *symbol = &symbols->all[symbols->count];
    *symbol = (Symbol){
        .name = name, .hash = hash_name(name), .kind = kind, .index = index, .depth = p->depth
    };
    link_symbol(symbols, symbols->count++);
    return symbol;
}

void symbols_drop(Parser *p, int first)
{
    Symbols *symbols = &p->symbols;

    while (symbols->count > first) {
        const Symbol *symbol = &symbols->all[--symbols->count];
        symbols->buckets[bucket_of(symbol->hash, symbols->bucket_count)] = symbol->next;
    }
}

/* ---- Registers ---- */

int register_add(Parser *p, Name name, PtxType type)
{
    Function *f = &p->module->functions[p->function];
    if (!parse_room(p, &f->registers, f->register_count, &p->register_room, sizeof *f->registers,
                    MOST_REGISTERS, "registers in a function"))
        return -1;
    f->registers[f->register_count] = (PtxRegister){ name, type };
    return f->register_count++;
}

/* The slot of the key, or the one where it belongs. Open addressing; at most half of the slots are
 * used. */
static int numbered_slot(const Symbols *symbols, uint64_t key)
{
    int mask = symbols->numbered_room - 1;
    int slot = (int) ((key * 0x9e3779b97f4a7c15ull >> 33) & (uint64_t) mask);

    while (symbols->numbered[slot].key && symbols->numbered[slot].key != key)
        slot = (slot + 1) & mask;
    return slot;
}

static bool grow_numbered(Parser *p)
{
    Symbols *symbols = &p->symbols, old = *symbols;

    symbols->numbered_room = old.numbered_room ? old.numbered_room * 2 : 256;
    symbols->numbered = calloc((size_t) symbols->numbered_room, sizeof *symbols->numbered);
    if (!symbols->numbered) {
        *symbols = old;
        return parse_fail(p, p->token.line, "not enough memory");
    }
    for (int i = 0; i < old.numbered_room; i++)
        if (old.numbered[i].key)
            symbols->numbered[numbered_slot(symbols, old.numbered[i].key)] = old.numbered[i];
    free(old.numbered);
    return true;
}

int symbol_register(Parser *p, const Symbol *symbol, int number, Name name)
{
    Symbols *symbols = &p->symbols;
    /* Numbers of ranges begin at 1, so no key is 0. */
    uint64_t key = (uint64_t) symbol->index << 32 | (uint32_t) number;
    PtxType type = symbol->type;

    if (symbols->numbered_count * 2 >= symbols->numbered_room && !grow_numbered(p))
        return -1;
    int slot = numbered_slot(symbols, key);
    if (symbols->numbered[slot].key)
        return symbols->numbered[slot].value;
    int index = register_add(p, name, type);
    if (index < 0)
        return -1;
    symbols->numbered[slot].key = key;
    symbols->numbered[slot].value = index;
    symbols->numbered_count++;
    return index;
}

static bool is_local(const Module *module, const Symbol *symbol)
{
    if (symbol->kind == SYMBOL_VARIABLE)
        return !module->variables[symbol->index].is_visible &&
               !module->variables[symbol->index].is_extern;
    return symbol->kind == SYMBOL_FUNCTION && !module->functions[symbol->index].is_visible;
}

void symbols_hide_local(Parser *p)
{
    for (int i = 0; i < p->symbols.count; i++)
        if (is_local(p->module, &p->symbols.all[i]))
            p->symbols.all[i].name.length = -1; /* equals no name */
}

/* ---- Special registers ---- */

static const struct {
    const char *name;
    Special special;
    bool has_components;
} specials[] = {
    { "%tid", SPECIAL_TID, true },
    { "%ntid", SPECIAL_NTID, true },
    { "%ctaid", SPECIAL_CTAID, true },
    { "%nctaid", SPECIAL_NCTAID, true },
    { "%laneid", SPECIAL_LANEID, false },
    { "%warpid", SPECIAL_WARPID, false },
    { "%nwarpid", SPECIAL_NWARPID, false },
    { "%smid", SPECIAL_SMID, false },
    { "%nsmid", SPECIAL_NSMID, false },
    { "%gridid", SPECIAL_GRIDID, false },
    { "%lanemask_eq", SPECIAL_LANEMASK_EQ, false },
    { "%lanemask_le", SPECIAL_LANEMASK_LE, false },
    { "%lanemask_lt", SPECIAL_LANEMASK_LT, false },
    { "%lanemask_ge", SPECIAL_LANEMASK_GE, false },
    { "%lanemask_gt", SPECIAL_LANEMASK_GT, false },
    { "%clock", SPECIAL_CLOCK, false },
    { "%clock_hi", SPECIAL_CLOCK_HI, false },
    { "%clock64", SPECIAL_CLOCK64, false },
    { "%globaltimer", SPECIAL_GLOBALTIMER, false },
    { "%globaltimer_lo", SPECIAL_GLOBALTIMER_LO, false },
    { "%globaltimer_hi", SPECIAL_GLOBALTIMER_HI, false },
    { "%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM_SIZE, false },
    { "%total_smem_size", SPECIAL_TOTAL_SMEM_SIZE, false },
    { "%clusterid", SPECIAL_CLUSTERID, true },
    { "%nclusterid", SPECIAL_NCLUSTERID, true },
    { "%cluster_ctaid", SPECIAL_CLUSTER_CTAID, true },
    { "%cluster_nctaid", SPECIAL_CLUSTER_NCTAID, true },
    { "%cluster_ctarank", SPECIAL_CLUSTER_CTARANK, false },
    { "%cluster_nctarank", SPECIAL_CLUSTER_NCTARANK, false },
    { "%is_explicit_cluster", SPECIAL_UNKNOWN, false },
    { "%aggr_smem_size", SPECIAL_UNKNOWN, false },
    { "%current_graph_exec", SPECIAL_UNKNOWN, false },
    { "%reserved_smem_offset_0", SPECIAL_RESERVED_SMEM, false },
    { "%reserved_smem_offset_1", SPECIAL_RESERVED_SMEM, false },
    { "%reserved_smem_offset_begin", SPECIAL_UNKNOWN, false },
    { "%reserved_smem_offset_end", SPECIAL_UNKNOWN, false },
    { "%reserved_smem_offset_cap", SPECIAL_UNKNOWN, false },
};

enum { ENVREGS = 32, PERFORMANCE_COUNTERS = 8 };

/* %envreg0 to %envreg31 and %pm0 to %pm7: ranges whose number is the component. */
static void add_special_range(Parser *p, const char *name, Special special, int count)
{
    Symbol *symbol = symbol_add(p, (Name){ name, (int) strlen(name) }, SYMBOL_RANGE, -special - 1);

    if (symbol)
        symbol->count = count;
}

bool symbols_open(Parser *p)
{
    if (!make_buckets(p, 256))
        return false;
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        Name name = { specials[i].name, (int) strlen(specials[i].name) };
        Symbol *symbol = symbol_add(p, name, SYMBOL_SPECIAL, (int) specials[i].special);
        if (symbol)
            symbol->count = specials[i].has_components;
    }
    add_special_range(p, "%envreg", SPECIAL_ENVREG, ENVREGS);
    add_special_range(p, "%pm", SPECIAL_UNKNOWN, PERFORMANCE_COUNTERS);
    return !p->failed;
}

void symbols_free(Symbols *symbols)
{
    free(symbols->all);
    free(symbols->buckets);
    free(symbols->numbered);
}
