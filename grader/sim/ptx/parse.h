/* parse.h - internal header of the parser (parse*.c).
 *
 * parse.c reads module scope, parse_directive.c declarations, parse_function.c the headers of
 * functions, parse_body.c their statements, parse_opcode.c and parse_operand.c instructions,
 * parse_constant.c constant expressions, parse_initial.c the values of variables, parse_line.c .loc
 * and .file, and parse_symbol.c manages the names.
 *
 * The only kind of error is that the text cannot be parsed. parse_fail() keeps the first message
 * and makes every later token the end of the text. All loops end there, so callers need to check a
 * result only before they use it as an index.
 */
#ifndef SIM_PTX_PARSE_H
#define SIM_PTX_PARSE_H

#include "sim/ptx/lex.h"

enum {
    MOST_TEXT_BYTES = 64 << 20,
    MOST_FUNCTIONS = 1 << 16,
    MOST_VARIABLES = 1 << 20,
    MOST_REGISTERS = 1 << 20,    /* per function */
    MOST_INSTRUCTIONS = 4 << 20, /* in all functions together */
    MOST_PARAMETERS = 4096,
    MOST_OPERANDS = 4096, /* per instruction */
    MOST_VECTOR = 8,
    MOST_NESTING = 64,
    MOST_DIMENSIONS = 8,
    MOST_FILES = 1 << 16,
    MOST_WARNINGS = 64,
    MOST_TEXTS = 1024,
    MOST_ALIGN = 1 << 20
};
#define MOST_VARIABLE_BYTES ((size_t) 1 << 40)
#define MOST_INITIAL_BYTES  ((size_t) 1 << 30) /* of all variables together */

/* ---- Names ---- */

typedef enum SymbolKind {
    SYMBOL_REGISTER, /* index: the function's registers */
    SYMBOL_RANGE, /* %r<44>; index: its number in the module; registers are added when first used */
    SYMBOL_VECTOR, /* .reg .v4: `count` components, numbered like a range */
    SYMBOL_VARIABLE,
    SYMBOL_FUNCTION,
    SYMBOL_LABEL,
    SYMBOL_TABLE,
    SYMBOL_SPECIAL /* index: Special; count: 1 if it has components, or the number of an envreg */
} SymbolKind;

typedef struct Symbol {
    Name name;
    uint64_t hash;
    SymbolKind kind;
    int index, count;
    PtxType type; /* type of registers */
    int depth;    /* scope depth; 0: the module's */
    int next;     /* next older symbol in the bucket, or -1 */
} Symbol;

typedef struct Symbols {
    Symbol *all; /* a stack, innermost scope last */
    int count, room;
    int *buckets;
    int bucket_count; /* a power of two */
    struct {
        uint64_t key;
        int value;
    } * numbered; /* the registers in ranges, by range and number */
    int numbered_count, numbered_room;
    int ranges; /* number of ranges so far in the module */
} Symbols;

/* ---- Reading ---- */

/* A name in a function that may be declared later: a label or a table. */
typedef struct Pending {
    Name name;
    int line;
    int operand; /* index in the function; -1 for an entry of a table */
    int table, entry;
} Pending;

typedef struct Scope {
    int first_symbol, first_pending;
} Scope;

/* A parameter whose function is not known yet. */
typedef struct Declaration {
    Name name;
    PtxType type;
    Space space;
    size_t size;
    int align;
    bool is_register; /* .reg: loaded at the start of the function, or stored before each return */
    int index;        /* the register, if is_register */
} Declaration;

/* A place in the source; `parent`: where it was inlined, or -1. */
typedef struct SourceLine {
    int file, line, column, parent;
} SourceLine;

typedef struct Lines {
    SourceLine *all;
    int count, room, current; /* current: -1: none */
    int *buckets;             /* 1 + index of the newest line with that hash */
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
    int texts;      /* begun so far */
    int first_file; /* number of files in the texts before this one */
    size_t initial_bytes;
    int instructions; /* in all functions so far */
    /* State of the function being read. */
    int function; /* or -1 */
    int instruction_room, operand_room, register_room, table_room;
    Scope scopes[MOST_NESTING];
    int depth;
    Pending *pending;
    int pending_count, pending_room;
    Operand *operands; /* operands of the instruction being read */
    int operand_count, operands_room;
    bool has_coordinates; /* its addresses may have them: [texture, {x, y}] */
    Declaration *declarations;
    int declaration_count, declaration_room;
    int expression_depth;
} Parser;

/* ---- parse.c ---- */

