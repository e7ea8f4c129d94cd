/* parse.h - shared by the files of the parser (parse*.c) only.
 *
 * parse.c reads module scope, parse_directive.c declarations, parse_function.c the heads of
 * functions, parse_body.c their statements, parse_opcode.c and parse_operand.c instructions,
 * parse_constant.c constant expressions, parse_initial.c the values of variables, parse_line.c .loc
 * and .file, parse_symbol.c keeps the names.
 *
 * There is one kind of error: the text cannot be read. parse_fail() keeps the first message and
 * makes every later token the end of the text. All loops end there, so callers check a result only
 * before they use it as an index.
 */
#ifndef SIM_PTX_PARSE_H
#define SIM_PTX_PARSE_H

#include "sim/ptx/lex.h"

enum {
    MOST_TEXT_BYTES = 64 << 20,
    MOST_FUNCTIONS = 1 << 16,
    MOST_VARIABLES = 1 << 20,
    MOST_REGISTERS = 1 << 20,    /* that a function names */
    MOST_INSTRUCTIONS = 4 << 20, /* of all functions */
    MOST_PARAMETERS = 4096,
    MOST_OPERANDS = 4096, /* of an instruction */
    MOST_VECTOR = 8,
    MOST_NESTING = 64,
    MOST_DIMENSIONS = 8,
    MOST_FILES = 1 << 16,
    MOST_WARNINGS = 64,
    MOST_ALIGN = 1 << 20
};
#define MOST_VARIABLE_BYTES ((size_t) 1 << 40)
#define MOST_INITIAL_BYTES  ((size_t) 1 << 30) /* of all variables */

/* ---- Names ---- */

typedef enum SymbolKind {
    SYMBOL_REGISTER, /* index: the function's registers */
    SYMBOL_RANGE,    /* %r<44>; index: its number in the module; registers are added when named */
    SYMBOL_VECTOR,   /* .reg .v4: count components, numbered as a range is */
    SYMBOL_VARIABLE,
    SYMBOL_FUNCTION,
    SYMBOL_LABEL,
    SYMBOL_TABLE,
    SYMBOL_SPECIAL /* index: Special; count: 1 if it has components; envreg: its number is `count`
                    */
} SymbolKind;

typedef struct Symbol {
    Name name;
    uint64_t hash;
    SymbolKind kind;
    int index, count;
    PtxType type; /* of registers */
    int depth;    /* of the scope: 0 is the module's */
    int next;     /* older one in the same bucket, or -1 */
} Symbol;

typedef struct Symbols {
    Symbol *all; /* a stack, innermost scope last */
    int count, room;
    int *buckets;
    int bucket_count; /* a power of two */
    struct {
        uint64_t key;
        int value;
    } * numbered; /* registers of ranges, by range and number */
    int numbered_count, numbered_room;
    int ranges; /* so far in the module */
} Symbols;

/* ---- Reading ---- */

/* A name in a function that may be declared later: a label or a table. */
typedef struct Pending {
    Name name;
    int line;
    int operand; /* of the function, or -1: an entry of a table */
    int table, entry;
} Pending;

typedef struct Scope {
    int first_symbol, first_pending;
} Scope;

/* A parameter while its function is not known yet. */
typedef struct Declaration {
    Name name;
    PtxType type;
    Space space;
    size_t size;
    int align;
    bool is_register; /* .reg: moved from and to memory at the function's ends */
    int index;        /* then: of the register */
} Declaration;

/* A place in the source; `parent`: where it was inlined, or -1. */
typedef struct SourceLine {
    int file, line, column, parent;
} SourceLine;

typedef struct Lines {
    SourceLine *all;
    int count, room, current; /* current: -1 none */
    int *buckets;             /* index of the newest line with that hash, + 1 */
    int bucket_count;
} Lines;

typedef struct WordTable {
    uint16_t slots[1024];
} WordTable;

typedef struct Parser {
    Lexer lexer;
    Token token; /* the current one */
    Module *module;
    char *why;
    size_t why_size;
    bool failed;
    Symbols symbols;
    WordTable opcodes, parts;
    Lines lines;
    int variable_room, function_room;
    size_t initial_bytes;
    int instructions; /* of all functions so far */
    /* Of the function that is read. */
    int function; /* or -1 */
    int instruction_room, operand_room, register_room, table_room;
    Scope scopes[MOST_NESTING];
    int depth;
    Pending *pending;
    int pending_count, pending_room;
    Operand *operands; /* of the instruction that is read */
    int operand_count, operands_room;
    Declaration *declarations;
    int declaration_count, declaration_room;
    int expression_depth;
} Parser;

/* ---- parse.c ---- */

