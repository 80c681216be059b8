/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that do not fit in memory: doubles, row by row, in a file without a name, which the system
 * removes when it is closed. It is written once and then read many times; what the system keeps of
 * it in its cache is memory that it takes back when it needs it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct sample_spool {
	char folder[256];
	int fd;
	size_t columns;
	uint64_t rows;
	double *buffer; /* rows that are not written yet */
	size_t buffered;
};

/* In @folder. 0, or an error with a diagnosis. */
int sample_spool_open(struct sample_spool *ret, const char *folder, size_t columns,
		      struct diag *diag);
/* -ENOSPC when the disk would be left with less than 256 MiB. */
int sample_spool_add(struct sample_spool *spool, const double *row, struct diag *diag);
/* Before the first row is read. */
int sample_spool_finish(struct sample_spool *spool, struct diag *diag);
/* @count rows from @first on, which are there, into @ret. */
int sample_spool_read(const struct sample_spool *spool, uint64_t first, size_t count, double *ret,
		      struct diag *diag);
void sample_spool_close(struct sample_spool *spool);
