/* test_sim_cfg.c - where lanes reconverge: in small graphs with known results, in random graphs
 * compared with a set-based algorithm, and in real kernels.
 */
#include "sim/ptx/cfg.h"
#include "sim/ptx/module.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Function bodies, and for each instruction its reconvergence point (-: it is not a divergent
 * branch) ---- */

static const struct {
    const char *body, *places;
} bodies[] = {
    { "", "" },
    { "ret;", "-" },
    /* if, if else, nested */
    { "@%p1 bra A; add.s32 %r1, %r1, 1; A: bar.sync 0; ret;", "2 - - -" },
    { "@%p1 bra A; bar.sync 0; bra B; A: bar.sync 1; B: bar.sync 2; ret;", "4 - - - - -" },
    { "@%p1 bra A; @%p2 bra B; bar.sync 0; B: bar.sync 1; A: bar.sync 2; ret;", "4 3 - - - -" },
    /* loops: at the bottom, at the top, with break and continue */
    { "L: bar.sync 0; @%p1 bra L; bar.sync 1; ret;", "- 2 - -" },
    { "L: @%p1 bra A; bar.sync 0; bra L; A: bar.sync 1; ret;", "3 - - - -" },
    { "L: @%p1 bra A; @%p2 bra L; bar.sync 0; bra L; A: bar.sync 1; ret;", "4 0 - - - -" },
    { "L: bar.sync 0; @%p1 bra A; bar.sync 1; @%p2 bra L; A: bar.sync 2; ret;", "- 4 - 4 - -" },
    { "L: @%p1 bra L; bar.sync 0; ret;", "1 - -" },
    /* no divergence without a guard; a branch to the next instruction, a branch to the end */
    { "bra A; A: ret;", "- -" },
    { "@%p1 bra A; A: bar.sync 0; ret;", "1 - -" },
    { "@%p1 bra A; bar.sync 0; A:", "2 -" },
    /* Lanes that return early do not make others wait. */
    { "@%p1 bra A; bar.sync 0; A: ret;", "1 - -" },
    { "@%p1 ret; bar.sync 0; ret;", "- - -" },
    { "@%p1 bra A; @%p2 bra B; bar.sync 0; ret; B: bar.sync 1; A: bar.sync 2; ret;",
      "5 4 - - - - -" },
    { "@%p1 bra A; @%p2 bra R; bar.sync 0; A: bar.sync 1; R: ret;", "3 2 - - -" },
    { "@%p1 bra A; @%p2 exit; bar.sync 0; A: bar.sync 1; ret;", "3 - - - -" },
    { "@%p1 bra A; bar.sync 0; trap; A: bar.sync 1; ret;", "3 - - - -" },
    { "@%p1 bra A; bar.sync 0; ret; A: bar.sync 1; ret;", "3 - - - -" },
    /* No path to the last return: all returns count, and so do endless loops. */
    { "L: @%p1 bra A; @%p2 bra B; bar.sync 0; bra L; A: bar.sync 1; ret; B: bar.sync 2; bra B;",
      "8 8 - - - - - -" },
    { "L: @%p1 exit; @%p2 bra A; bar.sync 0; A: bra L;", "- 3 - -" },
    /* Endless loops, with and without a path into them. */
    { "L: bra L;", "-" },
    { "@%p1 bra L; bar.sync 0; L: bra L;", "2 - -" },
    { "@%p1 bra A; bar.sync 0; A: bar.sync 1; L: @%p2 bra B; bar.sync 2; B: bra L;",
      "2 - - 5 - -" },
    { "@%p1 bra L; bar.sync 0; ret; L: bra L;", "4 - - -" },
    { "L: @%p1 bra A; A: bra L;", "1 -" },
    /* Unreachable code. */
    { "bra A; @%p1 bra B; bar.sync 0; B: bar.sync 1; A: ret;", "- 3 - - -" },
    /* Tables. */
    { "t: .branchtargets A, B, C; brx.idx %r1, t; A: bar.sync 0; bra D; B: bar.sync 1; bra D;"
      "C: bar.sync 2; D: bar.sync 3; ret;",
      "6 - - - - - - -" },
    { "t: .branchtargets A, B; @%p1 brx.idx %r1, t; bar.sync 0; A: bar.sync 1; B: bar.sync 2; ret;",
      "3 - - - -" },
    { "t: .branchtargets A, A; brx.idx %r1, t; A: bar.sync 0; ret;", "1 - -" },
    { "t: .branchtargets A, A; L: brx.idx %r1, t; A: bar.sync 0; bra L;", "1 - -" },
};

