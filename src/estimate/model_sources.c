// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_sources.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "estimate/model_choice.h"
#include "model/component_power.h"
#include "model/platform_power.h"
#include "service/privileges.h"

/* How long a start waits for the cache, or without one for the first answer. */
#define PATIENCE_NS (2 * NSEC_PER_SEC)

/* ---- the models of this machine ---- */

static void set_measured(const struct model_surroundings *around, bool *is_measured)
{
	for (size_t z = 0; around->meters && z < meter_table_count(around->meters); z++)
		is_measured[meter_table_zone(around->meters, z)->kind] = true;
}

/* The mean errors of the built-in models on machines that they have never seen. */
static void set_builtin_errors(const struct config *config, double *errors)
{
	static const enum zone_kind kinds[COMPONENT_COUNT] = {
		[COMPONENT_PACKAGE] = ZONE_PACKAGE,
		[COMPONENT_DRAM] = ZONE_DRAM,
	};

	errors[ZONE_PLATFORM] = platform_power_model.loo_mape_percent / 100;
	for (enum component c = 0; c < COMPONENT_COUNT; c++) {
		if ((unsigned)config->model_parts & COMPONENT_BIT(c))
			errors[kinds[c]] = builtin_component_model.mape_percent[c] / 100;
	}
}

/*
 * A kernel that has never counted stolen time may be unable to, so its 0 is not a measurement. No
 * time is stolen from a machine that is not virtual.
 */
static uint32_t waiting_signal(const struct model_surroundings *around, bool has_steal)
{
	return around->host->is_vm && has_steal ? WORK_SIGNAL_WAITED : 0;
}

static uint32_t counted_signals(const struct model_surroundings *around)
{
	struct activity_info info;

	activity_get_info(around->activity, &info);
	return (info.counts_switches ? info.signals : 0) | info.io.signals |
	       waiting_signal(around, info.has_steal) |
	       (around->has_frequency ? SIGNAL_BIT(SIGNAL_FREQUENCY_TIME) : 0);
}

static int open_models(const struct config *config, const struct model_surroundings *around,
		       struct zone_source **ret)
{
	struct model_estimate_options options = {
		.cpus = around->host->cpus,
		.is_vm = around->host->is_vm,
		.vm = { around->host->vm_host_cpus, around->host->vm_load_low,
			around->host->vm_load_high },
		.signals = counted_signals(around),
	};

	set_measured(around, options.is_measured);
	set_builtin_errors(config, options.builtin_error);
	model_choice_machine(around->host, &options.machine);
	return model_estimate_new(&options, ret);
}

/* ---- a model that has come, from either origin ---- */

static const char *origin(const struct model_source *source, char buf[static DIAG_TEXT_MAX])
{
	(void)snprintf(buf, DIAG_TEXT_MAX, "--model.%s%s", source->file ? "file=" : "url",
		       source->file ? source->file : "");
	return buf;
}

static void refuse(struct model_source *source, const struct diag *why)
{
	char name[DIAG_TEXT_MAX];

	source->is_bad = true;
	source->refused = *why;
	log_warn("the model of %s is not used: %s. The previous model, if any, stays in use",
		 origin(source, name), why->text);
}

static void log_use(const struct model_sources *sources, const struct model_source *source)
{
	char name[DIAG_TEXT_MAX];

	for (size_t i = 0; i < zone_source_count(sources->models); i++) {
		const struct zone *zone = zone_source_zone(sources->models, i);
		struct model_state state;

		if (strcmp(zone->path, source->place.path) != 0)
			continue;
		zone_source_state(sources->models, i, &state);
		log_info(
			"the zone \"%s\" is estimated by the trained model \"%.90s\", which was %s",
			zone_kind_name(zone->kind), state.model, state.reason);
	}
	if (source->refused.text[0])
		log_warn("the model of %s is used in part: %s", origin(source, name),
			 source->refused.text);
}

/* Takes @model over, which @parts has the components of; all of a model that has a predecessor. */
static bool use(struct model_sources *sources, struct model_source *source,
		struct trained_model *model, uint32_t parts)
{
	struct diag why = { "" };
	int r = parts == UINT32_MAX
			? model_estimate_replace(sources->models, &source->place, model, &why)
			: model_estimate_add(sources->models, &source->place, model, parts, &why);

	if (r < 0) {
		refuse(source, &why);
		return false;
	}
	source->is_bad = false;
	source->refused = why;
	log_use(sources, source);
	return true;
}

/* ---- files ---- */

