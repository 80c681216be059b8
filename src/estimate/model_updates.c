// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_updates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "estimate/model_choice.h"
#include "estimate/model_files.h"
#include "service/privileges.h"

/* How long a start waits for the cache, or without one for the first answer. */
#define PATIENCE_NS (2 * NSEC_PER_SEC)

static void make_wish(const struct host_info *host, const struct zone_source *models,
		      struct model_wish *wish)
{
	const char *names[MODEL_FEATURES_MAX];
	size_t count, len = 0;

	*wish = (struct model_wish){
		.output = host->is_vm ? MODEL_DYN_POWER : MODEL_ABS_POWER,
	};
	model_choice_machine(host, &wish->machine);
	count = model_estimate_features(models, names);
	for (size_t i = 0; i < count && len < sizeof(wish->features); i++)
		len += (size_t)snprintf(wish->features + len, sizeof(wish->features) - len, "%s%s",
					len ? "," : "", names[i]);
}

static void take(struct model_updates *updates)
{
	static const struct model_place place = { MODEL_PLACE_URL, "model.url", true };
	struct trained_model model;

	if (!updates->fetch || !model_fetch_take(updates->fetch, &model))
		return;
	log_info("the model \"%.90s\" was fetched", model.name);
	updates->refused.text[0] = '\0';
	if (model_estimate_replace(updates->models, &place, &model, &updates->refused) < 0) {
		log_warn("the fetched model is not used: %s. The previous model, if any, stays in "
			 "use",
			 updates->refused.text);
		return;
	}
	model_choice_log(updates->models, place.path);
	if (updates->refused.text[0])
		log_warn("the fetched model is used in part: %s", updates->refused.text);
}

void model_updates_start(struct model_updates *updates, const struct config *config,
			 const struct host_info *host, struct zone_source *models)
{
	struct model_fetch_options options = {
		.url = config->model_url,
		.ca_file = config->model_ca_file,
		.token_file = config->model_token_file,
		.public_key = config->model_public_key,
		.state_dir = config->host.state_dir,
		.refresh_ns = config->model_refresh_ns,
		.start_thread = privileges_drop_thread,
	};

	*updates = (struct model_updates){ .is_wanted = config->model_url[0] && models,
					   .models = models };
	if (!updates->is_wanted)
		return;
	make_wish(host, models, &options.wish);
	if (model_fetch_start(&options, &updates->fetch, &updates->refused) < 0) {
		log_warn("no model is fetched: %s", updates->refused.text);
		return;
	}
	model_fetch_await(updates->fetch, PATIENCE_NS);
	take(updates);
}

void model_updates_stop(struct model_updates *updates)
{
	model_fetch_stop(updates->fetch);
	*updates = (struct model_updates){ 0 };
}

void model_updates_fault(const struct model_updates *updates, struct model_fetch_stats *ret)
{
	*ret = (struct model_fetch_stats){ .age_s = (double)NAN };
	if (updates->fetch)
		model_fetch_get_stats(updates->fetch, ret);
}

/* Each reason once: the log of a server that stays down has one line. */
static void tell_of_fault(struct model_updates *updates, const struct model_fetch_stats *stats)
{
	const char *fault = stats->last_error[0] ? stats->last_error : stats->cache_error;

	if (strcmp(fault, updates->told) == 0)
		return;
	if (stats->last_error[0])
		log_warn("no newer model: %s; retrying. %s", fault,
			 stats->model[0] ? "The last good one stays" : "There is none yet");
	else if (stats->cache_error[0])
		log_warn("the fetched model is not cached: %s", fault);
	else
		log_info("model.url answers again");
	(void)snprintf(updates->told, sizeof(updates->told), "%s", fault);
}

void model_updates_follow(struct model_updates *updates)
{
	struct model_fetch_stats stats;

	if (!updates->fetch)
		return;
	take(updates);
	model_updates_fault(updates, &stats);
	tell_of_fault(updates, &stats);
}

void model_updates_describe(const struct model_updates *updates, struct snapshot_self *self)
{
	struct model_fetch_stats stats;

	model_updates_fault(updates, &stats);
	self->model_fetch = (struct snapshot_model_fetch){
		.is_wanted = updates->is_wanted,
		.up = stats.up,
		.is_newer = updates->refused.text[0] != '\0',
		.requests = stats.requests,
		.failures = stats.failures,
		.refused = stats.refused,
		.age_s = stats.age_s,
	};
}