static Module *parse_body(const char *body)
{
    char source[4096], why[300] = "";

    PUT(source,
        ".version 8.7\n.target sm_80\n.address_size 64\n"
        ".entry k { .reg .pred %%p<9>; .reg .b32 %%r<9>; %s }",
        body);
    Module *module = module_parse(source, strlen(source), why, sizeof why);
    if (!module)
        printf("\n%s\nin: %s\n", why, body);
    CU_ASSERT_PTR_NOT_NULL(module);
    return module;
}

static void show_places(const Function *f, char *text, size_t size)
{
    int *rpc = xcalloc((size_t) f->instruction_count + 1, sizeof *rpc);

    find_reconvergence(f, rpc);
    put(text, size, "%s", "");
    for (int i = 0; i < f->instruction_count; i++)
        if (rpc[i] < 0)
            append(text, size, "%s-", i ? " " : "");
        else
            append(text, size, "%s%d", i ? " " : "", rpc[i]);
    free(rpc);
}

/* Lanes that stay in a loop meet before its next round, although others leave it on the way (a glob
 * matcher executed 6.8 times the instructions of an H100: lanes never met again). The same holds
 * for other regions (a round of colouring: 2.3 times). */
static void lanes_that_leave_do_not_hold_up_others(void)
{
    static const struct {
        const char *body;
        int branch, meets; /* instructions */
        bool may_leave;    /* those that leave do not pass it */
    } rows[] = {
        { "L: @%p1 bra M; bar.sync 1; @%p2 bra OUT; M: bar.sync 2; @%p3 bra L; OUT: bar.sync 9; "
          "ret;",
          0, 3, true },
        { "L: @%p1 bra M; bar.sync 1; @%p2 bra OUT; M: bar.sync 2; @%p3 bra L; OUT: bar.sync 9; "
          "ret;",
          2, 5, false },
        { "L: @%p1 bra M; bar.sync 1; M: bar.sync 2; @%p3 bra L; OUT: bar.sync 9; ret;", 0, 2,
          false },
        { "K: bar.sync 0; L: @%p1 bra M; @%p2 bra OUT; M: @%p3 bra L; bar.sync 1; @%p4 bra K; OUT: "
          "bar.sync 9; "
          "ret;",
          1, 3, true },
        { "K: bar.sync 0; L: @%p1 bra M; @%p2 bra N; M: @%p3 bra L; @%p4 bra OUT; N: @%p5 bra K; "
          "OUT: bar.sync "
          "9; ret;",
          2, 5, true }, /* leaves the inner loop */
        { "t: .branchtargets M, OUT; L: @%p1 bra M; brx.idx %r1, t; M: @%p3 bra L; OUT: bar.sync "
          "9; ret;",
          0, 2, true }, /* an indexed branch leaves it */
        { "L: @%p1 bra M; bar.sync 1; @%p2 bra OUT; bar.sync 2; @%p3 bra N; bar.sync 3; M: "
          "bar.sync 4; N: bar.sync 5; @%p4 bra L; OUT: bar.sync 9; ret;",
          0, 7, true }, /* break and continue: at the end of a round only */
        /* All pass the code before the break, some in a later round (desert_grain_shares in
         * tests/sim/blind: 9 % too many instructions). */
        { "L: @%p1 bra M; bar.sync 1; @%p2 bra OUT; M: bar.sync 2; bra L; OUT: bar.sync 9; ret;", 0,
          3, true },
        /* The same in an endless loop, which lanes leave by a return (desert_grain_tickets). */
        { "bar.sync 7; K: bar.sync 0; @%p3 ret; L: @%p1 bra M; bar.sync 1; @%p2 bra N; M: bar.sync "
          "2; bra L; N: bar.sync 3; bra K;",
          3, 6, true },
        /* forward: jumps to the end of the region */
        { "@%p1 bra J; bar.sync 1; @%p2 bra D; bar.sync 2; J: bar.sync 3; D: bar.sync 9; ret;", 0,
          4, true },
        { "@%p1 bra J; bar.sync 1; @%p2 bra D; bar.sync 2; J: bar.sync 3; D: bar.sync 9; ret;", 2,
          5, false },
        { "@%p1 bra J; bar.sync 1; @%p2 bra D; bar.sync 2; J: add.s32 %r1, %r1, 1; D: bar.sync 9; "
          "ret;",
          0, 5, false }, /* little code is not worth a barrier */
        { "@%p1 bra J; L: bar.sync 1; @%p2 bra D; @%p3 bra L; J: bar.sync 3; D: bar.sync 9; ret;",
          0, 5, false }, /* the jump is in a loop */
        { "@%p1 bra J; bar.sync 1; @%p2 bra D; bar.sync 2; @%p3 bra I; bar.sync 3; J: bar.sync 4; "
          "I: bar.sync 5; D: bar.sync 9; ret;",
          0, 7, true }, /* no third barrier, at J */
        { "@%p1 bra J; bar.sync 1; @%p2 bra D; bar.sync 2; @%p3 bra I; bar.sync 3; @%p4 bra H; "
          "bar.sync 4; J: bar.sync 5; H: bar.sync 6; I: bar.sync 7; D: bar.sync 9; ret;",
          6, 10, true }, /* H can be reached without this branch: it has no barrier there */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        Module *module = parse_body(rows[i].body);
        Reconvergence found;
        if (!module || !reconvergence_make(&module->functions[0], &found))
            continue;
        CU_ASSERT_EQUAL(found.rpc[rows[i].branch], rows[i].meets);
        CU_ASSERT_EQUAL(found.inner[rows[i].meets], rows[i].may_leave);
        reconvergence_free(&found);
        module_free(module);
    }
}

