// SPDX-License-Identifier: Apache-2.0
#include "truth/counter_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S_PER_NS 1e-9

/* The counter's folder, such as "intel-rapl:0:1", distinguishes counters of one kind. */
static void name_trace(const struct truth_meter *meter, struct counter_trace *trace)
{
	const char *end = strrchr(meter->path, '/'), *begin = end;

	while (begin && begin > meter->path && begin[-1] != '/')
		begin--;
	(void)snprintf(trace->name, sizeof(trace->name), "%s (%.*s)", meter->kind,
		       begin ? (int)(end - begin) : 0, begin ? begin : "");
}

int counter_trace_open(const struct truth_meter *meter, size_t size, struct counter_trace *ret)
{
	*ret = (struct counter_trace){ .meter = *meter, .size = size };
	name_trace(meter, ret);
	ret->readings = calloc(size, sizeof(*ret->readings));
	return ret->readings ? 0 : -ENOMEM;
}

/*
 * Readings follow each other closely, so a counter that falls by more than half of its range has
 * wrapped. One that falls by less went down, which is part of its noise.
 */
static double step_j(const struct truth_meter *meter, uint64_t raw)
{
	if (!meter->has_last)
		return 0;
	if (raw < meter->last_raw && meter->range >= meter->last_raw &&
	    meter->last_raw - raw > meter->range / 2)
		return meter->unit * (double)(meter->range - meter->last_raw + 1 + raw);
	return meter->unit * ((double)raw - (double)meter->last_raw);
}

void counter_trace_take(struct counter_trace *trace, const struct counter_sample *sample)
{
	struct truth_meter *meter = &trace->meter;

	if (trace->count == trace->size)
		return;
	if (sample->has_failed) {
		trace->failures++;
		return;
	}
	meter->joules += step_j(meter, sample->raw);
	meter->last_raw = sample->raw;
	meter->has_last = true;
	trace->readings[trace->count++] = (struct noise_reading){
		.time_s = S_PER_NS * ((double)sample->before_ns + sample->took_ns / 2.0),
		.joules = meter->joules,
		.read_s = (float)(S_PER_NS * sample->took_ns),
	};
}

void counter_trace_begin(struct counter_trace *trace)
{
	trace->count = 0;
	trace->failures = 0;
	trace->meter.has_last = false;
	trace->meter.joules = 0;
}

void counter_trace_close(struct counter_trace *trace)
{
	free(trace->readings);
	*trace = (struct counter_trace){ 0 };
}
