/* parse_opcode.c - the words of an opcode: looked up and stored in the instruction.
 *
 * The first word is looked up in ops.def, dotted words among types, spaces and mods. Cache hints
 * (.L1::evict_last, .L2::128B) do not change results, so they are skipped, as is the operand that
 * .L2::cache_hint adds.
 */
#include "sim/ptx/parse.h"

#include <string.h>

/* ---- Tables ---- */

typedef enum WordKind { WORD_OPCODE, WORD_TYPE, WORD_SPACE, WORD_MOD } WordKind;

typedef struct OpcodeWord {
    const char *text;
    uint8_t length, kind, value;
} OpcodeWord;

#define WORD(text, kind, value)                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1, kind, value                                                        \
    }

static const OpcodeWord opcodes[] = {
#define OP(name, ...)              WORD(#name, WORD_OPCODE, OP_##name),
#define OP2(enumerator, name, ...) WORD(name, WORD_OPCODE, OP_##enumerator),
#include "sim/ptx/ops.def"
#undef OP
#undef OP2
};

static const OpcodeWord parts[] = { WORD("pred", WORD_TYPE, TYPE_PRED),
                                    WORD("b8", WORD_TYPE, TYPE_B8),
                                    WORD("b16", WORD_TYPE, TYPE_B16),
                                    WORD("b32", WORD_TYPE, TYPE_B32),
                                    WORD("b64", WORD_TYPE, TYPE_B64),
                                    WORD("b128", WORD_TYPE, TYPE_B128),
                                    WORD("u8", WORD_TYPE, TYPE_U8),
                                    WORD("u16", WORD_TYPE, TYPE_U16),
                                    WORD("u32", WORD_TYPE, TYPE_U32),
                                    WORD("u64", WORD_TYPE, TYPE_U64),
                                    WORD("s8", WORD_TYPE, TYPE_S8),
                                    WORD("s16", WORD_TYPE, TYPE_S16),
                                    WORD("s32", WORD_TYPE, TYPE_S32),
                                    WORD("s64", WORD_TYPE, TYPE_S64),
                                    WORD("f16", WORD_TYPE, TYPE_F16),
                                    WORD("f16x2", WORD_TYPE, TYPE_F16X2),
                                    WORD("bf16", WORD_TYPE, TYPE_BF16),
                                    WORD("bf16x2", WORD_TYPE, TYPE_BF16X2),
                                    WORD("f32", WORD_TYPE, TYPE_F32),
                                    WORD("f64", WORD_TYPE, TYPE_F64),
                                    WORD("tf32", WORD_TYPE, TYPE_TF32),
                                    WORD("f32x2", WORD_TYPE, TYPE_F32X2),
                                    WORD("e4m3", WORD_TYPE, TYPE_E4M3),
                                    WORD("e5m2", WORD_TYPE, TYPE_E5M2),
                                    WORD("e4m3x2", WORD_TYPE, TYPE_E4M3X2),
                                    WORD("e5m2x2", WORD_TYPE, TYPE_E5M2X2),
                                    WORD("u16x2", WORD_TYPE, TYPE_U16X2),
                                    WORD("s16x2", WORD_TYPE, TYPE_S16X2),
                                    WORD("param", WORD_SPACE, SPACE_PARAM),
                                    WORD("const", WORD_SPACE, SPACE_CONST),
                                    WORD("global", WORD_SPACE, SPACE_GLOBAL),
                                    WORD("shared", WORD_SPACE, SPACE_SHARED),
                                    WORD("local", WORD_SPACE, SPACE_LOCAL),
#define MOD(name) WORD(#name, WORD_MOD, MOD_##name),
                                    PTX_MODS(MOD)
#undef MOD
};

enum { SLOTS = sizeof(((WordTable *) 0)->slots) / sizeof(uint16_t) };

_Static_assert(sizeof opcodes / sizeof *opcodes < SLOTS / 4, "the hash table must stay sparse");
_Static_assert(sizeof parts / sizeof *parts < SLOTS / 4, "the hash table must stay sparse");

static unsigned slot_of(const char *text, int length)
{
    unsigned hash = (unsigned) length;

    for (int i = 0; i < length; i++)
        hash = hash * 31 + (unsigned char) text[i];
    return (hash ^ hash >> 10) % SLOTS;
}

static void fill_table(WordTable *table, const OpcodeWord *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned slot = slot_of(words[i].text, words[i].length);
        while (table->slots[slot])
            slot = (slot + 1) % SLOTS;
        table->slots[slot] = (uint16_t) (i + 1);
    }
}

