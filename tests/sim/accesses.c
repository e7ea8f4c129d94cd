/* accesses.c - compares the memory accesses of a program in PTX, which the simulated GPU counts,
 * with those in machine code, which hardware counts.
 *
 *     accesses --ptx OBJECT    prints the PTX text in a program or library (built --no-compress)
 *     accesses PTX CUBIN       compares; a line for each kernel and kind of access that differs
 *
 * It compares the number of instructions in the text, by kind and width. ptxas may unroll a loop,
 * which multiplies all widths alike and does not change the counts of a run. Other changes do:
 *
 *     merged  machine code has a width that PTX does not have, and fewer bytes of narrower accesses
 *             than expected: neighbouring accesses were merged
 *     mixed   both widths occur in both, but the wider one is more frequent in machine code
 *     split   PTX has a width that machine code lacks; machine code has narrower accesses instead
 *     fewer   the same widths, but fewer accesses: redundant ones were removed
 *     other   only one of the two has accesses of this kind
 *
 * Generic accesses count as global, which is true in the labs. Kernels that call functions are only
 * listed.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 256, NAME = 512, WIDTHS = 5, MOST_BYTES = 64 << 20 };

typedef enum Kind {
    GLOBAL_LOAD,
    GLOBAL_STORE,
    GLOBAL_ATOMIC,
    SHARED_LOAD,
    SHARED_STORE,
    SHARED_ATOMIC,
    COPY,
    KINDS
} Kind;

static const char *const kind_words[KINDS] = {
    [GLOBAL_LOAD] = "global load",
    [GLOBAL_STORE] = "global store",
    [GLOBAL_ATOMIC] = "global atomic",
    [SHARED_LOAD] = "shared load",
    [SHARED_STORE] = "shared store",
    [SHARED_ATOMIC] = "shared atomic",
    [COPY] = "copy",
};

/* By log2 of the bytes per lane; all atomics and copies are in the first element. */
typedef struct Counts {
    char name[NAME];
    bool calls; /* it calls a function, whose accesses are not counted here */
    int count[KINDS][WIDTHS];
} Counts;

typedef struct Table {
    Counts kernels[KERNELS];
    int count;
} Table;

typedef struct Text {
    unsigned char *bytes;
    size_t size;
} Text;

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "accesses: %s: %s\n", what, why);
    exit(2);
}

static Text read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    Text text = { malloc(MOST_BYTES + 1), 0 };

    if (!file || !text.bytes)
        stop(path, "cannot be read");
    text.size = fread(text.bytes, 1, MOST_BYTES, file);
    text.bytes[text.size] = 0;
    fclose(file);
    return text;
}

static Counts *add_kernel(Table *table, const char *name, size_t length)
{
    Counts *kernel = &table->kernels[table->count];

    if (table->count == KERNELS || length >= NAME)
        stop("kernels", "too many, or a name too long");
    memset(kernel, 0, sizeof *kernel);
    memcpy(kernel->name, name, length);
    table->count++;
    return kernel;
}

/* ---- PTX ---- */

static bool has_part(const char *opcode, const char *part)
{
    size_t length = strlen(part);

    for (const char *at = opcode; (at = strchr(at, '.')); at++)
        if (!strncmp(at + 1, part, length) && (!at[1 + length] || strchr(".:", at[1 + length])))
            return true;
    return false;
}

/* "ld.global.v4.f32": 4, which is log2 of 16 bytes. */
static int width_of(const char *opcode)
{
    const char *type = strrchr(opcode, '.');
    int bits = type ? atoi(type + 2 + (type[1] == 'p')) : 0, width = 0; /* .pred has none */
    int bytes = (bits ? bits : 8) / 8;

    bytes *= has_part(opcode, "v4") ? 4 : has_part(opcode, "v2") ? 2 : 1;
    while (1 << width < bytes && width < WIDTHS - 1)
        width++;
    return width;
}

/* Atomics on shared memory that ptxas implements as a loop of a load and a compare-and-swap:
 * floating-point, 16-bit, and 64-bit ones except exchanges (tested with ptxas 13.0, sm_80, sm_90).
 */
