/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The estimates in an interval: their zones are adopted by the books, fed with the work of the
 * pass, advanced, and shown in the snapshot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"
#include "attribution/books.h"
#include "estimate/zone_source.h"
#include "host/host.h"
#include "snapshot/snapshot.h"

/* In the order in which their zones are adopted and advanced. */
enum estimate {
	ESTIMATE_PLATFORM,   /* platform_estimate.h; without a meter at start-up, or with a share */
	ESTIMATE_COMPONENTS, /* component_estimate.h; parts of the platform */
	ESTIMATE_MODELS,     /* model_estimate.h; with --model.file or --model.url */
	ESTIMATE_COUNT
};

/* Owned; NULL: not used. One engine adopts them. */
struct estimates {
	struct zone_source *of[ESTIMATE_COUNT];
};

void estimates_free(struct estimates *estimates);
/*
 * Adopts zones that are new: a fetched model can add some at any time. Spare zones wait until a
 * meter is silent. 0 or -ENOMEM: the others wait.
 */
int estimates_adopt(struct estimates *estimates, struct books *books, int64_t boottime_ms);
void estimates_set_cpus(struct estimates *estimates, unsigned cpus);
/*
 * Puts the spans and the status of each zone into @books, by the work of @activity; NULL: the pass
 * failed. The work that it did not see comes with the next pass, and so does its time.
 */
void estimates_advance(struct estimates *estimates, struct books *books,
		       const struct activity *activity);
/*
 * Fills in the snapshot's facts about the models behind its @zones, and about the host that an
 * estimate in a virtual machine assumes. A zone that has ended has no model, nor has one for which
 * @node has no room. @host may be NULL.
 */
void estimates_picture(const struct estimates *estimates, const struct host_info *host,
		       struct snapshot_zone *zones, struct snapshot_node *node);

/* True while all energy is estimated, which ends with the first interval that a meter counts. */
bool estimates_are_all(const struct accountant *accountant);
/* The estimate that assumes a host of a virtual machine: trained models come first; NULL: none. */
const struct zone_source *estimates_of_vm(const struct estimates *estimates);
/*
 * Where the number of the host's CPUs comes from: "option" (--vm.host-cpus), "instance_type",
 * "model" (the machine of a trained one, if @source is one), "processor" (its name determines the
 * cores of a socket), or "typical" (a host of that year). A machine with more CPUs has a host of
 * its own size.
 */
const char *estimates_host_cpus_source(const struct zone_source *source,
				       const struct host_info *host);

/* The sum of @signal in @activity, whether its party is known or not. */
uint64_t activity_signal_sum(const struct activity *activity, enum signal signal);