void words_open(Parser *p)
{
    fill_table(&p->opcodes, opcodes, sizeof opcodes / sizeof *opcodes);
    fill_table(&p->parts, parts, sizeof parts / sizeof *parts);
}

static const OpcodeWord *find_word(const WordTable *table, const OpcodeWord *words, Name name)
{
    unsigned slot = slot_of(name.at, name.length);

    for (; table->slots[slot]; slot = (slot + 1) % SLOTS) {
        const OpcodeWord *word = &words[table->slots[slot] - 1];
        if (word->length == name.length && !memcmp(word->text, name.at, word->length))
            return word;
    }
    return NULL;
}

static const OpcodeWord *find_part(const Parser *p, Name dotted)
{
    return find_word(&p->parts, parts, (Name){ dotted.at + 1, dotted.length - 1 });
}

PtxType type_word(const Parser *p, Name dotted)
{
    const OpcodeWord *word = find_part(p, dotted);

    return word && word->kind == WORD_TYPE ? (PtxType) word->value : TYPE_NONE;
}

bool space_word(const Parser *p, Name dotted, Space *space)
{
    const OpcodeWord *word = find_part(p, dotted);

    if (!word || word->kind != WORD_SPACE)
        return false;
    *space = (Space) word->value;
    return true;
}

/* ---- An instruction's words ---- */

static void add_mod(Instruction *in, Mod mod)
{
    if (in->mod_count < INSTRUCTION_MODS)
        in->mods[in->mod_count++] = (uint8_t) mod;
    else
        in->mods[INSTRUCTION_MODS - 1] = MOD_other; /* more mods than any known instruction has */
    if (mod == MOD_v2 || mod == MOD_v4 || mod == MOD_v8)
        in->vector = mod == MOD_v2 ? 2 : mod == MOD_v4 ? 4 : 8;
    in->to |= mod == MOD_to;
}

static void add_word(Instruction *in, const OpcodeWord *word)
{
    if (!word)
        add_mod(in, MOD_other);
    else if (word->kind == WORD_SPACE)
        in->space = (Space) word->value;
    else if (word->kind == WORD_MOD)
        add_mod(in, (Mod) word->value);
    else if (in->type_count < INSTRUCTION_TYPES)
        in->types[in->type_count++] = (PtxType) word->value;
    else
        add_mod(in, MOD_other);
}

static bool begins(Name name, const char *text)
{
    size_t length = strlen(text);

    return (size_t) name.length >= length && !memcmp(name.at, text, length);
}

static bool is_cache_hint(Name dotted)
{
    return begins(dotted, ".L1::") || begins(dotted, ".L2::");
}

/* .shared::cta means .shared; .shared::cluster also keeps its second word. ::func is ignored. */
static void add_dotted(const Parser *p, Instruction *in, Name dotted)
{
    const char *colons = memmem(dotted.at, (size_t) dotted.length, "::", 2);

    if (!colons) {
        add_word(in, find_part(p, dotted));
        return;
    }
    Name first = { dotted.at, (int) (colons - dotted.at) };
    Name second = { colons + 1, dotted.length - first.length - 1 }; /* with a colon as its dot */
    Space space;
    if (!space_word(p, first, &space)) {
        add_mod(in, MOD_other);
        return;
    }
    in->space = space;
    if (!name_is(second, ":cta") && !name_is(second, ":func"))
        add_word(in, find_part(p, second));
}

/* Copies of tensors are not known. */
static bool is_known_cp(Name text)
{
    static const char *const others[] = { "cp.async.bulk.tensor", "cp.async.reduce" };

    if (!begins(text, "cp.async"))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins(text, others[i]))
            return false;
    return true;
}

void read_opcode(Parser *p, Instruction *in)
{
    const OpcodeWord *word = find_word(&p->opcodes, opcodes, p->token.text);
    const char *end = p->token.text.at + p->token.text.length;

    in->text = p->token.text;
    in->op = word && word->length ? (Op) word->value : OP_unknown;
    in->vector = 1;
    for (advance(p); p->token.kind == TOKEN_DOT && p->token.text.at == end; advance(p)) {
        end += p->token.text.length;
        if (!is_cache_hint(p->token.text))
            add_dotted(p, in, p->token.text);
    }
    in->text.length = (int) (end - in->text.at);
    if (in->op == OP_cp_async && !is_known_cp(in->text))
        in->op = OP_unknown;
}
