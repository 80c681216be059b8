/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From series of an exporter to samples: power by component with the counters of activity.
 *
 * Series are read twice, each time as a stream: first the times at which power is known, which
 * make the steps, then all values. Memory is needed by steps and features, and for rows by owner by
 * owners, too; never by points. Each series has time steps of its own (sample_grid.h); resets,
 * gaps, duplicates and series that go on under other labels are in counter_points.h and
 * power_accounts.h.
 *
 * Columns: timestamp (the end of the step, s), a feature each in its unit per second, then
 * cpu_scaling_frequency_hertz and node_type if they are known, COMPONENT_power in W, and by
 * package package_N_COMPONENT_power and package_ratio_N.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "samples/counter_points.h"
#include "samples/metric_kind.h"
#include "samples/sample_table.h"
#include "samples/series_reader.h"

#define EXTRACT_FEATURES_MAX 96
#define EXTRACT_SOURCES_MAX  8

struct extract_options {
	const char *sources[EXTRACT_SOURCES_MAX]; /* of energy; the first that has a component */
	size_t source_count;
	enum metric_level level;
	const char *node;            /* instance whose series are taken; "" the only one; "any" */
	const char *const *features; /* that are wanted; NULL ends them; NULL: all */
	bool by_package;             /* also the power of each package */
	bool by_owner;               /* a row is a step of one owner, with the node's power */
	uint32_t smooth;             /* rows of a rolling mean; 0 or 1: none */
	/*
	 * NULL, or whether an owner belongs to the background: its features are in columns of their
	 * own, background_FEATURE.
	 */
	bool (*is_background)(void *userdata, const char *owner);
	void *userdata;
};

struct extraction_component {
	char name[METRIC_FEATURE_MAX];
	double minimum_w, maximum_w, energy_j; /* of the steps that have rows */
	double seconds;                        /* that these are */
};

struct extraction {
	struct sample_table table;
	struct strbuf owners; /* names of owners, terminated, one behind the other */
	size_t *owner_at;     /* [table.rows] with by_owner: places in owners */
	int64_t step_us;      /* the usual one */
	uint64_t series, points, steps_left_out, duplicates, implausible;
	uint64_t steps_late; /* of those left out: counters stood still in the one before */
	struct points_faults faults;
	struct extraction_component components[16];
	size_t component_count;
};

/* One pass over all series, in any parts: 0, or -errno with a diagnosis. */
typedef int extract_source_fn(void *userdata, const struct series_sink *sink, struct diag *diag);

/*
 * 0; -ENODATA where the series have no such power or lack a feature that is wanted, -ENOSPC beyond
 * a limit, -ENOMEM.
 */
int extraction_run(const struct extract_options *options, extract_source_fn *source, void *userdata,
		   struct extraction *ret, struct diag *diag);
/* Reads a file with series; see series_read_file(). */
int extraction_of_file(const struct extract_options *options, const char *path,
		       struct extraction *ret, struct diag *diag);
/* CSV; rows by owner have a column "owner" behind their timestamp. 0 or -ENOMEM. */
int extraction_write_csv(const struct extraction *extraction, struct strbuf *out);
void extraction_release(struct extraction *extraction);