static void places_by_hand(void)
{
    for (size_t i = 0; i < COUNT(bodies); i++) {
        Module *module = parse_body(bodies[i].body);
        char places[200];
        if (!module)
            continue;
        show_places(&module->functions[0], places, sizeof places);
        if (strcmp(places, bodies[i].places))
            printf("\n%s\n  gives: %s\n  not:   %s\n", bodies[i].body, places, bodies[i].places);
        CU_ASSERT_STRING_EQUAL(places, bodies[i].places);
        module_free(module);
    }
}

/* ---- Random graphs, compared with an algorithm on sets of instructions, one bit per instruction
 * ---- */

enum { MOST = 40, END = MOST, TABLE_ENTRIES = 3 };

typedef struct Sets {
    uint64_t next[MOST + 1], dominators[MOST + 1];
} Sets;

static uint64_t bit(int i)
{
    return (uint64_t) 1 << i;
}

static bool returns(const Instruction *in)
{
    return in->op == OP_ret || in->op == OP_exit || in->op == OP_trap;
}

static bool falls_through(const Instruction *in)
{
    return in->guard >= 0 || (!returns(in) && in->op != OP_bra && in->op != OP_brx);
}

/* The return that counts, END where control falls off the end, or -1. */
static int last_return(const Function *f)
{
    int i = f->instruction_count - 1;

    if (falls_through(&f->instructions[i]))
        return END;
    while (i >= 0 && (!returns(&f->instructions[i]) || f->instructions[i].op == OP_trap ||
                      f->instructions[i].guard >= 0))
        i--;
    return i;
}

static uint64_t jumps_of(const Function *f, const Instruction *in, int last)
{
    const Operand *operand = &f->operands[in->first + in->count - 1];
    uint64_t to = 0;

    if (in->op == OP_bra)
        to = bit(operand->index < f->instruction_count ? operand->index : END);
    for (int i = 0; in->op == OP_brx && i < TABLE_ENTRIES; i++)
        to |= bit(f->tables[operand->index].entries[i]);
    return last >= 0 && last != END ? to & ~bit(last) : to;
}

