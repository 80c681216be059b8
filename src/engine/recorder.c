// SPDX-License-Identifier: Apache-2.0
#include "engine/recorder.h"

#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "service/privileges.h"

static int open_store(struct recorder *recorder, const struct config *config, uint32_t cpus,
		      const struct record_store_options *options, struct diag *diag)
{
	int r = record_store_open(options, &recorder->store, diag);

	if (r < 0)
		return r;
	recorder->is_ring = options->dir != NULL;
	r = record_tap_init(&recorder->tap, recorder->store, config, config->record.anonymize,
			    recorder->is_ring);
	recorder->tap.cpus = cpus;
	if (r < 0) {
		(void)record_store_close(TAKE_PTR(recorder->store), NSEC_PER_SEC, NULL);
		return diag_set(diag, r, "no random key: %s", strerrordesc_np(-r));
	}
	return 0;
}

int recorder_open_ring(struct recorder *recorder, const struct config *config, uint32_t cpus,
		       struct diag *diag)
{
	const struct record_store_options options = {
		.dir = config->record.dir,
		.keep_ms = config->record.keep_ns / NSEC_PER_MSEC,
		.max_bytes = config->record.max_bytes,
		.start_thread = privileges_drop_thread,
	};

	return config->record.dir[0] ? open_store(recorder, config, cpus, &options, diag) : 0;
}

int recorder_open_file(struct recorder *recorder, const struct config *config, uint32_t cpus,
		       const char *path, int fd, uint64_t max_bytes, struct diag *diag)
{
	const struct record_store_options options = {
		.file = path,
		.fd = fd,
		.max_bytes = max_bytes,
		.start_thread = privileges_drop_thread,
	};

	return open_store(recorder, config, cpus, &options, diag);
}

struct record_tap *recorder_tap(struct recorder *recorder)
{
	return recorder->store ? &recorder->tap : NULL;
}

void recorder_report(struct recorder *recorder)
{
	struct record_store_stats now;

	if (!recorder->store)
		return;
	record_store_get_stats(recorder->store, &now);
	if (now.lost > recorder->last.lost && !recorder->is_losing)
		log_warn("intervals are not recorded: %s; retrying",
			 now.errors > recorder->last.errors ? now.error : "the disk is too slow");
	if (now.lost == recorder->last.lost && recorder->is_losing)
		log_info("intervals are recorded again; %llu are missing",
			 (unsigned long long)now.lost);
	recorder->is_losing = now.lost > recorder->last.lost;
	recorder->last = now;
}

int recorder_close(struct recorder *recorder, uint64_t patience_ns)
{
	int r = record_store_close(recorder->store, patience_ns, &recorder->last);

	if (recorder->store)
		record_tap_release(&recorder->tap);
	recorder->store = NULL;
	return r;
}

/* Values of the last report. */
static bool fill_health(const void *owner, void *ret)
{
	const struct recorder *recorder = owner;
	const struct record_store_stats *last = &recorder->last;

	*(struct recorder_health *)ret =
		(struct recorder_health){ last->intervals, last->lost, last->errors, last->bytes };
	return recorder->store;
}

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_recorded_intervals",
	  .type = FAMILY_COUNTER,
	  .help = "Intervals that were recorded (--record.dir) or are waiting to be written.",
	  .value = HEALTH_VALUE(struct recorder_health, intervals) },
	{ .name = "kepler_exporter_recording_lost_intervals",
	  .type = FAMILY_COUNTER,
	  .help = "Intervals missing from recordings because the disk was full or too slow.",
	  .value = HEALTH_VALUE(struct recorder_health, lost) },
	{ .name = "kepler_exporter_recording_errors",
	  .type = FAMILY_COUNTER,
	  .help = "Times that a recording could not be written, or an old one could not be "
		  "removed.",
	  .value = HEALTH_VALUE(struct recorder_health, errors) },
	{ .name = "kepler_exporter_recording_bytes",
	  .type = FAMILY_GAUGE,
	  .unit = "bytes",
	  .help = "Size of all recordings in --record.dir.",
	  .value = HEALTH_VALUE(struct recorder_health, bytes) },
};

const struct health_part recorder_health_part = {
	.size = sizeof(struct recorder_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
