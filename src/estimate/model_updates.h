/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the loop and the model of --model.url (model_fetch.h): the model that comes, at the start
 * or later, is added to the trained models of this machine; what goes wrong is logged once.
 */
#pragma once

#include "base/diag.h"
#include "config/config.h"
#include "estimate/model_estimate.h"
#include "estimate/model_fetch.h"
#include "host/host.h"
#include "snapshot/snapshot.h"

/* All zero: there is no --model.url. Belongs to one thread. */
struct model_updates {
	struct model_fetch *fetch;  /* NULL: not wanted, or it could not start */
	struct zone_source *models; /* borrowed */
	bool is_wanted;
	struct diag refused; /* why the last model is not used here; "" it is, or none came */
	char told[DIAG_TEXT_MAX];
};

/*
 * Starts to fetch for @models, unless @config wants no model, and waits a moment for the first one.
 * What is wrong is logged.
 */
void model_updates_start(struct model_updates *updates, const struct config *config,
			 const struct host_info *host, struct zone_source *models);
void model_updates_stop(struct model_updates *updates);
/*
 * Once an interval, before it runs: a model that has come is added, or takes the place of the one
 * before, and what changed is logged.
 */
void model_updates_follow(struct model_updates *updates);
void model_updates_describe(const struct model_updates *updates, struct snapshot_self *self);
/* What is wrong with the last attempt, "" nothing. */
void model_updates_fault(const struct model_updates *updates, struct model_fetch_stats *ret);
