/* ptx_mutate.c - mutations that keep a text close to PTX: they move lines, replace words and parts
 * of opcodes, and delete pieces.
 */
#include "ptx_mutate.h"

#include <ctype.h>
#include <string.h>

uint64_t fuzz_state;

typedef struct Text {
    uint8_t *at;
    size_t size, room;
} Text;

/* ---- Mutations ---- */

/* Replaces `length` bytes by `with`. */
static void replace(Text *text, size_t at, size_t length, const void *with, size_t size)
{
    if (text->size - length + size > text->room)
        return;
    memmove(text->at + at + size, text->at + at + length, text->size - at - length);
    memcpy(text->at + at, with, size);
    text->size += size - length;
}

static void change_byte(Text *text, const Text *other)
{
    static const char bytes[] = "{}[]()<>;:,.@!%$_|+-*/\"\\ \n0189afUx\0\377";

    (void) other;
    if (text->size)
        text->at[fuzz_below(text->size)] =
            (uint8_t) (fuzz_next() % 4 ? (uint64_t) bytes[fuzz_below(sizeof bytes)] : fuzz_next());
}

static void remove_part(Text *text, const Text *other)
{
    size_t at = fuzz_below(text->size), length = fuzz_below(fuzz_next() % 4 ? 8 : 400);

    (void) other;
    replace(text, at, length < text->size - at ? length : text->size - at, "", 0);
}

/* Inserts a piece of another text, or of the same text. */
static void insert_part(Text *text, const Text *other)
{
    uint8_t part[400];
    size_t from = fuzz_below(other->size), length = fuzz_below(fuzz_next() % 4 ? 40 : sizeof part);

    if (length > other->size - from)
        length = other->size - from;
    memcpy(part, other->at + from, length);
    replace(text, fuzz_below(text->size), 0, part, length);
}

static void insert_word(Text *text, const Text *other)
{
    /* clang-format off */
    static const char *const words[] = {
        "{", "}", "};", "{ .reg .b32 %r<9>;", "@%p1 ", "@!%p1 ", "bra L;", "L:", "L: ", "ret;",
        "exit;", "brx.idx %r1, t;", "t: .branchtargets L, L;",
        "p: .callprototype _ (.param .b32 _);", "call (%r1), f, (%r1);", "call %rd1, p;",
        ".reg .b32 %r<1000000000>;", ".reg .v4 .f32 v;", ".shared .b8 s[4294967296];",
        ".global .b8 g[] = {1,2,{3}};", ".global .u64 g[2] = {g, g+1};",
        ".global .b8 g[9] = {0xFF(g), 0xFF00(g)};", ".global .u32 g[3][4] = {{1},2,{3,4}};",
        ".align 3", ".align 1048576", ".extern ", ".common ", ".v4", "18446744073709551615",
        "0xffffffffffffffff", "-", "(", "?:", "1 ? 2 : 3", "1/0", "%tid.x", "%envreg31",
        "WARP_SZ", "0f3f800000", "1e999", ".loc 1 2 3", ", inlined_at 1 2 3", ".file 65535 \"x\"",
        ".pragma \"x\";", ".section .x {", ".func (.reg .b32 r) f (.reg .b32 a)", ".entry k (",
        ".param .b32 a", "/*", "//", "wmma.x {", ".alias", "[%rd1+", "{%r1, %r2}", "|", "_",
    };
    /* clang-format on */
    const char *word = words[fuzz_below(sizeof words / sizeof *words)];

    (void) other;
    replace(text, fuzz_below(text->size), 0, word, strlen(word));
}

static size_t line_at(const Text *text, size_t at)
{
    while (at && text->at[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const Text *text, size_t at)
{
    while (at < text->size && text->at[at++] != '\n')
        ;
    return at;
}

/* Replaces an opcode or a part of one by another. */
static void change_opcode(Text *text, const Text *other)
{
    /* clang-format off */
#define OP(name, ...) #name,
#define OP2(enumerator, name, ...) name,
#define MOD(name) "." #name,
    static const char *const ops[] = {
#include "sim/ptx/ops.def"
    };
    static const char *const parts[] = {
        PTX_MODS(MOD)
        ".pred", ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16",
        ".s32", ".s64", ".f16", ".f16x2", ".bf16", ".bf16x2", ".f32", ".f64", ".param", ".const",
        ".global", ".shared", ".local",
    };
#undef OP
#undef OP2
#undef MOD
    /* clang-format on */
    const char *word = parts[fuzz_below(sizeof parts / sizeof *parts)];
    size_t at = fuzz_below(text->size), length;

    (void) other;
    while (at < text->size && text->at[at] != '.' && text->at[at] != '\n')
        at++;
    if (at < text->size && text->at[at] == '\n') {
        word = ops[fuzz_below(sizeof ops / sizeof *ops)];
        while (at < text->size && isspace(text->at[at]))
            at++;
    }
    for (length = at < text->size; at + length < text->size && isalnum(text->at[at + length]);)
        length++;
    if (at < text->size)
        replace(text, at, fuzz_next() % 4 ? length : 0, word, strlen(word));
}

/* Replaces a digit, which often selects another register of the same kind. */
static void change_digit(Text *text, const Text *other)
{
    size_t at = fuzz_below(text->size);

    (void) other;
    while (at < text->size && !isdigit(text->at[at]))
        at++;
    if (at < text->size)
        text->at[at] = (uint8_t) ('0' + fuzz_below(10));
}

/* Moves a whole line, which keeps a text nearly valid. */
static void move_line(Text *text, const Text *other)
{
    uint8_t line[400];
    size_t at = line_at(other, fuzz_below(other->size)), length = line_end(other, at) - at;
    size_t to = line_at(text, fuzz_below(text->size));
    size_t dropped = fuzz_next() % 2 ? line_end(text, to) - to : 0;

    if (length > sizeof line)
        return;
    memcpy(line, other->at + at, length);
    replace(text, to, dropped, line, length);
}

static void cut_off(Text *text, const Text *other)
{
    (void) other;
    text->size = fuzz_below(text->size + 1);
}

static void mutate(Text *text, const Text *other)
{
    static void (*const mutations[])(Text *, const Text *) = {
        change_byte,  remove_part,   insert_part,   insert_word,   insert_word, change_digit,
        change_digit, change_opcode, change_opcode, change_opcode, move_line,   move_line,
    };

    for (size_t n = 1 + fuzz_below(6); n > 0; n--)
        mutations[fuzz_below(sizeof mutations / sizeof *mutations)](text,
                                                                    fuzz_next() % 2 ? other : text);
    if (fuzz_next() % 64 == 0)
        cut_off(text, other);
}

/* ---- The interface of libFuzzer ---- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    Text text = { data, size, most };

    fuzz_state = seed;
    if (!size || fuzz_next() % 4 == 0)
        return LLVMFuzzerMutate(data, size, most);
    mutate(&text, &text);
    return text.size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                                 uint8_t *out, size_t most, unsigned seed)
{
    Text text = { out, a_size < most ? a_size : most, most }, other = { (uint8_t *) b, b_size, 0 };

    fuzz_state = seed;
    memcpy(out, a, text.size);
    for (size_t n = 1 + fuzz_below(4); n > 0; n--)
        (fuzz_next() % 2 ? move_line : insert_part)(&text, &other);
    return text.size;
}