static int name_files(struct model_sources *sources, const struct config *config)
{
	for (size_t i = 0; i < config->model_file_count; i++) {
		struct model_source *source = &sources->list[i];
		char *file = strdup(config->model_files[i]), *slash;

		if (!file)
			return -ENOMEM;
		slash = strrchr(file, '/');
		source->file = file;
		source->place.number = (unsigned)i;
		source->place.path = slash && slash[1] ? slash + 1 : file;
		sources->file_count++;
	}
	return 0;
}

static void read_files(struct model_sources *sources, const struct host_info *host)
{
	struct trained_model models[CONFIG_MODELS_MAX] = { 0 };
	uint32_t parts[CONFIG_MODELS_MAX];

	for (size_t i = 0; i < sources->file_count; i++) {
		struct model_source *source = &sources->list[i];
		struct diag why = { "" };

		if (watched_model_read(source->file, &source->stamp, &models[i], &why) < 0) {
			refuse(source, &why);
			models[i] = (struct trained_model){ 0 };
		}
	}
	model_choice_make(models, sources->file_count, host, sources->models, parts,
			  &sources->chosen);
	for (size_t i = 0; i < sources->file_count; i++) {
		sources->list[i].is_spare = !parts[i] && models[i].component_count;
		if (parts[i])
			(void)use(sources, &sources->list[i], &models[i], parts[i]);
		trained_model_release(&models[i]); /* one that was taken over is empty */
	}
}

int model_sources_open(struct model_sources *sources, const struct config *config,
		       const struct model_surroundings *around, struct zone_source **ret)
{
	int r;

	*sources = (struct model_sources){ .has_url = config->model_url[0] };
	if (config->model_file_count == 0 && !sources->has_url)
		return 0;
	r = open_models(config, around, ret);
	if (r < 0)
		return r;
	sources->models = *ret;
	r = name_files(sources, config);
	if (r == 0)
		read_files(sources, around->host);
	return r;
}

/* One look at all files; it owns its data. */
struct watch_job {
	struct offload_job job;
	struct look {
		char *file;                 /* NULL: it is not looked at */
		struct watched_stamp stamp; /* as it was known, then as it was found */
		struct trained_model model;
		int result; /* of watched_model_read() */
		struct diag why;
	} looks[CONFIG_MODELS_MAX];
};

static void job_free(struct watch_job *job)
{
	for (size_t i = 0; i < CONFIG_MODELS_MAX; i++) {
		free(job->looks[i].file);
		trained_model_release(&job->looks[i].model);
	}
	free(job);
}

static void job_drop(struct offload_job *job)
{
	job_free((struct watch_job *)job);
}

static void job_run(struct offload_job *base)
{
	struct watch_job *job = (struct watch_job *)base;

	for (size_t i = 0; i < CONFIG_MODELS_MAX; i++) {
		struct look *look = &job->looks[i];

		if (look->file)
			look->result = watched_model_read(look->file, &look->stamp, &look->model,
							  &look->why);
	}
}

/* NULL without memory. */
static struct watch_job *job_new(const struct model_sources *sources)
{
	struct watch_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->job.run = job_run;
	job->job.drop = job_drop;
	for (size_t i = 0; i < sources->file_count; i++) {
		struct look *look = &job->looks[i];

		if (sources->list[i].is_spare)
			continue;
		look->file = strdup(sources->list[i].file);
		if (!look->file) {
			job_free(job);
			return NULL;
		}
		look->stamp = sources->list[i].stamp;
		if (sources->is_due)
			look->stamp.size = UINT64_MAX; /* no file has that: all are read */
	}
	return job;
}

static void report_late(struct model_sources *sources, uint64_t now_ns)
{
	if (sources->is_late || now_ns < sources->began_ns + MODEL_WATCH_LIMIT_NS)
		return;
	sources->is_late = true;
	log_warn("the files of --model.file cannot be read in time; they may be on a hanging "
		 "mount. The models in use stay");
}

static void look_at_files(struct model_sources *sources, uint64_t now_ns)
{
	struct watch_job *job;

	if (!sources->began_ns)
		sources->began_ns = now_ns; /* the start has just read them */
	if (!sources->is_due && now_ns < sources->began_ns + MODEL_WATCH_NS)
		return;
	job = job_new(sources);
	if (!job)
		return;
	if (offload_submit(sources->pool, &job->job) < 0) {
		job_free(job); /* others are under way: the next interval looks again */
		return;
	}
	sources->job = job;
	sources->began_ns = now_ns;
	sources->is_due = false;
	sources->is_late = false;
}