/* Always false. The first message stays. */
bool parse_fail(Parser *p, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "'NAME' is there twice" */
bool parse_fail_name(Parser *p, int line, Name name, const char *what);
/* "expected X, found Y" at the token. */
bool parse_expected(Parser *p, const char *what);
/* Reports, once each, something that was skipped and that programs do not need. */
void parse_warn(Parser *p, int line, Name what);

/* Makes room for one more: array[count]. Zeroes nothing. */
bool parse_room(Parser *p, void *array, int count, int *room, size_t size, int most,
                const char *what);

void advance(Parser *p);
bool at_punct(const Parser *p, int punct);
bool at_dot(const Parser *p, const char *word);
bool take_punct(Parser *p, int punct);   /* if it is there */
bool expect_punct(Parser *p, int punct); /* else fails */
bool take_dot(Parser *p, const char *word);
bool expect_name(Parser *p, Name *name);
void skip_to_semicolon(Parser *p);     /* or to a } */
void skip_statement(Parser *p);        /* that, and the semicolon */
void skip_braces(Parser *p);           /* from { to behind its } */
void skip_directive(Parser *p);        /* one that is not known; warns */
bool read_common_directive(Parser *p); /* those that may stand anywhere: .loc, .pragma ... */

/* ---- parse_symbol.c ---- */

bool symbols_open(Parser *p);
void symbols_free(Symbols *symbols);
Symbol *symbol_add(Parser *p, Name name, SymbolKind kind, int index); /* NULL: failed */
const Symbol *symbol_in_scope(const Parser *p, Name name);            /* of this very depth */
/* The innermost meaning of a name. `number`: which of a range. */
const Symbol *symbol_find(const Parser *p, Name name, int *number);
/* A label or a table; only these. */
const Symbol *symbol_find_target(const Parser *p, Name name);
void symbols_drop(Parser *p, int first);
/* The register of a range or vector, added if it is new. -1: failed. */
int symbol_register(Parser *p, const Symbol *symbol, int number, Name name);
int register_add(Parser *p, Name name, PtxType type);

/* ---- parse_opcode.c ---- */

void words_open(Parser *p);
/* NAME and the dotted words that follow; token is then behind. */
void read_opcode(Parser *p, Instruction *in);
/* .u32 and so on; TYPE_NONE: it is no type. */
PtxType type_word(const Parser *p, Name dotted);
bool space_word(const Parser *p, Name dotted, Space *space);

/* ---- parse_constant.c ---- */

typedef struct Constant {
    bool is_float, single, is_unsigned;
    uint64_t bits;
} Constant;

bool at_constant(const Parser *p);
bool read_constant(Parser *p, Constant *constant);
/* Zero or more of: + constant, - constant. */
bool read_offset(Parser *p, int64_t *offset);
bool read_count(Parser *p, uint64_t most, const char *what, uint64_t *count);

/* ---- parse_directive.c, parse_initial.c ---- */

typedef struct Linkage {
    bool is_extern, is_visible, is_weak, is_common;
} Linkage;

/* From behind the word of the space to behind the semicolon. */
void read_variables(Parser *p, Space space, Linkage linkage);
void read_registers(Parser *p); /* from behind .reg */
/* ( ... ), appended to p->declarations; returns how many. */
int read_parameters(Parser *p);
/* From behind the = sign; `shape`: dimensions, innermost last; shape[0] 0: as many as there are. */
void read_initial(Parser *p, Variable *variable, size_t element, const size_t *shape,
                  int dimensions);

/* ---- parse_function.c ---- */

void read_function(Parser *p, Linkage linkage); /* from .entry or .func on */

/* ---- parse_body.c ---- */

void read_body(Parser *p); /* from { to behind } */
Instruction *instruction_add(Parser *p);
Operand *operand_add(Parser *p, Operand operand); /* to the function's */
void pending_add(Parser *p, Pending pending);
bool scope_open(Parser *p);

/* ---- parse_function.c, for bodies ---- */

/* Results in registers go to memory: before each return. */
void store_results(Parser *p, const Instruction *ret);

/* ---- parse_table.c ---- */

bool read_table(Parser *p,
                Name name); /* .branchtargets, .calltargets and .callprototype, after their label */

/* ---- parse_operand.c ---- */

void read_operands(Parser *p, Instruction *in);
bool read_operand(Parser *p); /* to p->operands */
bool operand_push(Parser *p, Operand operand);
bool named_operand(Parser *p, Operand *operand);  /* a name, what it stands for */
bool target_operand(Parser *p, OperandKind kind); /* a label or a table, perhaps declared later */
void read_call(Parser *p, Instruction *in);

/* ---- parse_line.c ---- */

void read_loc(Parser *p);
void read_file_name(Parser *p);
void resolve_lines(Parser *p); /* at the end: line numbers of Lines become file and line */
void lines_free(Lines *lines);

#endif
