/* test_sim_carries.c - sums and products with a carry between words. */
#include "sim/sim_edges.h"
#include "sim/sim_rig.h"

/* ---- Carries: sums, differences and products of 128 and 256 bits, word by word ---- */

typedef struct Chain {
    const char *opcode;
    int operands, a, b, c, d; /* planes of 64 bits: 0 2 4 ... */
} Chain;

static void run_chain(const Chain *chain, size_t count, uint8_t *registers, uint32_t *carry,
                      uint32_t mask)
{
    for (size_t n = 0; n < count; n++) {
        Instruction in = rig_instruction(chain[n].opcode, chain[n].operands);
        Rig rig;
        if (rig_open(&rig, chain[n].opcode, chain[n].operands))
            rig_note(&rig);
        Code code = { 0 };
        Warp warp = { .code = &code, .registers = registers, .carry = carry };
        Step step = {
            .in = &in, .d = chain[n].d, .a = chain[n].a, .b = chain[n].b, .c = chain[n].c
        };
        CU_ASSERT_FATAL(bind_integer(&step, &in));
        step.run(&warp, &step, mask);
    }
}

static void carries_go_from_word_to_word(void)
{
    /* (a: 0 1) + (b: 2 3), - and *, in words of 64 bits with two planes each */
    static const Chain sum[] = { { "add.cc.u64", 3, 0, 4, 0, 8 },
                                 { "addc.cc.u64", 3, 2, 6, 0, 10 },
                                 { "addc.u64", 3, 28, 28, 0, 12 } };
    static const Chain difference[] = { { "sub.cc.u64", 3, 0, 4, 0, 8 },
                                        { "subc.cc.u64", 3, 2, 6, 0, 10 },
                                        { "subc.u64", 3, 28, 28, 0, 12 } };
    static const Chain mads[] = { { "mad.lo.cc.u64", 4, 0, 4, 2, 8 }, /* a0 * b0 + (a1: 128 bits) */
                                  { "madc.hi.cc.u64", 4, 0, 4, 6, 10 },
                                  { "addc.u64", 3, 28, 28, 0, 12 } };
    static uint64_t registers[16][LANES];
    uint64_t state = 5;

    for (int round = 0; round < 3000; round++) {
        uint32_t carry = (uint32_t) next_random(&state), before = carry;
        uint32_t mask = round % 3 ? ALL_LANES : (uint32_t) next_random(&state) | 1;
        for (int w = 0; w < 4; w++)
            for (int i = 0; i < LANES; i++)
                registers[w][i] = next_random(&state) & 1
                                      ? edges_64[next_random(&state) % COUNT(edges_64)]
                                      : next_random(&state);
        const Chain *chain = round % 3 == 0 ? sum : round % 3 == 1 ? difference : mads;
        run_chain(chain, 3, (uint8_t *) registers, &carry, mask);
        CU_ASSERT_EQUAL(carry & ~mask, before & ~mask);
        for (int i = 0; i < LANES; i++) {
            unsigned __int128 a = (unsigned __int128) registers[1][i] << 64 | registers[0][i];
            unsigned __int128 b = (unsigned __int128) registers[3][i] << 64 | registers[2][i];
            unsigned __int128 wide = (unsigned __int128) registers[0][i] * registers[2][i];
            unsigned __int128 plus = (unsigned __int128) registers[3][i] << 64 | registers[1][i];
            unsigned __int128 want = chain == sum          ? a + b
                                     : chain == difference ? a - b
                                                           : wide + plus;
            uint64_t over = chain == sum          ? want < a
                            : chain == difference ? -(uint64_t) (a < b)
                                                  : want < wide;
            if (!(mask >> i & 1))
                continue;
            CU_ASSERT_EQUAL(registers[4][i], (uint64_t) want);
            CU_ASSERT_EQUAL(registers[5][i], (uint64_t) (want >> 64));
            CU_ASSERT_EQUAL(registers[6][i], over);
            /* a difference carries where it does not borrow */
            CU_ASSERT_EQUAL(carry >> i & 1, (over & 1) ^ (chain == difference));
        }
    }
}

static void carries_of_32_bits(void)
{
    static const char *const opcodes[] = {
        "add.cc.u32",     "add.cc.s32",    "addc.cc.u32",    "addc.cc.s32",    "sub.cc.u32",
        "sub.cc.s32",     "subc.cc.u32",   "subc.cc.s32",    "mad.lo.cc.u32",  "mad.lo.cc.s32",
        "mad.hi.cc.u32",  "mad.hi.cc.s32", "madc.lo.cc.u32", "madc.lo.cc.s32", "madc.hi.cc.u32",
        "madc.hi.cc.s32", "addc.u32",      "addc.s32",       "subc.u32",       "subc.s32",
        "madc.lo.u32",    "madc.lo.s32",   "madc.hi.u32",    "madc.hi.s32",
    };
    static uint32_t registers[8][LANES];
    uint64_t state = 9;

    for (int round = 0; round < 9000; round++) {
        const char *opcode = opcodes[round % (int) COUNT(opcodes)];
        bool mad = opcode[0] == 'm', sub = opcode[0] == 's', in = opcode[3] == 'c';
        bool is_signed = strstr(opcode, "s32");
        uint32_t carry = (uint32_t) next_random(&state), before = carry;
        Chain chain = { opcode, mad ? 4 : 3, 0, 1, 2, 4 };
        for (int n = 0; n < 3 * LANES; n++)
            registers[n / LANES][n % LANES] =
                (uint32_t) (next_random(&state) & 1
                                ? edges_64[next_random(&state) % COUNT(edges_64)]
                                : next_random(&state));
        run_chain(&chain, 1, (uint8_t *) registers, &carry, ALL_LANES);
        for (int i = 0; i < LANES; i++) {
            uint32_t a = registers[0][i], b = registers[1][i], c = registers[2][i];
            uint64_t wide =
                is_signed ? (uint64_t) ((int64_t) (int32_t) a * (int32_t) b) : (uint64_t) a * b;
            uint64_t x = !mad ? a : strstr(opcode, ".hi") ? wide >> 32 : (uint32_t) wide;
            uint64_t y = mad ? c : b, with = in && (before >> i & 1) != sub;
            uint64_t want = sub ? x - y - with : x + y + with;
            CU_ASSERT_EQUAL(registers[4][i], (uint32_t) want);
            uint64_t out = strstr(opcode, ".cc") ? (want >> 32 & 1) ^ sub : before >> i & 1;
            CU_ASSERT_EQUAL(carry >> i & 1, out);
        }
    }
}

CU_SuiteInfo test_sim_carries = {
    "sim_carries",
    .pTests =
        (CU_TestInfo[]){
            { "carries propagate between words", carries_go_from_word_to_word },
            { "carries of 32 bits", carries_of_32_bits },
            { "ptxas accepts what was tried", rig_ptxas },
            CU_TEST_INFO_NULL,
        },
};
