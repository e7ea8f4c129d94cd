/* test_sim_machine_code.c - decoding of machine instructions, as ptxas 13.0 writes them. */
#include "sim/binary/machine_code.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

/* `high` and `low`: the instruction's two words. */
static MachineInstruction decoded(int arch, uint64_t high, uint64_t low, int i)
{
    unsigned char bytes[MACHINE_BYTES];

    for (int k = 0; k < 8; k++) {
        bytes[k] = (unsigned char) (low >> 8 * k);
        bytes[8 + k] = (unsigned char) (high >> 8 * k);
    }
    return machine_decode(arch, bytes, i, 256);
}

/* From one kernel, compiled for three architectures. */
static const struct {
    int arch, index;
    uint64_t high, low;
    const char *name;
    int guard, negated, stall, write_barrier, wait, target;
} rows[] = {
    { 90, 0x00, 0x000fe20000000800, 0x00000a00ff017b82, "LDC", 7, 0, 1, 7, 0, -1 },
    { 90, 0x01, 0x000e220000002500, 0x0000000000027919, "S2R", 7, 0, 1, 0, 0, -1 },
    { 90, 0x07, 0x000fea0003800000, 0x000000000000094d, "EXIT", 0, 0, 5, 7, 0, -1 },
    { 90, 0x1c, 0x002ea8000c1e1900, 0x00000008060d7981, "LDG", 7, 0, 4, 2, 2, -1 },
    { 90, 0x22, 0x000fc80000000003, 0x0000000c03037223, "FFMA", 7, 0, 4, 7, 0, -1 },
    { 90, 0x26, 0x002fec0003800000, 0x0000000000108947, "BRA", 0, 1, 6, 7, 2, 0x2b },
    { 90, 0x29, 0x000fea0003c00000, 0x0000000400887944, "CALL.REL", 7, 0, 5, 7, 0, 0x8c },
    { 90, 0x3a, 0x000fec000383ffff, 0xfffffffc00cc0947, "BRA", 0, 0, 6, 7, 0, 0x2e },
    { 80, 0x25, 0x002fea0003800000, 0x0000003000008947, "BRA", 0, 1, 5, 7, 2, 0x29 },
    { 80, 0x3a, 0x000fea000383ffff, 0xffffff3000000947, "BRA", 0, 0, 5, 7, 0, 0x2e },
    { 80, 0x15, 0x000fea0003800000, 0x0000053000008947, "BRA", 0, 1, 5, 7, 0, 0x69 },
    { 90, 0x03, 0x001fe20000000000, 0xffffffe001017836, "VIADD", 7, 0, 1, 7, 1, -1 },
};

static void instructions_are_decoded(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const MachineInstruction in =
            decoded(rows[i].arch, rows[i].high, rows[i].low, rows[i].index);
        const char *name = machine_name(rows[i].arch, in.opcode);
        CU_ASSERT_PTR_NOT_NULL_FATAL(name);
        CU_ASSERT_STRING_EQUAL(name, rows[i].name);
        CU_ASSERT_EQUAL(in.guard, rows[i].guard);
        CU_ASSERT_EQUAL(in.guard_negated, rows[i].negated);
        CU_ASSERT_EQUAL(in.stall, rows[i].stall);
        CU_ASSERT_EQUAL(in.write_barrier, rows[i].write_barrier);
        CU_ASSERT_EQUAL(in.wait, rows[i].wait);
        CU_ASSERT_EQUAL(in.target, rows[i].target);
    }
}

/* BRA.U of sm_100 branches by a predicate of the warp. */
static void branches_with_a_second_condition(void)
{
    CU_ASSERT_TRUE(decoded(100, 0x002fea000b800000, 0x0000000508e87547, 12).is_conditional);
    CU_ASSERT_FALSE(decoded(90, 0x002fec0003800000, 0x0000000000108947, 38).is_conditional);
}

static void targets_outside_the_code_are_unknown(void)
{
    /* 1 << 40 bytes away, backwards, and to the middle of an instruction. */
    CU_ASSERT_EQUAL(decoded(90, 0x000fea0003800010, 0x0000000000007947, 3).target, -1);
    CU_ASSERT_EQUAL(decoded(80, 0x000fea000383ffff, 0xffff003000000947, 3).target, -1);
    CU_ASSERT_EQUAL(decoded(80, 0x000fea0003800000, 0x0000000800000947, 3).target, -1);
}

static void unknown_operations_have_no_name(void)
{
    CU_ASSERT_PTR_NULL(machine_name(90, 0x1ff));
    CU_ASSERT_EQUAL(machine_pipe(90, 0x1ff), MACHINE_UNKNOWN);
}

CU_SuiteInfo test_sim_machine_code = {
    .pName = "sim_machine_code",
    .pTests =
        (CU_TestInfo[]){
            { "instructions are decoded", instructions_are_decoded },
            { "branches with a second condition", branches_with_a_second_condition },
            { "targets outside the code are unknown", targets_outside_the_code_are_unknown },
            { "unknown operations have no name", unknown_operations_have_no_name },
            CU_TEST_INFO_NULL,
        },
};
