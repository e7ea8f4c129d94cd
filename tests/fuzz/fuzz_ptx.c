/* fuzz_ptx.c - any bytes as a PTX text: it is refused with a message, or all that was read is
 * sound.
 *
 * With libFuzzer:   clang -fsanitize=fuzzer,address,undefined -Igrader/sim tests/fuzz/fuzz_ptx.c
 *                   grader/sim/{parse*,lex,module,cfg}.c
 * Without, -DSTANDALONE gives it a main that mutates the texts that it is given, or only runs them:
 * fuzz_ptx RUNS SEED FILE..., where RUNS may be 0. The same seed makes the same runs. With a file
 * LAST in the environment, each text is written there before it is tried.
 */
#include "exec.h"
#include "module.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* ---- What was read is sound: reads all of it, so that a sanitizer sees what is not there ---- */

static void check_name(const Module *module, Name name, bool may_be_ours)
{
    bool inside =
        name.at >= module->text && name.at + name.length <= module->text + module->text_bytes;

    MUST(name.length >= 0 && (inside || may_be_ours));
}

static void check_operand(const Module *module, const Function *f, const Operand *o, bool element)
{
    check_name(module, o->name, false);
    switch (o->kind) {
    case OPERAND_REGISTER:
        MUST(o->index >= 0 && o->index < f->register_count);
        break;
    case OPERAND_VARIABLE:
        MUST(o->index >= 0 && o->index < module->variable_count);
        break;
    case OPERAND_FUNCTION:
        MUST(o->index >= -1 && o->index < module->function_count);
        break;
    case OPERAND_LABEL:
        MUST(o->index >= 0 && o->index <= f->instruction_count);
        break;
    case OPERAND_TABLE:
        MUST(o->index >= 0 && o->index < f->table_count);
        break;
    case OPERAND_ADDRESS:
        MUST(o->index >= (o->is_register ? 0 : -1));
        MUST(o->index < (o->is_register ? f->register_count : module->variable_count));
        break;
    case OPERAND_VECTOR:
        MUST(!element && o->first >= 0 && o->count > 0 && o->count <= f->operand_count - o->first);
        for (int i = 0; i < o->count; i++)
            check_operand(module, f, &f->operands[o->first + i], true);
        break;
    case OPERAND_SPECIAL:
        MUST(o->special <= SPECIAL_UNKNOWN && o->component >= 0 && o->component < 32);
        break;
    default:
        MUST(o->kind == OPERAND_INTEGER || o->kind == OPERAND_FLOAT || o->kind == OPERAND_DISCARD);
    }
}

static void check_instruction(const Module *module, const Function *f, const Instruction *in)
{
    MUST(in->op < OPS && class_of(in) < CLASSES);
    MUST(in->guard >= -1 && in->guard < f->register_count);
    MUST(in->guard < 0 || f->registers[in->guard].type == TYPE_PRED);
    MUST(in->first >= 0 && in->count >= 0 && in->count <= f->operand_count - in->first);
    MUST(in->call_returns >= 0 && in->call_returns <= in->count);
    MUST(in->type_count <= INSTRUCTION_TYPES && in->mod_count <= INSTRUCTION_MODS);
    MUST(in->vector == 1 || in->vector == 2 || in->vector == 4 || in->vector == 8);
    MUST(in->file >= 0 && (!in->file || module->files[in->file]));
    check_name(module, in->text, true);
    for (int i = 0; i < in->count; i++)
        check_operand(module, f, &f->operands[in->first + i], false);
}

static void check_tables(const Module *module, const Function *f)
{
    for (int i = 0; i < f->table_count; i++)
        for (int e = 0; e < f->tables[i].count; e++)
            MUST(f->tables[i].entries[e] >= -1 &&
                 (f->tables[i].entries[e] <= f->instruction_count ||
                  f->tables[i].entries[e] < module->function_count));
}

static void check_graph(const Function *f)
{
    int *rpc = malloc(((size_t) f->instruction_count + 1) * sizeof *rpc);

    MUST(rpc);
    find_reconvergence(f, rpc);
    for (int i = 0; i < f->instruction_count; i++) {
        const Instruction *in = &f->instructions[i];
        bool splits = in->op == OP_brx || (in->op == OP_bra && in->guard >= 0);
        MUST(splits ? rpc[i] >= 0 && rpc[i] <= f->instruction_count : rpc[i] == -1);
    }
    free(rpc);
}

