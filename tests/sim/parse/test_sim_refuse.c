/* test_sim_refuse.c - malformed, oversized and truncated PTX, and its error messages. */
#include "sim/sim_ptx.h"

static const struct {
    const char *statement, *message;
} wrong_statements[] = {
    { "add.s32 %r1, %r2, %q;", "PTX line 10: '%q' is not declared" },
    { "add.s32 %r1, %p5, 1;", "PTX line 10: '%p5' is not declared" },
    { "add.s32 %r1, %r007, 1;", "PTX line 10: '%r007' is not declared" },
    { "add.s32 %r1, %r2\nret;", "PTX line 11: expected ';', found 'ret'" },
    { "add.s32 %r1, , 2;", "PTX line 10: expected an operand, found ','" },
    { "add.s32", "PTX line 11: expected an operand, found '}'" },
    { "@%r1 ret;", "PTX line 10: '%r1' is not a predicate" },
    { "@5 ret;", "PTX line 10: expected a predicate, found '5'" },
    { "add.s32 %r1, !, 1;", "PTX line 10: expected a constant, found ','" },
    { "and.pred %p1, !g, %p2;", "PTX line 10: only a predicate can be negated" },
    { "bra L;", "PTX line 10: 'L' is not declared" },
    { "\nbra L;\n { L: }", "PTX line 11: 'L' is not declared" },
    { "L: L: ret;", "PTX line 10: 'L' is declared twice" },
    { "t: .branchtargets A; A: bra t;", "PTX line 10: 't' is not a label" },
    { "brx.idx %r1, A; A:", "PTX line 10: 'A' is not a table" },
    { "t: .branchtargets A;", "PTX line 10: 'A' is not declared" },
    { "call 5;", "PTX line 10: expected a function, found '5'" },
    { "call g;", "PTX line 10: a call of something that is not a function" },
    { "call (%r1) f;", "PTX line 10: expected ',', found 'f'" },
    { "ld.b32 %r1, [f];", "PTX line 10: an address that is not a register, variable or number" },
    { "ld.b32 %r1, [%rd1;", "PTX line 10: expected ']', found ';'" },
    { "ld.b32 %r1, [%rd1+1.5];", "PTX line 10: an offset that is not an integer" },
    { "mov.b64 %rd1, {g, %r1};",
      "PTX line 10: a vector element that is not a register or constant" },
    { "mov.b64 %rd1, {1,2,3,4,5,6,7,8,9};", "PTX line 10: a vector of more than 8 elements" },
    { "mov.u32 %r1, %tid.q;", "PTX line 10: expected a component, found '.q'" },
    { "mov.u32 %r1, 1/0;", "PTX line 10: a constant divided by zero" },
    { "mov.u32 %r1, 1.5+1;", "PTX line 10: an operator between floating-point constants" },
    { "mov.u32 %r1, 0x;", "PTX line 10: a malformed number" },
    { "mov.u32 %r1, 09;", "PTX line 10: a malformed number" },
    { "mov.u32 %r1, 12ab;", "PTX line 10: a malformed number" },
    { "mov.u64 %rd1, 18446744073709551616;", "PTX line 10: a number of more than 64 bits" },
    { "mov.f32 %f1, 0f3F80;",
      "PTX line 10: a floating-point constant with a wrong number of digits" },
    { ".pragma \"x", "PTX line 10: an unterminated string" },
    { "/* ", "PTX line 10: an unterminated comment" },
    { "{ ret;", "PTX line 6: a function without a closing '}'" },
    { "}", "PTX line 11: expected a directive, found '}'" },
    { ".reg .b32 y; .reg .f32 y;", "PTX line 10: 'y' is declared twice" },
    { ".reg .b32 y<x>;", "PTX line 10: expected a number, found 'x'" },
    { ".loc 1 2\nret;", "PTX line 11: expected a file, a line and a column, found 'ret'" },
    { "add.s32 \033[31m;", "PTX line 10: expected an operand, found '?'" },
};

