/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods that are read for each unit, with the last values of their counters. If a rule reads
 * pods, they come from Kubernetes; if it asks a Prometheus, from its answers. Bounded; one thread
 * at a time. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/pods/pod_addresses.h"
#include "units/unit_rule.h"
#include "units/unit_series.h"

struct unit_target {
	uint32_t unit;
	char pod_id[POD_UID_MAX + 1]; /* "": of an answer, known by its names */
	char namespace_[POD_NAMESPACE_MAX + 1], name[POD_NAME_MAX + 1];
	char address[POD_ADDRESS_TEXT_MAX + 1];
	struct unit_series series;
	bool is_present; /* in this round */
	/* The result of this round: */
	bool is_read, is_first;
	uint64_t increase_micro;
	unsigned failures; /* in a row */
	unsigned pause;    /* rounds in which it is left alone */
};

struct unit_targets {
	struct unit_target *targets;
	size_t count, size;
	uint64_t beyond; /* pods for which there was no room */
};

void unit_targets_release(struct unit_targets *targets);
/* A round begins: none is present or read. */
void unit_targets_begin(struct unit_targets *targets);
/* The pods at @addresses are present, for each unit that selects them. */
void unit_targets_put_pods(struct unit_targets *targets, const struct pod_address *addresses,
			   size_t count);
/* The target of an answer, present; NULL: there is no room. Valid until the next one is added. */
struct unit_target *unit_targets_put(struct unit_targets *targets, uint32_t unit,
				     const char *namespace_, const char *name);
/* Removes those of @units (bits) that are not present. */
void unit_targets_prune(struct unit_targets *targets, uint32_t units);
/* Ends the reading of a target's series. 0, or the error of unit_series_end(). */
int unit_target_end(struct unit_target *target);
/* Its reading failed: it is left alone for a growing number of rounds, up to UNIT_PAUSE_MAX. */
#define UNIT_PAUSE_MAX 15
void unit_target_fail(struct unit_target *target);
/* Is it to be read in this round? If not, one round of its pause is over. */
bool unit_target_is_due(struct unit_target *target);