/* `last` -1: all returns count. */
static void make_sets(Sets *sets, const Function *f, int last)
{
    int count = f->instruction_count;

    memset(sets, 0, sizeof *sets);
    for (int i = 0; i < count; i++) {
        const Instruction *in = &f->instructions[i];
        sets->next[i] = jumps_of(f, in, last);
        if (returns(in) && (last < 0 || last == i))
            sets->next[i] |= bit(END);
        if (falls_through(in))
            sets->next[i] |= bit(i + 1 < count ? i + 1 : END);
    }
}

/* All instructions from which the end can be reached. */
static uint64_t find_live(const Sets *sets, int count)
{
    uint64_t live = bit(END), before;

    do {
        before = live;
        for (int i = 0; i < count; i++)
            if (sets->next[i] & live)
                live |= bit(i);
    } while (live != before);
    return live;
}

static void find_dominators(Sets *sets, int count, uint64_t live)
{
    bool changed = true;

    for (int i = 0; i < count; i++)
        sets->dominators[i] = live;
    sets->dominators[END] = bit(END);
    while (changed) {
        changed = false;
        for (int i = 0; i < count; i++) {
            uint64_t all = live;
            for (int to = 0; to <= MOST; to++)
                if (sets->next[i] & live & bit(to))
                    all &= sets->dominators[to];
            all |= bit(i);
            changed |= (live & bit(i)) && all != sets->dominators[i];
            sets->dominators[i] = all;
        }
    }
}

/* Of the other instructions that all paths pass, the one that comes before all the others. */
static int nearest(const Sets *sets, int i)
{
    uint64_t others = sets->dominators[i] & ~bit(i);

    for (int at = 0; at <= MOST; at++)
        if ((others & bit(at)) && (sets->dominators[at] & others) == others)
            return at;
    return -1;
}

/* From the last instruction backwards, adds an edge to the end to each instruction from which the
 * end cannot be reached even if all returns count. */
static uint64_t find_endless(const Function *f)
{
    int count = f->instruction_count;
    uint64_t endless = 0;
    Sets sets;

    make_sets(&sets, f, -1);
    for (int i = count - 1; i >= 0; i--)
        if (!(find_live(&sets, count) & bit(i))) {
            sets.next[i] |= bit(END);
            endless |= bit(i);
        }
    return endless;
}

static int place_of(const Function *f, int i)
{
    int lasts[] = { last_return(f), -1 }, count = f->instruction_count;
    uint64_t endless = find_endless(f);

    for (size_t pass = 0; pass < COUNT(lasts); pass++) {
        Sets sets;
        make_sets(&sets, f, lasts[pass]);
        for (int at = 0; at < count; at++)
            sets.next[at] |= endless & bit(at) ? bit(END) : 0;
        uint64_t live = find_live(&sets, count);
        if (!(live & bit(i)))
            continue;
        find_dominators(&sets, count, live);
        int place = nearest(&sets, i);
        return place == END ? count : place;
    }
    return count;
}

static Instruction random_instruction(uint64_t *random)
{
    static const Op ops[] = { OP_add, OP_add, OP_bra, OP_bra,  OP_bra, OP_bra,
                              OP_brx, OP_ret, OP_ret, OP_exit, OP_trap };
    Instruction in = { .op = ops[next_random(random) % COUNT(ops)], .guard = -1 };

    if (next_random(random) % 3)
        in.guard = 0;
    return in;
}

typedef struct RandomFunction {
    Function f;
    Instruction instructions[MOST];
    Operand operands[MOST];
    Table tables[MOST];
    int entries[MOST][TABLE_ENTRIES];
} RandomFunction;

/* Each instruction has one operand, which only branches use. */
static void make_random(RandomFunction *random, uint64_t *state)
{
    int count = 1 + (int) (next_random(state) % MOST);

    memset(random, 0, sizeof *random);
    random->f = (Function){ .instructions = random->instructions,
                            .instruction_count = count,
                            .operands = random->operands,
                            .operand_count = count,
                            .tables = random->tables,
                            .table_count = count };
    for (int i = 0; i < count; i++) {
        Instruction *in = &random->instructions[i];
        *in = random_instruction(state);
        in->first = i;
        in->count = 1;
        bool table = in->op == OP_brx;
        random->operands[i] =
            (Operand){ .kind = table ? OPERAND_TABLE : OPERAND_LABEL,
                       .index = table ? i : (int) (next_random(state) % (unsigned) (count + 1)) };
        random->tables[i] = (Table){ .entries = random->entries[i], .count = TABLE_ENTRIES };
        for (int e = 0; e < TABLE_ENTRIES; e++)
            random->entries[i][e] = (int) (next_random(state) % (unsigned) count);
    }
}