static bool is_loop(const char *opcode, int width)
{
    return has_part(opcode, "f32") || strstr(opcode, "f16") || width == 1 ||
           (width == 3 && !has_part(opcode, "exch") && !has_part(opcode, "cas"));
}

static void count_atomic(Counts *kernel, const char *opcode)
{
    bool shared = has_part(opcode, "shared");
    int width = strstr(opcode, "f16x2") ? 2 : width_of(opcode);

    kernel->count[shared ? SHARED_ATOMIC : GLOBAL_ATOMIC][0]++;
    if (shared && is_loop(opcode, width))
        kernel->count[SHARED_LOAD][width > 2 ? width : 2]++;
}

static void count_opcode(Counts *kernel, const char *opcode)
{
    static const char *const others[] = { "param", "local", "const" };
    bool load = !strncmp(opcode, "ld.", 3) || !strncmp(opcode, "ldu.", 4);
    bool store = !strncmp(opcode, "st.", 3), shared = has_part(opcode, "shared");

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (has_part(opcode, others[i]))
            return;
    if (load)
        kernel->count[shared ? SHARED_LOAD : GLOBAL_LOAD][width_of(opcode)]++;
    else if (store)
        kernel->count[shared ? SHARED_STORE : GLOBAL_STORE][width_of(opcode)]++;
    else if (!strncmp(opcode, "atom.", 5) || !strncmp(opcode, "red.", 4))
        count_atomic(kernel, opcode);
    else if (!strncmp(opcode, "cp.async.c", 10) && has_part(opcode, "global"))
        kernel->count[COPY][0]++;
    else if (!strncmp(opcode, "call", 4))
        kernel->calls = true;
}

/* One statement; a label or a guard may precede its opcode. */
static void count_statement(Counts *kernel, const char *at, const char *end)
{
    char opcode[128];
    size_t length;

    for (;;) {
        while (at < end && strchr(" \t\r\n{}", *at))
            at++;
        length = strcspn(at, " \t\r\n;{}");
        if (at >= end || !length)
            return;
        if (*at != '@' && at[length - 1] != ':')
            break;
        at += length;
    }
    if (length < sizeof opcode && at + length <= end) {
        memcpy(opcode, at, length);
        opcode[length] = 0;
        count_opcode(kernel, opcode);
    }
}

static const char *end_of_body(const char *at)
{
    int depth = 0;

    for (; *at; at++) {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        if (*at == '}' && !depth)
            return at;
    }
    return at;
}

static void count_body(Counts *kernel, const char *at, const char *end)
{
    while (at < end) {
        const char *stop_at = at + strcspn(at, ";\n");
        count_statement(kernel, at, stop_at < end ? stop_at : end);
        at = stop_at + 1;
    }
}

static void read_ptx(Table *table, const char *text)
{
    for (const char *at = text; (at = strstr(at, ".entry "));) {
        const char *name = at + strlen(".entry ");
        size_t length = strcspn(name, " (\n{");
        const char *body = strchr(name, '{');
        if (!body)
            return;
        count_body(add_kernel(table, name, length), body, end_of_body(body));
        at = body;
    }
}

static uint64_t number_at(const Text *text, size_t at, size_t bytes)
{
    uint64_t value = 0;

    if (at > text->size || bytes > text->size - at)
        stop("the object", "its fat binary is truncated");
    memcpy(&value, text->bytes + at, bytes);
    return value;
}

/* A fat binary is a header (magic, version, header size, total size) and entries (kind: 1 for PTX,
 * header size, payload size, flags). Returns whether it contains PTX. */
