/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A diagnosis: what is wrong, where, and what to do about it, as one line of text.
 *
 * Library code that parses a user's input fills one in and returns -errno; program code prints
 * it. The text is always terminated and never longer than the buffer.
 *
 * A parser that can go on after a problem adds each one with diag_add(): the first is the text, the
 * others are lines of @more, if the caller gives one, and are counted.
 */
#pragma once

#include <stdio.h>

#define DIAG_TEXT_MAX 512
#define DIAG_MORE_MAX 200 /* lines of @more; others are only counted */

struct strbuf;

struct diag {
	char text[DIAG_TEXT_MAX]; /* "FILE:LINE:COLUMN: …", "FLAG: …"; empty: nothing is wrong */
	struct strbuf *more;      /* borrowed, or NULL; only for diag_add() */
	unsigned others;          /* problems besides the one in @text */
};

/* Writes a formatted text into @diag (NULL is allowed and ignored) and returns @err unchanged. */
int diag_set(struct diag *diag, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* As diag_set(), for one of several problems. @diag is initialised. */
int diag_add(struct diag *diag, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds each problem, and how many are not listed, with @between between two of them. */
void diag_join(const struct diag *diag, const char *between, struct strbuf *out);
/* Prints each problem as a line "PROGRAM: …", and how many are not listed. */
void diag_print(const struct diag *diag, const char *program, FILE *out);