static void random_graphs_agree_with_sets(void)
{
    static RandomFunction random;
    uint64_t state = 1;
    long wrong = 0;

    for (int n = 0; n < 3000; n++) {
        int rpc[MOST];
        make_random(&random, &state);
        find_reconvergence(&random.f, rpc);
        for (int i = 0; i < random.f.instruction_count; i++) {
            const Instruction *in = &random.instructions[i];
            bool splits = in->op == OP_brx || (in->op == OP_bra && in->guard >= 0);
            int want = splits ? place_of(&random.f, i) : -1;
            if (rpc[i] != want && !wrong++)
                printf("\ngraph %d, instruction %d: %d, not %d\n", n, i, rpc[i], want);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* ---- Large graphs ---- */

/* A ladder of branches, each over all that follow: the analysis must not recurse or take quadratic
 * time. */
static void large_graphs_are_quick(void)
{
    enum { N = 300000 };
    Function f = { .instruction_count = 2 * N, .operand_count = 2 * N };
    int *rpc = xcalloc(2 * N, sizeof *rpc);

    f.instructions = xcalloc(2 * N, sizeof *f.instructions);
    f.operands = xcalloc(2 * N, sizeof *f.operands);
    for (int i = 0; i < 2 * N; i++) {
        f.instructions[i] =
            (Instruction){ .op = i % 2 ? OP_add : OP_bra, .guard = 0, .first = i, .count = 1 };
        f.operands[i] = (Operand){ .kind = OPERAND_LABEL, .index = i < N ? 2 * N - i - 1 : i / 2 };
    }
    double begin = now_s();
    find_reconvergence(&f, rpc);
    CU_ASSERT(now_s() - begin < 5);
    bool in_range = true;
    for (int i = 0; i < 2 * N; i++)
        in_range &= rpc[i] >= (i % 2 ? -1 : 0) && rpc[i] <= 2 * N;
    CU_ASSERT(in_range);
    free(f.instructions);
    free(f.operands);
    free(rpc);
}

/* In nvcc's output, each reconvergence point is the start of a block, and every branch has one
 * unless its lanes only meet at the end. */
static void real_graphs_have_places(void)
{
    long branches = 0, at_end = 0;
    glob_t files = { 0 };

    glob("tests/sim/ptx/*.ptx", 0, NULL, &files);
    for (size_t n = 0; n < files.gl_pathc; n++) {
        size_t size;
        char *text = read_file(files.gl_pathv[n], 64 << 20, &size), why[300];
        Module *module = text ? module_parse(text, size, why, sizeof why) : NULL;
        CU_ASSERT_PTR_NOT_NULL(module);
        for (int i = 0; module && i < module->function_count; i++) {
            const Function *f = &module->functions[i];
            int *rpc = xcalloc((size_t) f->instruction_count + 1, sizeof *rpc);
            find_reconvergence(f, rpc);
            for (int k = 0; k < f->instruction_count; k++) {
                branches += rpc[k] >= 0;
                at_end += rpc[k] == f->instruction_count;
            }
            free(rpc);
        }
        module_free(module);
        free(text);
    }
    CU_ASSERT(branches > 200);
    CU_ASSERT(at_end * 20 < branches);
    globfree(&files);
}

CU_SuiteInfo test_sim_cfg = {
    .pName = "sim_cfg",
    .pTests =
        (CU_TestInfo[]){
            { "known reconvergence points", places_by_hand },
            { "lanes that leave do not hold up others", lanes_that_leave_do_not_hold_up_others },
            { "random graphs agree with sets", random_graphs_agree_with_sets },
            { "large graphs are quick", large_graphs_are_quick },
            { "real graphs have reconvergence points", real_graphs_have_places },
            CU_TEST_INFO_NULL,
        },
};