static const struct {
    const char *text, *message;
} wrong_texts[] = {
    { "", "PTX line 1: not a PTX text: it does not begin with .version" },
    { "\177ELF", "PTX line 1: not a PTX text: it does not begin with .version" },
    { ".version x", "PTX line 1: expected a version, found 'x'" },
    { ".version 9.0\n.address_size 32",
      "PTX line 2: only 64-bit addresses are simulated: compile without -m32" },
    { HEAD "ret;", "PTX line 4: expected a directive, found 'ret'" },
    { HEAD ".reg .b32 %r<5>;", "PTX line 4: registers outside a function are not simulated" },
    { HEAD ".global .u32 x; .global .u32 x;", "PTX line 4: 'x' is declared twice" },
    { HEAD ".global .u32 x; .extern .shared .u32 x;", "PTX line 4: 'x' is declared twice" },
    { HEAD ".global .pred x;", "PTX line 4: a variable of this type has no size" },
    { HEAD ".global x;", "PTX line 4: expected a type, found 'x'" },
    { HEAD ".global .align 3 .u32 x;", "PTX line 4: an alignment must be a power of two" },
    { HEAD ".global .u32 x[2][];", "PTX line 4: only the first dimension may be left empty" },
    { HEAD ".global .u32 x[-1];",
      "PTX line 4: a dimension must be a number from 0 to 1099511627776" },
    { HEAD ".global .u32 x[1000000000][1000000000];",
      "PTX line 4: a variable of more than 2^40 bytes" },
    { HEAD ".global .u32 x[2000000000] = {1};",
      "PTX line 4: more than 1 GiB of initialised variables" },
    { HEAD ".global .u32 x[2] = {1, 2, 3};",
      "PTX line 4: more values than the variable has elements" },
    { HEAD ".global .u32 x[2] = {{1}, 2};", "PTX line 4: more braces than dimensions" },
    { HEAD ".global .u32 x[2][2] = {{1, 2, 3}};",
      "PTX line 4: more values than the variable has elements" },
    { HEAD ".global .u16 x = 1.5;",
      "PTX line 4: a floating-point value in a type of neither 4 nor 8 bytes" },
    { HEAD ".global .u32 x = y;", "PTX line 4: 'y' is not declared" },
    { HEAD ".global .u16 x = x;", "PTX line 4: an address in a type of neither 4 nor 8 bytes" },
    { HEAD ".global .u64 x = %tid;",
      "PTX line 4: the address of something that is not a variable or function" },
    { HEAD ".global .b8 x[4] = {0xFF(x)};",
      "PTX line 4: an address that extends past the end of the variable" },
    { HEAD ".global .b8 x[9] = {0xFF00(x)};",
      "PTX line 4: the bytes of an address are not consecutive" },
    { HEAD ".global .b8 x[9] = {0xF(x)};", "PTX line 4: a mask that does not select one byte" },
    { HEAD ".func f; .func f (.param .b32 a);",
      "PTX line 4: 'f' is declared twice, with different parameters" },
    { HEAD ".func f { } .func f { }", "PTX line 4: 'f' is defined twice" },
    { HEAD ".func f; .entry f { }", "PTX line 4: 'f' is declared twice" },
    { HEAD ".entry f (.param .b32 a, .param .b32 a) { }",
      "PTX line 4: a function with two parameters of the same name" },
    { HEAD ".entry f (.b32 a) { }", "PTX line 4: expected a parameter, found '.b32'" },
    { HEAD ".entry f (.param .b8 a[2000000]) { }",
      "PTX line 4: a parameter of more than 1048576 bytes" },
    { HEAD ".entry f { ret; ", "PTX line 4: a function without a closing '}'" },
    { HEAD ".section .x { ", "PTX line 4: a '{' without a matching '}'" },
    { HEAD ".file 0 \"x\"", "PTX line 4: expected the number of a file, found '0'" },
    { HEAD ".file 99999999 \"x\"", "PTX line 4: expected the number of a file, found '99999999'" },
};

static void expect_message(const char *source, const char *shown, const char *message)
{
    char why[300] = "";
    Module *module = parse(source, why, sizeof why);

    CU_ASSERT_PTR_NULL(module);
    same_text(shown, why, message);
    module_free(module);
}