static void check_function(const Module *module, const Function *f)
{
    check_name(module, f->name, false);
    for (int i = 0; i < f->param_count; i++)
        MUST(f->params[i] >= 0 && f->params[i] < module->variable_count);
    for (int i = 0; i < f->return_count; i++)
        MUST(f->returns[i] >= 0 && f->returns[i] < module->variable_count);
    for (int i = 0; i < f->register_count; i++)
        check_name(module, f->registers[i].name, false);
    for (int i = 0; i < f->instruction_count; i++)
        check_instruction(module, f, &f->instructions[i]);
    check_tables(module, f);
    check_graph(f);
}

static void check_variable(const Module *module, const Variable *variable)
{
    volatile uint8_t last;

    check_name(module, variable->name, false);
    MUST(variable->function >= -1 && variable->function < module->function_count);
    MUST(variable->align > 0 && !(variable->align & (variable->align - 1)));
    MUST(variable->size <= (size_t) 1 << 40);
    if (variable->initial && variable->size)
        last = variable->initial[variable->size - 1];
    (void) last;
    for (int i = 0; i < variable->relocation_count; i++) {
        const Relocation *r = &variable->relocations[i];
        MUST(variable->initial && r->offset + (size_t) r->size <= variable->size);
        MUST((r->variable >= 0) != (r->function >= 0));
        MUST(r->variable < module->variable_count && r->function < module->function_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[200] = "";
    Module *module = module_parse((const char *) data, size, why, sizeof why);

    if (!module) {
        MUST(!strncmp(why, "PTX line ", 9));
        return 0;
    }
    for (int i = 0; i < module->variable_count; i++)
        check_variable(module, &module->variables[i]);
    for (int i = 0; i < module->function_count; i++)
        check_function(module, &module->functions[i]);
    module_free(module);
    return 0;
}

#ifdef STANDALONE

#include <stdio.h>

typedef struct Bytes {
    uint8_t *at;
    size_t size, room;
} Bytes;

static uint64_t state;

static uint64_t next(void)
{
    state += 0x9e3779b97f4a7c15ull;
    uint64_t x = state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static size_t below(size_t n)
{
    return n ? (size_t) (next() % n) : 0;
}

/* ---- Mutations ---- */

/* Puts `with` where `length` bytes were. */
static void replace(Bytes *text, size_t at, size_t length, const void *with, size_t size)
{
    if (text->size - length + size > text->room)
        return;
    memmove(text->at + at + size, text->at + at + length, text->size - at - length);
    memcpy(text->at + at, with, size);
    text->size += size - length;
}

static void change_byte(Bytes *text, const Bytes *other)
{
    static const char bytes[] = "{}[]()<>;:,.@!%$_|+-*/\"\\ \n0189afUx\0\377";

    (void) other;
    if (text->size)
        text->at[below(text->size)] =
            (uint8_t) (next() % 4 ? (uint64_t) bytes[below(sizeof bytes)] : next());
}

static void remove_part(Bytes *text, const Bytes *other)
{
    size_t at = below(text->size), length = below(next() % 4 ? 8 : 400);

    (void) other;
    replace(text, at, length < text->size - at ? length : text->size - at, "", 0);
}

/* A piece of another text, or of the same. */
static void insert_part(Bytes *text, const Bytes *other)
{
    uint8_t part[400];
    size_t from = below(other->size), length = below(next() % 4 ? 40 : sizeof part);

    if (length > other->size - from)
        length = other->size - from;
    memcpy(part, other->at + from, length);
    replace(text, below(text->size), 0, part, length);
}

static void insert_word(Bytes *text, const Bytes *other)
{
    static const char *const words[] = {
        "{",
        "}",
        "};",
        "{ .reg .b32 %r<9>;",
        "@%p1 ",
        "@!%p1 ",
        "bra L;",
        "L:",
        "L: ",
        "ret;",
        "exit;",
        "brx.idx %r1, t;",
        "t: .branchtargets L, L;",
        "p: .callprototype _ (.param .b32 _);",
        "call (%r1), f, (%r1);",
        "call %rd1, p;",
        ".reg .b32 %r<1000000000>;",
        ".reg .v4 .f32 v;",
        ".shared .b8 s[4294967296];",
        ".global .b8 g[] = {1,2,{3}};",
        ".global .u64 g[2] = {g, g+1};",
        ".global .b8 g[9] = {0xFF(g), 0xFF00(g)};",
        ".global .u32 g[3][4] = {{1},2,{3,4}};",
        ".align 3",
        ".align 1048576",
        ".extern ",
        ".common ",
        ".v4",
        "18446744073709551615",
        "0xffffffffffffffff",
        "-",
        "(",
        "?:",
        "1 ? 2 : 3",
        "1/0",
        "%tid.x",
        "%envreg31",
        "WARP_SZ",
        "0f3f800000",
        "1e999",
        ".loc 1 2 3",
        ", inlined_at 1 2 3",
        ".file 65535 \"x\"",
        ".pragma \"x\";",
        ".section .x {",
        ".func (.reg .b32 r) f (.reg .b32 a)",
        ".entry k (",
        ".param .b32 a",
        "/*",
        "//",
        "wmma.x {",
        ".alias",
        "[%rd1+",
        "{%r1, %r2}",
        "|",
        "_",
    };
    const char *word = words[below(sizeof words / sizeof *words)];

    (void) other;
    replace(text, below(text->size), 0, word, strlen(word));
}

static size_t line_at(const Bytes *text, size_t at)
{
    while (at && text->at[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const Bytes *text, size_t at)
{
    while (at < text->size && text->at[at++] != '\n')
        ;
    return at;
}

/* Whole lines keep a text nearly right. */
static void move_line(Bytes *text, const Bytes *other)
{
    uint8_t line[400];
    size_t at = line_at(other, below(other->size)), length = line_end(other, at) - at;
    size_t to = line_at(text, below(text->size));
    size_t dropped = next() % 2 ? line_end(text, to) - to : 0;

    if (length > sizeof line)
        return;
    memcpy(line, other->at + at, length);
    replace(text, to, dropped, line, length);
}

static void cut_off(Bytes *text, const Bytes *other)
{
    (void) other;
    text->size = below(text->size + 1);
}

static void mutate(Bytes *text, const Bytes *other)
{
    static void (*const mutations[])(Bytes *, const Bytes *) = {
        change_byte, change_byte, remove_part, insert_part, insert_word,
        insert_word, move_line,   move_line,   move_line,
    };

    for (size_t n = 1 + below(6); n > 0; n--)
        mutations[below(sizeof mutations / sizeof *mutations)](text, next() % 2 ? other : text);
    if (next() % 64 == 0)
        cut_off(text, other);
}

/* ---- Runs ---- */

static bool load(const char *path, Bytes *bytes)
{
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "rb");

    *bytes = (Bytes){ .at = malloc(MOST), .room = MOST };
    if (!file || !bytes->at)
        return false;
    bytes->size = fread(bytes->at, 1, MOST, file);
    fclose(file);
    return true;
}

/* An exact copy, so that reading behind its end is seen. */
static void try(const uint8_t *at, size_t size, const char *last)
{
    uint8_t *copy = malloc(size ? size : 1);
    FILE *file = last ? fopen(last, "wb") : NULL;

    if (file) {
        fwrite(at, 1, size, file);
        fclose(file);
    }
    MUST(copy);
    memcpy(copy, at, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

/* Small texts more often than large ones: the smaller of two. */
static const Bytes *pick(const Bytes *texts, int count)
{
    const Bytes *a = &texts[below((size_t) count)], *b = &texts[below((size_t) count)];

    return a->size < b->size ? a : b;
}

static void run(const Bytes *texts, int count, long runs, const char *last)
{
    Bytes text = { .at = malloc(2 << 20), .room = 2 << 20 };

    MUST(text.at);
    for (long i = 0; i < runs; i++) {
        const Bytes *base = pick(texts, count);
        memcpy(text.at, base->at, base->size);
        text.size = base->size;
        mutate(&text, pick(texts, count));
        try(text.at, text.size, last);
    }
    free(text.at);
}

int main(int argc, char **argv)
{
    int count = argc - 3;
    Bytes *texts = calloc((size_t) (count > 0 ? count : 1), sizeof *texts);

    if (count < 1 || !texts) {
        fprintf(stderr, "usage: fuzz_ptx RUNS SEED FILE...\n");
        return 2;
    }
    state = strtoull(argv[2], NULL, 0);
    for (int i = 0; i < count; i++) {
        if (!load(argv[3 + i], &texts[i])) {
            perror(argv[3 + i]);
            return 2;
        }
        try(texts[i].at, texts[i].size, getenv("LAST"));
    }
    run(texts, count, atol(argv[1]), getenv("LAST"));
    for (int i = 0; i < count; i++)
        free(texts[i].at);
    free(texts);
    return 0;
}

#endif
