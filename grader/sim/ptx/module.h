/* module.h - a PTX module: functions, variables, instructions.
 *
 * The parser (parse.c) writes it; all later stages only read it. Names and texts point into the PTX
 * text, which the module keeps. A comment gives the array to which each index refers; -1: no
 * element. The parser has checked each index, each count and each size.
 */
#ifndef SIM_PTX_MODULE_H
#define SIM_PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name in the PTX text, without a 0 at its end. */
typedef struct Name {
    const char *at;
    int length;
} Name;

bool name_is(Name name, const char *text);
/* A variable's name in the source. A mangled name ends with it, after its length: tile of
 * _ZZ9transposePfE4tile. Other names remain as they are. */
Name name_in_source(Name name);

/* ---- Types ---- */

typedef enum PtxType {
    TYPE_NONE,
    TYPE_PRED,
    TYPE_B8,
    TYPE_B16,
    TYPE_B32,
    TYPE_B64,
    TYPE_B128,
    TYPE_U8,
    TYPE_U16,
    TYPE_U32,
    TYPE_U64,
    TYPE_S8,
    TYPE_S16,
    TYPE_S32,
    TYPE_S64,
    TYPE_F16,
    TYPE_F16X2,
    TYPE_BF16,
    TYPE_BF16X2,
    TYPE_F32,
    TYPE_F64,
    TYPE_TF32,
    TYPE_F32X2,
    TYPE_E4M3,
    TYPE_E5M2,
    TYPE_E4M3X2,
    TYPE_E5M2X2,
    TYPE_U16X2,
    TYPE_S16X2,
    TYPES
} PtxType;

int type_size(PtxType type); /* bytes; 0 for NONE and PRED */
bool type_is_signed(PtxType type);
bool type_is_float(PtxType type); /* f16, f16x2, bf16, bf16x2, f32, f64,
                                  tf32, f32x2, and the formats of 8 bits */
bool type_is_half(PtxType type);  /* f16, f16x2, bf16, bf16x2 */
bool type_is_whole(PtxType type); /* neither a float nor a predicate */

typedef enum Space {
    SPACE_GENERIC,
    SPACE_PARAM,
    SPACE_CONST,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL
} Space;

/* ---- Opcodes and what follows them ---- */

typedef enum Op {
#define OP(name, ...)        OP_##name,
#define OP2(enumerator, ...) OP_##enumerator,
#include "sim/ptx/ops.def"
#undef OP
#undef OP2
    OPS
} Op;

/* Facts that hold for all instructions of an opcode; see ops.def. */
typedef enum OpFact {
    FLOAT_ON_INT_PIPE = 1, /* runs there for f32 and halves, too: compares, selects, sets a sign */
    MOVES_BITS = 2,        /* copies or extracts bits */
    UNIFORM = 4, /* for integers: available in the uniform datapath (machine code of ptxas 13.0 for
                    sm_90) */
    ALWAYS_UNIFORM = 8, /* for any type: never costs anything */
    ONE_FLOP = 16,      /* for f32, as counted in a roofline */
    TWO_FLOPS = 32
} OpFact;

bool op_is(Op op, OpFact fact);

/* The class under which an instruction is counted; see ops.def. */
typedef enum OpClass {
    CLASS_NOTHING,
    CLASS_MOVE,
    CLASS_INT,
    CLASS_FP32,
    CLASS_FP64,
    CLASS_FP16,
    CLASS_SFU,
    CLASS_CONVERT,
    CLASS_CONTROL,
    CLASS_BARRIER,
    CLASS_FENCE,
    CLASS_SHUFFLE,
    CLASS_LOAD,
    CLASS_STORE,
    CLASS_ATOMIC,
    CLASS_TENSOR,
    CLASSES
} OpClass;

/* Parts of an opcode that are neither type nor space, in groups; mod_group() returns the group. */
/* clang-format off */
#define PTX_ROUNDINGS(MOD) \
    MOD(rn) MOD(rz) MOD(rm) MOD(rp) MOD(rna) MOD(rni) MOD(rzi) MOD(rmi) MOD(rpi)
#define PTX_COMPARISONS(MOD) /* lo and hi: both comparisons and halves of products */ \
    MOD(eq) MOD(ne) MOD(lt) MOD(le) MOD(gt) MOD(ge) MOD(ls) MOD(hs) MOD(equ) MOD(neu) MOD(ltu) \
    MOD(leu) MOD(gtu) MOD(geu) MOD(num) MOD(nan)
#define PTX_REDUCTIONS(MOD) \
    MOD(and) MOD(or) MOD(xor) MOD(add) MOD(min) MOD(max) MOD(inc) MOD(dec) MOD(exch) MOD(cas) \
    MOD(popc)