static void take_look(struct model_sources *sources, struct model_source *source, struct look *look)
{
	char name[MODEL_NAME_MAX];

	source->stamp = look->stamp;
	if (look->result > 0) {
		memcpy(name, look->model.name, sizeof(name));
		if (!use(sources, source, &look->model, UINT32_MAX)) {
			sources->refused++;
			return;
		}
		sources->taken++;
		log_info("--model.file=%s has changed: using the model \"%.90s\" from now on",
			 source->file, name);
	} else if (look->result < 0 && look->why.text[0]) {
		refuse(source, &look->why);
		sources->refused++;
	}
}

bool model_sources_take(struct model_sources *sources, struct offload_job *base)
{
	struct watch_job *job = sources->job;

	if (!job || base != &job->job)
		return false;
	sources->job = NULL;
	for (size_t i = 0; i < sources->file_count; i++) {
		if (job->looks[i].file)
			take_look(sources, &sources->list[i], &job->looks[i]);
	}
	job_free(job);
	return true;
}

void model_sources_watch(struct model_sources *sources, struct offload *pool)
{
	if (sources->job)
		offload_abandon(sources->pool, &sources->job->job);
	sources->job = NULL;
	sources->pool = pool;
}

void model_sources_ask(struct model_sources *sources)
{
	sources->is_due = true;
}

/* ---- the URL ---- */

static void make_wish(const struct host_info *host, const struct zone_source *models,
		      struct model_wish *wish)
{
	const char *names[MODEL_FEATURES_MAX];
	size_t count = model_estimate_features(models, names), len = 0;

	*wish = (struct model_wish){
		.output = host->is_vm ? MODEL_DYN_POWER : MODEL_ABS_POWER,
	};
	model_choice_machine(host, &wish->machine);
	for (size_t i = 0; i < count && len < sizeof(wish->features); i++)
		len += (size_t)snprintf(wish->features + len, sizeof(wish->features) - len, "%s%s",
					len ? "," : "", names[i]);
}

static void take_fetched(struct model_sources *sources)
{
	struct trained_model model;

	if (!model_fetch_take(sources->fetch, &model))
		return;
	log_info("the model \"%.90s\" was fetched", model.name);
	(void)use(sources, &sources->list[sources->file_count], &model, UINT32_MAX);
}

void model_sources_fetch(struct model_sources *sources, const struct config *config,
			 const struct host_info *host)
{
	struct model_source *source = &sources->list[sources->file_count];
	struct model_fetch_options options = {
		.url = config->model_url,
		.ca_file = config->model_ca_file,
		.token_file = config->model_token_file,
		.public_key = config->model_public_key,
		.state_dir = config->host.state_dir,
		.refresh_ns = config->model_refresh_ns,
		.start_thread = privileges_drop_thread,
	};

	if (!sources->has_url)
		return;
	source->place = (struct model_place){ CONFIG_MODELS_MAX, "model.url", true };
	make_wish(host, sources->models, &options.wish);
	if (model_fetch_start(&options, &sources->fetch, &source->refused) < 0) {
		log_warn("no model is fetched: %s", source->refused.text);
		return;
	}
	model_fetch_await(sources->fetch, PATIENCE_NS);
	take_fetched(sources);
}

/* Each reason once: the log of a server that stays down has one line. */
static void report_fault(struct model_sources *sources)
{
	struct model_fetch_stats stats;
	const char *fault;

	model_fetch_get_stats(sources->fetch, &stats);
	fault = stats.last_error[0] ? stats.last_error : stats.cache_error;
	if (strcmp(fault, sources->reported) == 0)
		return;
	if (stats.last_error[0])
		log_warn("no newer model: %s; retrying. %s", fault,
			 stats.model[0] ? "The last good one stays" : "There is none yet");
	else if (stats.cache_error[0])
		log_warn("the fetched model is not cached: %s", fault);
	else
		log_info("model.url answers again");
	(void)snprintf(sources->reported, sizeof(sources->reported), "%s", fault);
}

/* ---- both ---- */

void model_sources_turn(struct model_sources *sources, uint64_t now_ns)
{
	if (sources->fetch) {
		take_fetched(sources);
		report_fault(sources);
	}
	if (sources->job)
		report_late(sources, now_ns);
	else if (sources->pool && sources->file_count)
		look_at_files(sources, now_ns);
}

const struct model_source *model_sources_url(const struct model_sources *sources,
					     struct model_fetch_stats *ret)
{
	*ret = (struct model_fetch_stats){ .age_s = (double)NAN };
	if (sources->fetch)
		model_fetch_get_stats(sources->fetch, ret);
	return sources->has_url ? &sources->list[sources->file_count] : NULL;
}

void model_sources_close(struct model_sources *sources)
{
	model_sources_watch(sources, NULL);
	model_fetch_stop(sources->fetch);
	for (size_t i = 0; i < sources->file_count; i++)
		free(sources->list[i].file);
	*sources = (struct model_sources){ 0 };
}
