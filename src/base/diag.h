/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A diagnosis: what is wrong, where, and what to do about it, as one line of text.
 *
 * Library code that parses what a user wrote fills one in beside its -errno; program code prints
 * it. The text is always terminated and never longer than the buffer.
 */
#pragma once

#define DIAG_TEXT_MAX 512

struct diag {
	char text[DIAG_TEXT_MAX]; /* "FILE:LINE:COLUMN: …", "FLAG: …"; empty: nothing is wrong */
};

/* Writes a formatted text into @diag (NULL is allowed and ignored) and returns @err unchanged. */
int diag_set(struct diag *diag, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