#define PTX_SHUFFLES(MOD) MOD(up) MOD(down) MOD(bfly) MOD(idx)
#define PTX_VOTES(MOD)    MOD(all) MOD(any) MOD(ballot)
#define PTX_PERMUTES(MOD) MOD(f4e) MOD(b4e) MOD(rc8) MOD(ecl) MOD(ecr) MOD(rc16)
#define PTX_OTHER_MODS(MOD) \
    MOD(ftz) MOD(sat) MOD(satfinite) MOD(relu) MOD(approx) MOD(full) MOD(lo) MOD(hi) MOD(wide) \
    MOD(cc) MOD(uni) MOD(NaN) MOD(xorsign) MOD(v2) MOD(v4) MOD(v8) MOD(nc) MOD(volatile) \
    MOD(weak) MOD(relaxed) MOD(acquire) MOD(release) MOD(acq_rel) MOD(sc) MOD(mmio) MOD(cta) \
    MOD(cluster) MOD(gpu) MOD(sys) MOD(gl) MOD(ca) MOD(cg) MOD(cs) MOD(lu) MOD(cv) MOD(wb) \
    MOD(wt) MOD(sync) MOD(arrive) MOD(red) MOD(warp) MOD(aligned) MOD(noinc) MOD(async) \
    MOD(bulk) MOD(commit_group) MOD(wait_group) MOD(wait_all) MOD(l) MOD(r) MOD(clamp) MOD(wrap) \
    MOD(shiftamt) MOD(to) MOD(finite) MOD(infinite) MOD(number) MOD(notanumber) MOD(normal) \
    MOD(subnormal) MOD(entry) MOD(exact) MOD(noftz) MOD(unified) MOD(other)
/* Of instructions that no table of Rows (handlers.h) binds. These must be the last. */
#define PTX_LATE_MODS(MOD) \
    MOD(load) MOD(store) MOD(mma) MOD(a) MOD(b) MOD(c) MOD(d) MOD(row) MOD(col) MOD(trans) \
    MOD(x1) MOD(x2) MOD(x4) MOD(m8n8) MOD(m16n16k16) MOD(m8n32k16) MOD(m32n8k16) MOD(m16n16k8) \
    MOD(m8n8k4) MOD(m8n8k16) MOD(m16n8k4) MOD(m16n8k8) MOD(m16n8k16) MOD(m16n8k32) \
    MOD(init) MOD(inval) MOD(arrive_drop) MOD(expect_tx) MOD(complete_tx) MOD(noComplete) \
    MOD(test_wait) MOD(try_wait) MOD(parity) MOD(pending_count) MOD(mbarrier) MOD(bulk_group) \
    MOD(read) MOD(wait)
#define PTX_MODS(MOD) \
    PTX_ROUNDINGS(MOD) PTX_COMPARISONS(MOD) PTX_REDUCTIONS(MOD) PTX_SHUFFLES(MOD) PTX_VOTES(MOD) \
    PTX_PERMUTES(MOD) PTX_OTHER_MODS(MOD) PTX_LATE_MODS(MOD)
/* clang-format on */

typedef enum Mod {
#define MOD(name) MOD_##name,
    PTX_MODS(MOD)
#undef MOD
        MODS
} Mod;

typedef enum ModGroup {
    GROUP_OTHER,
    GROUP_ROUNDING,
    GROUP_COMPARISON,
    GROUP_REDUCTION,
    GROUP_SHUFFLE,
    GROUP_VOTE,
    GROUP_PERMUTE
} ModGroup;

ModGroup mod_group(Mod mod);

/* ---- Operands ---- */

typedef enum Special {
    SPECIAL_TID,
    SPECIAL_NTID,
    SPECIAL_CTAID,
    SPECIAL_NCTAID,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_CLOCK,
    SPECIAL_CLOCK_HI,
    SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER,
    SPECIAL_GLOBALTIMER_LO,
    SPECIAL_GLOBALTIMER_HI,
    SPECIAL_ENVREG,
    SPECIAL_DYNAMIC_SMEM_SIZE,
    SPECIAL_TOTAL_SMEM_SIZE,
    SPECIAL_RESERVED_SMEM, /* %reserved_smem_offset_0 and _1 */
    SPECIAL_CLUSTERID,
    SPECIAL_NCLUSTERID,
    SPECIAL_CLUSTER_CTAID,
    SPECIAL_CLUSTER_NCTAID,
    SPECIAL_CLUSTER_CTARANK,
    SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_UNKNOWN /* reported when executed */
} Special;

typedef enum OperandKind {
    OPERAND_NONE,
    OPERAND_REGISTER, /* registers[index]; `negated`: !p */
    OPERAND_INTEGER,  /* bits: a constant as 64 bits, sign extended */
    OPERAND_FLOAT,    /* bits: an f64; if written as 0f... (`single`), a widened f32 */
    OPERAND_SPECIAL,  /* special; component 0..2 for x y z, or the number of an envreg */
    OPERAND_VARIABLE, /* the address of variables[index] + offset */
    OPERAND_FUNCTION, /* functions[index], or the system call `name` where index is -1 */
    OPERAND_LABEL,    /* index of the instruction at the label, or instruction_count at the end */
    OPERAND_ADDRESS,  /* [base + offset]; base: a register (is_register), a variable, or none */
    OPERAND_VECTOR,   /* {a, b, ...}: operands[first .. first + count - 1] of the function */
    OPERAND_DISCARD,  /* _ */
    OPERAND_TABLE /* a .branchtargets or .calltargets list, or a .callprototype: tables[index] */
} OperandKind;

