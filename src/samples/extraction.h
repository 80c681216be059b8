/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes samples from the series of an exporter: a row for each step of time, with power by
 * component and the counters of activity (series_sums.h).
 *
 * Columns: timestamp (the end of the step, s), one for each feature in its unit per second, then
 * cpu_scaling_frequency_hertz, cpu_steal_seconds and node_type if they are known, and
 * COMPONENT_power in W.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "samples/sample_table.h"
#include "samples/series_sums.h"

struct extraction_component {
	char name[METRIC_FEATURE_MAX];
	double minimum_w, maximum_w, energy_j; /* over the steps that have rows */
	double seconds;                        /* the length of these steps */
};

struct extraction {
	struct sample_table table;
	struct strbuf owners; /* names of owners, terminated, one after the other */
	size_t *owner_at;     /* [table.rows] with by_owner: places in owners */
	int64_t step_us;      /* the usual one */
	uint64_t series, points, steps_left_out, duplicates, implausible;
	uint64_t steps_late; /* among steps_left_out: counters stood still in the step before */
	struct points_faults faults;
	struct extraction_component components[16];
	size_t component_count;
};

/*
 * 0; with a diagnosis -ENODATA if the series lack the power or a wanted feature, -ENOSPC beyond a
 * limit, -EINVAL if they are from several instances; -ENOMEM.
 */
int extraction_run(const struct extract_options *options, extract_source_fn *source, void *userdata,
		   struct extraction *ret, struct diag *diag);
/* Reads a file with series; see series_read_file(). */
int extraction_of_file(const struct extract_options *options, const char *path,
		       struct extraction *ret, struct diag *diag);
/* CSV; rows by owner have a column "owner" after their timestamp. 0 or -ENOMEM. */
int extraction_write_csv(const struct extraction *extraction, struct strbuf *out);
void extraction_release(struct extraction *extraction);