static void malformed_text_is_told(void)
{
    for (size_t i = 0; i < COUNT(wrong_statements); i++) {
        char source[2048];
        PUT(source, "%s%s%s", BEGIN, wrong_statements[i].statement, END);
        expect_message(source, wrong_statements[i].statement, wrong_statements[i].message);
    }
    for (size_t i = 0; i < COUNT(wrong_texts); i++)
        expect_message(wrong_texts[i].text, wrong_texts[i].text, wrong_texts[i].message);
}

/* Cooperative groups read a register that this parser did not know: all kernels of the program
 * failed. */
static void unknown_special_register_fails_alone(void)
{
    static const char source[] = HEAD ".entry good () { ret; } .entry bad () { .reg .b32 %r<3>; "
                                      "mov.u32 %r1, %some_new_register; "
                                      "mov.u32 %r2, %another_register.x; ret; }";
    char why[300] = "";
    Module *module = parse(source, why, sizeof why);

    CU_ASSERT_PTR_NOT_NULL_FATAL(module);
    CU_ASSERT_EQUAL(module->function_count, 2);
    CU_ASSERT_EQUAL(module->functions[1].operands[1].kind, OPERAND_SPECIAL);
    CU_ASSERT_EQUAL(module->functions[1].operands[1].special, SPECIAL_UNKNOWN);
    module_free(module);
}

static void too_much_is_told(void)
{
    static const struct {
        const char *before, *unit, *after, *message;
        size_t count;
    } rows[] = {
        { BEGIN, "{", END, "PTX line 10: more than 64 nested blocks { }", 1000000 },
        { BEGIN "mov.u32 %r1, ", "(", ";" END,
          "PTX line 10: a constant expression nested too deeply", 1000000 },
        { BEGIN "mov.u32 %r1, ", "-", "1;" END,
          "PTX line 10: a constant expression nested too deeply", 1000000 },
        { BEGIN "mov.u32 %r1, ", "1?1:", "1;" END,
          "PTX line 10: a constant expression nested too deeply", 1000000 },
        { BEGIN "call nothing, (1", ",1", ");" END, "PTX line 10: more than 4096 operands", 5000 },
        { HEAD ".global .u32 x", "[1]", ";", "PTX line 4: more than 8 dimensions", 9 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char *source = repeated(rows[i].before, rows[i].unit, rows[i].count, rows[i].after);
        expect_message(source, rows[i].unit, rows[i].message);
        free(source);
    }
    char *large = calloc(1, (64 << 20) + 1), why[100];
    CU_ASSERT_PTR_NULL(module_parse(large, (64 << 20) + 1, why, sizeof why));
    CU_ASSERT_STRING_EQUAL(why, "PTX line 1: more than 64 MiB of text");
    free(large);
}

/* Every prefix of a text is read or refused; the message fits into a buffer of any size. */
static void cut_off_text_is_refused(void)
{
    static const char source[] = BEGIN
        "@%p1 ld.global.nc.v4.f32 {%f1, %f2, _, %f4}, [%rd1+-8];\n"
        "t: .branchtargets A; A: brx.idx %r1, t; .pragma \"x\"; call.uni (%r1), f, (%r1);" END;
    char why[7];

    for (size_t length = 0; length < sizeof source - 1; length++) {
        char *copy = xmalloc(length + 1); /* so that a sanitizer detects reads past the end */
        memcpy(copy, source, length);
        memset(why, 'x', sizeof why);
        Module *module = module_parse(copy, length, why, sizeof why);
        if (!module)
            CU_ASSERT_STRING_EQUAL(why, "PTX li");
        module_free(module);
        free(copy);
    }
    CU_ASSERT_PTR_NULL(module_parse("", 0, NULL, 0));
}

CU_SuiteInfo test_sim_refuse = {
    .pName = "sim_refuse",
    .pTests =
        (CU_TestInfo[]){
            { "malformed text is reported", malformed_text_is_told },
            { "an unknown special register fails alone", unknown_special_register_fails_alone },
            { "too much is reported", too_much_is_told },
            { "truncated text is refused", cut_off_text_is_refused },
            CU_TEST_INFO_NULL,
        },
};
