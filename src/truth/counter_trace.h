/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy that a counter has counted, reading by reading: each with its time and with what it
 * took. Pure; truth/counter_reader.h reads.
 */
#pragma once

#include "judging/noise.h"
#include "truth/counter_reader.h"
#include "truth/truth_meters.h"

struct counter_trace {
	char name[TRUTH_KIND_MAX + 64]; /* "package (intel-rapl:0)" */
	struct truth_meter meter;
	struct noise_reading *readings;
	size_t count, size;
	uint64_t failures; /* readings that gave no number */
};

/* For up to @size readings of @meter, a counter. 0 or -ENOMEM. */
int counter_trace_open(const struct truth_meter *meter, size_t size, struct counter_trace *ret);
/* Takes a reading over. It is left out of a trace that is full, and counted if it has failed. */
void counter_trace_take(struct counter_trace *trace, const struct counter_sample *sample);
/* Forgets all readings, so that another phase can begin. */
void counter_trace_begin(struct counter_trace *trace);
void counter_trace_close(struct counter_trace *trace);
