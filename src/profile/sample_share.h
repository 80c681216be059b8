/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of one process, and how its energy is shared among them. The energy of an interval
 * that follows the samples of one clock (sample_clock.h) is split over those of that interval by
 * their weights, exactly (attribution/split.h). In an interval without a sample it follows the
 * samples of the last interval that had any; before the first sample it waits for that one, and at
 * the end it follows the samples of another clock. Energy that still waits has no sample. So a
 * process has its whole energy in the profile, to the microjoule, at any time except for energy
 * that waits. CPU time is split over the samples by time, to the nanosecond. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/split.h"
#include "profile/profile.h"
#include "profile/sample_clock.h"

struct share_amounts {
	uint64_t energy_uj[SAMPLE_CLOCKS]; /* by what it follows */
	uint64_t cpu_ns;
};

struct sample_list {
	uint32_t *nodes;   /* [count], of the profile; one may be there several times */
	uint64_t *weights; /* [count] */
	size_t count, node_size, weight_size;
	bool is_charged; /* with all energy so far: the next sample begins a new list */
};

struct sample_share {
	struct sample_list lists[SAMPLE_CLOCKS];
	struct share_amounts waiting;
};

/* Memory that is used again from call to call; zeroed at first. */
struct share_scratch {
	struct split_scratch split;
	uint64_t *parts;
	size_t size;
};
void share_scratch_release(struct share_scratch *scratch);

/* The sum over all clocks. */
uint64_t share_amounts_uj(const struct share_amounts *amounts);

void sample_share_release(struct sample_share *share);
/* A sample with its innermost frame at @node. 0 or -ENOMEM: the sample is lost. */
int sample_share_add(struct sample_share *share, enum sample_clock clock, uint32_t node,
		     uint64_t weight);
/* The process used @amounts in the interval that its newest samples are of. */
void sample_share_charge(struct sample_share *share, struct profile *profile,
			 const struct share_amounts *amounts, struct share_scratch *scratch);
/*
 * Nothing follows: what has waited goes to any samples that there are; returns what still waits,
 * which is the caller's to place.
 */
struct share_amounts sample_share_end(struct sample_share *share, struct profile *profile,
				      struct share_scratch *scratch);
