/* SPDX-License-Identifier: Apache-2.0 */
/* A file for a result, or standard error. It is opened before the command runs. */
#pragma once

#include <stdio.h>

#include "base/strbuf.h"

struct stat_output {
	const char *name; /* borrowed */
	FILE *file;       /* NULL: not open */
};

/* @name "": standard error. 0, or 1, which was reported. */
int stat_output_open(struct stat_output *output, const char *name);
/* 0, or 1, which was reported: the disk may be full. */
int stat_output_write(struct stat_output *output, const struct strbuf *text);
void stat_output_close(struct stat_output *output); /* also if it was not opened */
