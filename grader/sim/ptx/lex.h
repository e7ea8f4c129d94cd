/* lex.h - splits PTX text into tokens.
 *
 * A dot and the word after it are one token: .global, .v4, .L2::128B. So an opcode is a name
 * followed by dotted words, and %tid.x is two tokens.
 */
#ifndef SIM_PTX_LEX_H
#define SIM_PTX_LEX_H

#include "sim/ptx/module.h"

typedef enum TokenKind {
    TOKEN_END,     /* end of the text, or its first 0 */
    TOKEN_NAME,    /* kernel, %r1, $str, _ */
    TOKEN_DOT,     /* .reg; `text` holds the dot, too */
    TOKEN_INTEGER, /* bits */
    TOKEN_FLOAT,   /* bits: an f64; `single`: written as 0f... */
    TOKEN_STRING,  /* `text`: between the quotes, with escapes unchanged */
    TOKEN_PUNCT,   /* punct */
    TOKEN_BAD      /* bad: describes the error */
} TokenKind;

/* Two characters that are one token: << >> <= >= == != && || */
#define PAIR(a, b) ((a) << 8 | (b))

typedef struct Token {
    TokenKind kind;
    int line; /* from 1 */
    Name text;
    uint64_t bits;
    bool single, is_unsigned; /* is_unsigned: followed by U, or too large for 63 bits */
    int punct;
    const char *bad;
} Token;

typedef struct Lexer {
    const char *at; /* the text ends with a 0 */
    int line;
} Lexer;

/* At the end of the text and after an error, every call returns the same token. */
void lex_next(Lexer *lexer, Token *token);

#endif