/* Always returns false. Only the first message is kept. */
bool parse_fail(Parser *p, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "'NAME' is declared twice" */
bool parse_fail_name(Parser *p, int line, Name name, const char *what);
/* Fails with "expected X, found Y" at the current token. */
bool parse_expected(Parser *p, const char *what);
/* Warns, once per name, about something that was skipped and that programs do not need. */
void parse_warn(Parser *p, int line, Name what);

/* Makes room for array[count], without initialising it. */
bool parse_room(Parser *p, void *array, int count, int *room, size_t size, int most,
                const char *what);

void advance(Parser *p);
bool at_punct(const Parser *p, int punct);
bool at_dot(const Parser *p, const char *word);
bool take_punct(Parser *p, int punct);   /* if it is next */
bool expect_punct(Parser *p, int punct); /* fails if it is not next */
bool take_dot(Parser *p, const char *word);
bool expect_name(Parser *p, Name *name);
void skip_to_semicolon(Parser *p);     /* or to a } */
void skip_statement(Parser *p);        /* including the semicolon */
void skip_braces(Parser *p);           /* from { through the matching } */
void skip_directive(Parser *p);        /* an unknown one; warns */
bool read_common_directive(Parser *p); /* directives that may stand anywhere: .loc, .pragma ... */

/* ---- parse_symbol.c ---- */

bool symbols_open(Parser *p);
void symbols_free(Symbols *symbols);
Symbol *symbol_add(Parser *p, Name name, SymbolKind kind, int index); /* NULL: failed */
const Symbol *symbol_in_scope(const Parser *p, Name name); /* in the current scope only */
/* The innermost symbol of that name. *number: the register's number in a range. */
const Symbol *symbol_find(const Parser *p, Name name, int *number);
/* Finds only labels and tables. */
const Symbol *symbol_find_target(const Parser *p, Name name);
void symbols_drop(Parser *p, int first);
/* Another text follows: variables and functions that are not visible there lose their names. */
void symbols_hide_local(Parser *p);
/* A register of a range or vector, added if it is new. Returns -1 on failure. */
int symbol_register(Parser *p, const Symbol *symbol, int number, Name name);
int register_add(Parser *p, Name name, PtxType type);

/* ---- parse_opcode.c ---- */

void words_open(Parser *p);
/* Reads NAME and the dotted words after it; the current token is then the one after them. */
void read_opcode(Parser *p, Instruction *in);
/* The type of .u32 etc.; TYPE_NONE: not a type. */
PtxType type_word(const Parser *p, Name dotted);
bool space_word(const Parser *p, Name dotted, Space *space);

/* ---- parse_constant.c ---- */

typedef struct Constant {
    bool is_float, single, is_unsigned;
    uint64_t bits;
} Constant;

bool at_constant(const Parser *p);
bool read_constant(Parser *p, Constant *constant);
/* Reads a sum of zero or more terms: + constant, - constant. */
bool read_offset(Parser *p, int64_t *offset);
bool read_count(Parser *p, uint64_t most, const char *what, uint64_t *count);

/* ---- parse_directive.c, parse_initial.c ---- */

typedef struct Linkage {
    bool is_extern, is_visible, is_weak, is_common;
} Linkage;

/* Starts after the state space; reads through the semicolon. */
void read_variables(Parser *p, Space space, Linkage linkage);
void read_registers(Parser *p); /* starts after .reg */
/* Reads ( ... ) and appends to p->declarations; returns the number of parameters. */
int read_parameters(Parser *p);
/* Starts after the = sign. `shape`: dimensions, innermost last; shape[0] 0: as many as there are
 * values. */
void read_initial(Parser *p, Variable *variable, size_t element, const size_t *shape,
                  int dimensions);

/* ---- parse_function.c ---- */

void read_function(Parser *p, Linkage linkage); /* starts at .entry or .func */

/* ---- parse_body.c ---- */

void read_body(Parser *p); /* from { through } */
Instruction *instruction_add(Parser *p);
Operand *operand_add(Parser *p, Operand operand); /* appends to the function's operands */
void pending_add(Parser *p, Pending pending);
bool scope_open(Parser *p);

/* ---- parse_function.c, for bodies ---- */

/* Emits stores of results in registers to memory, before a return. */
void store_results(Parser *p, const Instruction *ret);
/* Replaces registers and constants of a call by variables, and emits stores of the arguments. Call
 * it before the call is added. */
void store_arguments(Parser *p, const Instruction *call);
/* After the call: emits loads of the results. */
void load_results(Parser *p, const Instruction *call);

/* ---- parse_table.c ---- */

bool read_table(Parser *p,
                Name name); /* .branchtargets, .calltargets and .callprototype, after their label */

/* ---- parse_operand.c ---- */

void read_operands(Parser *p, Instruction *in);
bool read_operand(Parser *p); /* appends to p->operands */
bool operand_push(Parser *p, Operand operand);
bool named_operand(Parser *p, Operand *operand);  /* resolves a name */
bool target_operand(Parser *p, OperandKind kind); /* a label or a table, perhaps declared later */
void read_call(Parser *p, Instruction *in);

/* ---- parse_line.c ---- */

void read_loc(Parser *p);
void read_file_name(Parser *p);
void resolve_lines(Parser *p); /* after a text: replaces indices into Lines by file and line */
void lines_free(Lines *lines);

#endif
