// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_health.h"

#include "base/macro.h"
#include "estimate/model_sources.h"

static bool fill_files(const void *owner, void *ret)
{
	const struct model_sources *sources = owner;
	bool all_good = true;

	for (size_t i = 0; i < sources->file_count; i++)
		all_good &= !sources->list[i].is_bad;
	*(struct model_files_health *)ret = (struct model_files_health){
		.is_up = all_good && !sources->is_late,
		.taken = sources->taken,
		.refused = sources->refused,
	};
	return sources->file_count > 0;
}

static bool fill_url(const void *owner, void *ret)
{
	struct model_fetch_stats stats;
	const struct model_source *url = model_sources_url(owner, &stats);

	*(struct model_url_health *)ret = (struct model_url_health){
		.is_up = stats.up,
		.is_newer = url && url->refused.text[0] != '\0',
		.requests = stats.requests,
		.failures = stats.failures,
		.refused = stats.refused,
		.age_s = stats.age_s,
	};
	return url;
}

static const struct health_metric files_metrics[] = {
	{ .name = "kepler_exporter_model_files_up",
	  .type = FAMILY_GAUGE,
	  .help = "1 if each file of --model.file is usable as it is on disk now, otherwise 0.",
	  .value = HEALTH_VALUE(struct model_files_health, is_up) },
	{ .name = "kepler_exporter_model_files_changes",
	  .type = FAMILY_COUNTER,
	  .help = "Files of --model.file that changed while Kepler ran and were loaded again.",
	  .value = HEALTH_VALUE(struct model_files_health, taken) },
	{ .name = "kepler_exporter_model_files_refused",
	  .type = FAMILY_COUNTER,
	  .help = "Files of --model.file that changed while Kepler ran and were refused. The "
		  "previous model stays in use; the log and `kepler doctor` show the reason.",
	  .value = HEALTH_VALUE(struct model_files_health, refused) },
};

const struct health_part model_files_health_part = {
	.size = sizeof(struct model_files_health),
	.fill = fill_files,
	.metrics = files_metrics,
	.metric_count = ARRAY_SIZE(files_metrics),
};

static const struct health_metric url_metrics[] = {
	{ .name = "kepler_exporter_model_fetch_up",
	  .type = FAMILY_GAUGE,
	  .help = "1 if the last response of --model.url was a usable model or \"not modified\", "
		  "otherwise 0.",
	  .value = HEALTH_VALUE(struct model_url_health, is_up) },
	{ .name = "kepler_exporter_model_fetch_age_seconds",
	  .type = FAMILY_GAUGE,
	  .unit = "seconds",
	  .help = "Time since the last such response; absent before the first.",
	  .value = HEALTH_VALUE(struct model_url_health, age_s) },
	{ .name = "kepler_exporter_model_fetch_newer",
	  .type = FAMILY_GAUGE,
	  .help = "1 if the most recently fetched model is not in use because it does not fit "
		  "this machine, otherwise 0.",
	  .value = HEALTH_VALUE(struct model_url_health, is_newer) },
	{ .name = "kepler_exporter_model_fetch_requests",
	  .type = FAMILY_COUNTER,
	  .help = "Requests that reached the host of --model.url.",
	  .value = HEALTH_VALUE(struct model_url_health, requests) },
	{ .name = "kepler_exporter_model_fetch_failures",
	  .type = FAMILY_COUNTER,
	  .help = "Times that no usable model could be fetched from there, including refused "
		  "models.",
	  .value = HEALTH_VALUE(struct model_url_health, failures) },
	{ .name = "kepler_exporter_model_fetch_refused",
	  .type = FAMILY_COUNTER,
	  .help = "Models from there that were refused because of their checksum, signature, "
		  "syntax or predictions.",
	  .value = HEALTH_VALUE(struct model_url_health, refused) },
};

const struct health_part model_url_health_part = {
	.size = sizeof(struct model_url_health),
	.fill = fill_url,
	.metrics = url_metrics,
	.metric_count = ARRAY_SIZE(url_metrics),
};
