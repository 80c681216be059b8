/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features that models are made of: their names, units, groups, and which of them show load. The
 * names and groups come from upstream's model server; a name is the metric's without prefix and
 * "_total". Values are rates per second of the node or process, except levels. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/predictor.h"

struct feature {
	const char *name;
	const char *unit;   /* of its values: "ms/s", "1/s", "Hz" */
	bool is_load;       /* the more of it, the more power; not so a frequency, or memory held */
	bool by_name_only;  /* few machines count it: no model has it that was not asked to */
	const char *option; /* kepler's option that enables it; NULL: none is needed, or none can */
};

/*
 * NULL: no known one. A recent mean (recent_mean.h) of a feature of load has what that feature has,
 * except for the name.
 */
const struct feature *feature_find(const char *name);
/* The option with which kepler counts it; "" always, never, or not known. */
const char *feature_option(const char *name);
/* Its unit; "": unknown. */
const char *feature_unit(const char *name);

#define FEATURE_GROUP_MAX 16 /* features of one */
struct feature_group {
	const char *name;                            /* "BPFOnly" */
	const char *features[FEATURE_GROUP_MAX + 1]; /* by name; NULL ends it */
};

/* All groups, the ones with fewest features first; a NULL name ends them. */
extern const struct feature_group feature_groups[];
/* NULL: none of that name. */
const struct feature_group *feature_group_find(const char *name);
/* The group that has exactly these features, in any order; NULL: none has. */
const struct feature_group *feature_group_of(const char *const *names, size_t count);
/*
 * Quotients of two of these features that say how a machine runs, whatever its load: cycles by CPU
 * time (the frequency), instructions by cycles, misses by instructions. Into @ret
 * [PREDICTOR_RATIOS_MAX], by index of @names; how many there are.
 */
size_t feature_ratios(const char *const *names, size_t count, struct feature_ratio *ret);
/*
 * The one feature that a curve of @component sees, as upstream's trainers choose it: an index of
 * @names. That is bpf_cpu_time_ms, without it cpu_instructions; of dram bpf_page_cache_hit,
 * without it cache_miss. 0 where none of these is there.
 */
size_t feature_main(const char *const *names, size_t count, const char *component);
