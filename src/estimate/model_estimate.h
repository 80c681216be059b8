/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zones whose energy trained models estimate (model/trained_model.h), of the kinds that nothing
 * measures.
 *
 * A model of another machine is asked for the power of that machine at the same load per core, and
 * its answer is multiplied by the ratio of cores. Idle power is its answer at no load and at the
 * lowest frequency of its training data. In a virtual machine only dynamic power is estimated: its
 * part of the model's answer for the whole host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "estimate/zone_source.h"
#include "model/trained_model.h"
#include "model/vm_share.h"

#define MODEL_FEATURES_MAX 12

struct model_estimate_options {
	unsigned cpus; /* logical, of this machine */
	bool is_vm;
	struct vm_hints vm; /* about its host */
	uint32_t signals;   /* bits as in node_work.signals of the signals that are counted here */
	bool is_measured[ZONE_KIND_COUNT];
	/* This machine, or a virtual machine's host: models' machines are compared with it. */
	struct machine_spec machine;
	/* The expected error of the built-in model, over power; 0: there is none of that kind. */
	double builtin_error[ZONE_KIND_COUNT];
};

/*
 * The origin of a model: a number, by which a newer model replaces it, and the path of its zones,
 * which never changes.
 */
#define MODEL_PLACES_MAX 8
struct model_place {
	unsigned number; /* below MODEL_PLACES_MAX */
	const char *path;
	bool gives_way; /* to a built-in model with a smaller expected error */
};

/* 0 or -ENOMEM. The other functions take a source that this one made. */
int model_estimate_new(const struct model_estimate_options *options, struct zone_source **ret);
/*
 * Takes @model over, and makes zones of its components that have a bit in @parts and a kind that
 * has no zone yet. 0; -ENOENT with @diag if no zone can be made: its features are not counted here,
 * it has no idle power and this is not a virtual machine, or all its kinds are measured; -ERANGE:
 * its expected error on this machine is too large. @model is released then. After 0, @diag names
 * the component with too large an error, or is "".
 */
int model_estimate_add(struct zone_source *source, const struct model_place *place,
		       struct trained_model *model, uint32_t parts, struct diag *diag);
/*
 * Takes @model over and replaces the model from the same place: from the next advance on, its watts
 * are integrated on top of the energy counted so far. It must be able to estimate each zone of its
 * predecessor; its other components are not used. Without a predecessor it is added with all its
 * components. 0; -ENOENT or -ERANGE with @diag: @model is released, and the predecessor stays.
 */
int model_estimate_replace(struct zone_source *source, const struct model_place *place,
			   struct trained_model *model, struct diag *diag);
/* The names of the features that are counted here, and their number. */
size_t model_estimate_features(const struct zone_source *source,
			       const char *ret[MODEL_FEATURES_MAX]);
