/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learned state of the online trainer for each type of machine, as files of its folder, and the
 * decision whether a model is replaced.
 *
 *	NAME.state            what was learned (learner.h)
 *	NAME.model.json       the model in use, as it was published
 *	NAME.previous.json    the one before
 *	NAME.rows.csv, NAME.candidate.json    of a training
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trainers/learner.h"
#include "trainers/online_nodes.h"
#include "trainers/online_options.h"

#define ONLINE_PATH_MAX 1024

struct online_models {
	const struct online_config *config;
	const char *root; /* of the repository */
	struct learner *learners[ONLINE_NODES_MAX];
	size_t count;
	uint64_t published, kept, failed;
};

/*
 * Loads the states of all machines; an unusable state is renamed to NAME.refused, and a new one is
 * begun. 0; -errno with a diagnosis.
 */
int online_models_load(struct online_models *models, const struct online_nodes *nodes,
		       struct diag *diag);
void online_models_release(struct online_models *models);
/* NULL: unknown machine. */
struct learner *online_models_find(const struct online_models *models,
				   const struct machine_spec *machine);
/* A file of a learner, such as ".state", into @ret. */
void online_models_path(const struct online_models *models, const struct learner *learner,
			const char *end, char ret[ONLINE_PATH_MAX]);
/* 0, or -errno with a diagnosis. */
int online_models_save(const struct online_models *models, const struct learner *learner,
		       struct diag *diag);
/*
 * Judges the model that was trained, if @has_candidate, publishes it if it is better than the model
 * in use, and logs the reason. Counts the decision.
 */
void online_models_decide(struct online_models *models, struct learner *learner,
			  bool has_candidate);
