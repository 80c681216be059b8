/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text file, plain or compressed with gzip, read as it comes and in one direction, with the line
 * and column for messages.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/diag.h"

#define TEXT_INPUT_END (-1)

struct text_input {
	const char *name; /* borrowed, for messages */
	gzFile file;
	unsigned char buffer[65536];
	int at, len;
	uint64_t line, column; /* of the last character, from 1 */
	bool at_line_end;      /* the last character ended its line */
	int error;             /* -errno of a read that failed; the text ends there */
};

/* 0, or -errno with a diagnosis. "-" is standard input. To be closed in any case. */
int text_input_open(struct text_input *input, const char *path, struct diag *diag);
/* The same for a file that is open; @fd is taken over. */
int text_input_open_fd(struct text_input *input, int fd, const char *name, struct diag *diag);
void text_input_close(struct text_input *input);
/* The next byte, or TEXT_INPUT_END; peek does not take it. */
int text_input_peek(struct text_input *input);
int text_input_next(struct text_input *input);
/* Sets "FILE:LINE:COLUMN: …", or the error of a failed read, and returns the -errno. */
int text_input_fail(const struct text_input *input, struct diag *diag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
