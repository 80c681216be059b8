/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zones whose energy trained models estimate (model/trained_model.h), of the kinds that nothing
 * measures. They are fed, not read: each interval gives what the node has done, and the meter
 * integrates the models' watts over it. That is after the pass over the processes, as the stand-in
 * is fed (meter.h): energy and activity are of the same time by themselves.
 *
 * A model of another machine is asked for what that one would do at the same load of each core, and
 * its answer is multiplied by the ratio of cores. Idle power is the model's answer at no load, and
 * at the lowest frequency that it has seen. In a virtual machine only dynamic power is estimated:
 * its part of what the model says of the whole host, at all loads that its neighbours can have
 * (model/vm_share.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "energy/signal.h"
#include "energy/span.h"
#include "energy/zone.h"
#include "model/trained_model.h"
#include "model/vm_share.h"

#define MODEL_METER_FEATURES 12
#define MODEL_ZONES_MAX      5 /* platform, package, core, uncore, dram */

/* Beside the SIGNAL_BIT()s: the time for which virtual CPUs waited is counted. */
#define MODEL_SIGNAL_WAITED (1U << SIGNAL_COUNT)

/* What the node has done since the last pass. */
struct node_work {
	uint64_t time_ns;   /* MONOTONIC, of this pass */
	uint64_t busy_ns;   /* CPU time of all tasks, without what a hypervisor has stolen of it */
	uint64_t waited_ns; /* for which virtual CPUs waited */
	uint32_t signals;   /* SIGNAL_BIT()s and MODEL_SIGNAL_WAITED, of those that are known */
	uint64_t amount[SIGNAL_COUNT];
	uint32_t mean_khz; /* of all CPUs, now; with SIGNAL_FREQUENCY_TIME */
};

struct model_meter_options {
	unsigned cpus; /* logical, of this machine */
	bool is_vm;
	struct vm_hints vm; /* of its host */
	uint32_t signals;   /* SIGNAL_BIT()s and MODEL_SIGNAL_WAITED, of those counted here */
	bool is_measured[ZONE_KIND_COUNT];
	/* What models' machines are compared with: this machine, or a virtual machine's host. */
	struct machine_spec machine;
	/* Expected of the model that is built in, of power; 0: there is none of that kind. */
	double builtin_error[ZONE_KIND_COUNT];
};

/* What is known of a zone's estimate. */
struct model_state {
	const char *model, *features, *machine; /* "" unknown; until the model is replaced */
	const char *output;
	const char
		*reason; /* the machine that it was trained on, and what that adds to its error */
	double error_w;  /* half-width of the 90 % interval; NAN unknown, or no estimate yet */
	bool has_estimate;
	bool outside;     /* the node does more, or less, than the model has seen */
	uint64_t changes; /* times that another model took its place */
};

/*
 * Where a model comes from: a number, by which a newer one replaces it, and the path of its zones,
 * which stays what it is.
 */
#define MODEL_METER_PLACES 8
struct model_place {
	unsigned number; /* below MODEL_METER_PLACES */
	const char *path;
	bool gives_way; /* to a model that is built in and expected to be less wrong */
};

struct model_meter;

/* 0 or -ENOMEM. */
int model_meter_new(const struct model_meter_options *options, struct model_meter **ret);
void model_meter_free(struct model_meter *meter);
/*
 * Takes @model over, and makes zones of its components, of which @parts has the bits, of kinds that
 * have none yet. 0; -ENOENT with
 * @diag where it can give none: its features are not counted here, it has no idle power and this is
 * no virtual machine, or all its kinds are measured; -ERANGE: it is expected to be too far off on
 * this machine. @model is released then. After 0 @diag says which component is too far off, or
 * "".
 */
int model_meter_add_parts(struct model_meter *meter, const struct model_place *place,
			  struct trained_model *model, uint32_t parts, struct diag *diag);
/*
 * Takes @model over in the place of the one from the same place: from the next advance on its
 * watts are integrated, on top of what was counted. It must be able to estimate each zone of the
 * one before; other components of it are not used. Where there is none before, it is added, with
 * all its components. 0; -ENOENT with @diag: @model is released, and the one before stays.
 */
int model_meter_replace(struct model_meter *meter, const struct model_place *place,
			struct trained_model *model, struct diag *diag);
/* Names of features that are counted here; how many. */
size_t model_meter_feature_names(const struct model_meter *meter,
				 const char *ret[MODEL_METER_FEATURES]);
/* Names of features that are counted here, separated by commas; cut where @size is too small. */
void model_meter_features(const struct model_meter *meter, char *buf, size_t size);
/* 0 of NULL. */
size_t model_meter_count(const struct model_meter *meter);
/* Fixed, once the meter is used. */
const struct zone *model_meter_zone(const struct model_meter *meter, size_t index);
/* CPUs came or went: the node's load is spread over @cpus from here on. */
void model_meter_set_cpus(struct model_meter *meter, unsigned cpus);
/* Once a pass, before the zones are advanced. */
void model_meter_feed(struct model_meter *meter, const struct node_work *work);
/*
 * The energy of zone @index from its last span to the work that was fed last. False where a signal
 * that it needs is not known in this interval: the next span has that time as well, and is known if
 * that is no more than POWER_BRIDGE_PERIODS (meter/power_integral.h) of its own.
 */
bool model_meter_advance(struct model_meter *meter, size_t index, struct energy_span *ret);
void model_meter_state(const struct model_meter *meter, size_t index, struct model_state *ret);
/* What a virtual machine is taken to have of the host of zone @index. */
void model_meter_vm_share(const struct model_meter *meter, size_t index, struct vm_share *ret);
