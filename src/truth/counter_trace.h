/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter of energy that is read as fast as its reader asks: each reading with its time and with
 * what it took. The file stays open, because opening it takes longer than reading it.
 */
#pragma once

#include "judging/noise.h"
#include "truth/truth_meters.h"

struct counter_trace {
	char name[TRUTH_KIND_MAX + 64]; /* "package (intel-rapl:0)" */
	struct truth_meter meter;
	int fd;
	struct noise_reading *readings;
	size_t count, size;
	uint64_t failures; /* readings that gave no number */
};

/*
 * For up to @size readings of @meter, a counter. 0 or -errno. A trace has to be closed also after
 * it could not be opened.
 */
int counter_trace_open(const struct truth_meter *meter, size_t size, struct counter_trace *ret);
/* Reads it now. False: the trace is full. */
bool counter_trace_read(struct counter_trace *trace);
/* Forgets all readings, so that another phase can begin. */
void counter_trace_begin(struct counter_trace *trace);
void counter_trace_close(struct counter_trace *trace);