static bool print_ptx_of(const Text *text, size_t at)
{
    enum { PTX = 1, COMPRESSED = 0xa000 };
    size_t end = at + 16 + number_at(text, at + 8, 8);

    at += number_at(text, at + 6, 2);
    while (at < end) {
        size_t header = number_at(text, at + 4, 4), payload = number_at(text, at + 8, 8);
        const char *ptx = (const char *) text->bytes + at + header;
        if (!header || header > text->size || payload > text->size ||
            at + header + payload > text->size)
            return false;
        if (number_at(text, at, 2) == PTX && !(number_at(text, at + 40, 8) & COMPRESSED))
            return printf("%.*s", (int) strnlen(ptx, payload), ptx) > 0;
        at += header + payload;
    }
    return false;
}

/* There may be more than one: nvcc's linker adds an empty one. */
static void print_ptx(const Text *text)
{
    static const unsigned char magic[] = { 0x50, 0xed, 0x55, 0xba, 1, 0 };
    const unsigned char *at = text->bytes, *end = at + text->size;

    while ((at = memmem(at, (size_t) (end - at), magic, sizeof magic))) {
        if (print_ptx_of(text, (size_t) (at - text->bytes)))
            return;
        at++;
    }
    stop("the object", "it contains no PTX, or the PTX is compressed");
}

/* ---- Machine code: 16 bytes per instruction, from Volta on ---- */

/* The lowest 9 bits of an opcode, and whether a width is in bits 73 to 75. */
static const struct {
    int opcode;
    Kind kind;
    bool has_width;
} opcodes[] = {
    { 0x180, GLOBAL_LOAD, true },    /* LD */
    { 0x181, GLOBAL_LOAD, true },    /* LDG */
    { 0x185, GLOBAL_STORE, true },   /* ST */
    { 0x186, GLOBAL_STORE, true },   /* STG */
    { 0x184, SHARED_LOAD, true },    /* LDS */
    { 0x188, SHARED_STORE, true },   /* STS */
    { 0x18a, GLOBAL_ATOMIC, false }, /* ATOM */
    { 0x18b, GLOBAL_ATOMIC, false }, /* ATOM.CAS */
    { 0x1a8, GLOBAL_ATOMIC, false }, /* ATOMG */
    { 0x1a9, GLOBAL_ATOMIC, false }, /* ATOMG.CAS */
    { 0x1a3, GLOBAL_ATOMIC, false }, /* ATOMG of floats, Hopper */
    { 0x18e, GLOBAL_ATOMIC, false }, /* RED */
    { 0x1a6, GLOBAL_ATOMIC, false }, /* REDG of floats, Hopper */
    { 0x18c, SHARED_ATOMIC, false }, /* ATOMS */
    { 0x18d, SHARED_ATOMIC, false }, /* ATOMS.CAS */
    { 0x1ae, COPY, false },          /* LDGSTS */
};

/* U8, S8, U16, S16, 32, 64, 128 bits */
static const int width_codes[8] = { 0, 0, 1, 1, 2, 3, 4, 4 };

static void count_code(Counts *kernel, const unsigned char *code, size_t size)
{
    for (size_t at = 0; at + 16 <= size; at += 16) {
        uint64_t low, high;
        memcpy(&low, code + at, 8);
        memcpy(&high, code + at + 8, 8);
        for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
            if ((int) (low & 0x1ff) == opcodes[i].opcode)
                kernel->count[opcodes[i].kind]
                             [opcodes[i].has_width ? width_codes[high >> 9 & 7] : 0]++;
    }
}

/* The section's bytes, checked to lie within the file. */
static const unsigned char *section(const Text *file, const Elf64_Shdr *header)
{
    if (header->sh_offset > file->size || header->sh_size > file->size - header->sh_offset)
        stop("the cubin", "a section extends past the end of the file");
    return file->bytes + header->sh_offset;
}

static void read_cubin(Table *table, const Text *file)
{
    static const char text[] = ".text.";
    Elf64_Ehdr head;

    if (file->size < sizeof head)
        stop("the cubin", "too short");
    memcpy(&head, file->bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_shstrndx >= head.e_shnum ||
        head.e_shoff > file->size ||
        (size_t) head.e_shnum * sizeof(Elf64_Shdr) > file->size - head.e_shoff)
        stop("the cubin", "not a file written by ptxas");
    const Elf64_Shdr *headers = (const Elf64_Shdr *) (file->bytes + head.e_shoff);
    const char *names = (const char *) section(file, &headers[head.e_shstrndx]);
    for (int i = 0; i < head.e_shnum; i++) {
        const char *name = names + headers[i].sh_name;
        if (headers[i].sh_name >= headers[head.e_shstrndx].sh_size || strncmp(name, text, 6))
            continue;
        count_code(add_kernel(table, name + 6, strlen(name + 6)), section(file, &headers[i]),
                   headers[i].sh_size);
    }
}