typedef struct Operand {
    OperandKind kind;
    bool negated, is_register, single;
    int index, component, first, count;
    Special special;
    int64_t offset;
    uint64_t bits;
    Name name; /* as written */
} Operand;

/* ---- Instructions ---- */

enum { INSTRUCTION_TYPES = 4, INSTRUCTION_MODS = 8, INSTRUCTION_ROLES = 8 };

/* The purpose of each operand: the matching form of ops.def, and one character per operand
 * (roles.h). */
typedef struct Roles {
    bool known;       /* false: no such form, or call, bra, brx */
    int destinations; /* number of operands, from the first on, that are destinations; 0 if not
                         known */
    int count;
    char role[INSTRUCTION_ROLES];
} Roles;

typedef struct Instruction {
    Op op;
    Space space; /* of ld, st, atom, red, cvta, isspacep, the source of cp.async, ... */
    bool to;     /* cvta.to */
    PtxType types[INSTRUCTION_TYPES]; /* in the order written: cvt.D.S is types[0], types[1] */
    int type_count;
    uint8_t mods[INSTRUCTION_MODS]; /* Mod, in the order written */
    int mod_count;
    int vector; /* 1, 2, 4, 8 */
    int guard;  /* predicate register, or -1 */
    bool guard_negated;
    int first, count; /* operands[]: destinations first, as written. d|p counts as two, in order.
                         call: results first; see call_returns, call_target */
    int call_returns; /* call: number of operands that are results; then come the target (FUNCTION
                         or REGISTER), the arguments, and for an indirect call a TABLE */
    Roles roles;
    int file, line;                 /* from .loc: files[file]; 0 0: unknown */
    int charged_file, charged_line; /* whose cost it is: for inlined code of a header, the nearest
                                       call in a .cu file; otherwise file and line */
    int ptx_line;                   /* line of the PTX text, from 1 */
    Name text;                      /* the whole opcode as written: ld.global.nc.v4.f32 */
} Instruction;

bool has_mod(const Instruction *instruction, Mod mod);
OpClass class_of(const Instruction *instruction);

/* ---- Variables and functions ---- */

/* At `offset`, an initialiser contains the address of a variable or function, plus `addend`. */
typedef struct Relocation {
    size_t offset;
    int size; /* 4 or 8 bytes */
    int variable, function;
    bool generic; /* generic(x): the generic address */
    int64_t addend;
} Relocation;

typedef struct Variable {
    Name name;
    Space space; /* PARAM: parameter of a function, or local to a call */
    PtxType type;
    size_t size; /* bytes; 0 for .extern .shared x[] */
    int align;
    bool is_extern, is_visible, is_managed;
    int function;     /* the function that declares it, or -1 */
    uint8_t *initial; /* size bytes, or NULL: zeros */
    Relocation *relocations;
    int relocation_count;
} Variable;

typedef struct PtxRegister {
    Name name;
    PtxType type;
} PtxRegister;

typedef struct Table { /* .branchtargets: instruction indices; .calltargets: functions */
    int *entries;
    int count;
    Name *param_names; /* of a prototype: unused */
    int *param_sizes, *param_aligns, *return_sizes, *return_aligns;
    int param_count, return_count;
} Table;

typedef struct Function {
    Name name;
    bool is_entry, is_extern;
    bool is_visible;       /* to other texts that are linked with this one */
    bool has_lines;        /* its instructions hold files and lines; only while parsing */
    int *params, *returns; /* variables[], in order */
    int param_count, return_count;
    PtxRegister *registers;
    int register_count;
    Instruction *instructions;
    int instruction_count;
    Operand *operands;
    int operand_count;
    Table *tables;
    int table_count;
    int required_threads[3], most_threads[3]; /* .reqntid, .maxntid; 0: not given */
    int required_cluster[3];                  /* .reqnctapercluster; 0: not given */
    int ptx_line;
} Function;

typedef struct Module {
    char *text;
    size_t text_bytes;
    int isa_major, isa_minor, target; /* .target sm_80: 80 */
    Variable *variables;
    int variable_count;
    Function *functions;
    int function_count;
    char **files; /* names from .file, by number; files[0] is NULL */
    int file_count;
    char *
        *warnings; /* directives that were skipped; each is reported once if the user asks for it */
    int warning_count;
} Module;

/* Parses a PTX text, which is copied. If it is malformed, returns NULL, and `why` has the error and
 * the line. Free with module_free. Unknown instructions are not errors. */
Module *module_parse(const char *ptx, size_t bytes, char *why, size_t why_size);
void module_free(Module *module);
int module_find(const Module *module, const char *function_name); /* -1 */

#endif