/* ---- Both ---- */

static int total(const int count[WIDTHS])
{
    int sum = 0;

    for (int w = 0; w < WIDTHS; w++)
        sum += count[w];
    return sum;
}

/* Whether wide accesses are more frequent in machine code. */
static bool wider(const int ptx[WIDTHS], const int code[WIDTHS])
{
    for (int w = 0; w < WIDTHS; w++)
        for (int narrow = 0; narrow < w; narrow++)
            if (ptx[w] && ptx[narrow] &&
                (long) code[w] * ptx[narrow] > (long) code[narrow] * ptx[w])
                return true;
    return false;
}

/* Returns NULL if there is no difference except for unrolled loops. */
static const char *difference(const int ptx[WIDTHS], const int code[WIDTHS])
{
    bool lacks = false, fewer = false;

    if (!memcmp(ptx, code, WIDTHS * sizeof *ptx))
        return NULL;
    if (!total(ptx) || !total(code))
        return "other";
    for (int w = 0; w < WIDTHS; w++) {
        if (code[w] && !ptx[w] && w > 0 && !lacks)
            return "merged";
        lacks |= ptx[w] && !code[w];
        fewer |= code[w] < ptx[w];
    }
    for (int w = WIDTHS - 1; w > 0; w--)
        if (ptx[w] && !code[w])
            return "split";
    return wider(ptx, code) ? "mixed" : fewer ? "fewer" : NULL;
}

/* "32 x 4" per width: 32 accesses of 4 bytes per lane; atomics and copies have no width. */
static void print_counts(const int count[WIDTHS], bool has_width)
{
    const char *comma = "";

    for (int w = 0; w < WIDTHS; w++) {
        if (!count[w])
            continue;
        if (has_width)
            printf("%s%d x %d", comma, count[w], 1 << w);
        else
            printf("%d", count[w]);
        comma = ", ";
    }
    if (!total(count))
        printf("0");
}

static void compare(const Counts *ptx, const Counts *code)
{
    if (ptx->calls) {
        printf("%s: calls functions\n", ptx->name);
        return;
    }
    for (int k = 0; k < KINDS; k++) {
        const char *what = difference(ptx->count[k], code->count[k]);
        bool has_width = k != GLOBAL_ATOMIC && k != SHARED_ATOMIC && k != COPY;
        if (!what)
            continue;
        printf("%s: %s: %s: ", ptx->name, kind_words[k], what);
        print_counts(ptx->count[k], has_width);
        printf(" -> ");
        print_counts(code->count[k], has_width);
        printf("\n");
    }
}

int main(int count, char **words)
{
    static Table ptx, code;

    if (count != 3)
        stop("usage", "accesses --ptx OBJECT, or accesses PTX CUBIN");
    Text second = read_all(words[2]);
    if (!strcmp(words[1], "--ptx")) {
        print_ptx(&second);
        free(second.bytes);
        return 0;
    }
    Text first = read_all(words[1]);
    read_ptx(&ptx, (char *) first.bytes);
    read_cubin(&code, &second);
    if (!ptx.count)
        stop(words[1], "contains no kernel");
    for (int i = 0; i < ptx.count; i++) {
        int j = 0;
        while (j < code.count && strcmp(code.kernels[j].name, ptx.kernels[i].name))
            j++;
        if (j == code.count)
            stop(ptx.kernels[i].name, "is not in the machine code");
        compare(&ptx.kernels[i], &code.kernels[j]);
    }
    free(first.bytes);
    free(second.bytes);
    return 0;
}
