// SPDX-License-Identifier: Apache-2.0
#include "engine/names.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "kube/pods/pod_addresses.h"
#include "service/privileges.h"

/*
 * Removed containers are kept for a while: there is room for as many again, and for pods'
 * sandboxes.
 */
#define DIRECTORY_FACTOR  4

#define CLOSE_PATIENCE_NS (2 * NSEC_PER_SEC)

int names_open(const struct config *config, struct names *ret, struct diag *diag)
{
	struct names names = { 0 };
	int r = directory_new(config->monitor.max_containers * DIRECTORY_FACTOR, &names.directory);

	if (r < 0)
		return diag_set(diag, r, "cannot set up the directory of containers: %s",
				strerrordesc_np(-r));
	*ret = names;
	return 0;
}

#define KUBE_TEXTS 6

/* Starts Kubernetes' thread; it owns all its data except the directory. */
struct kube_job {
	struct offload_job job;
	struct kube_options options; /* its texts are those below */
	char *texts[KUBE_TEXTS];
	struct directory *directory;
	struct kube *kube;
	int result;
	struct diag diag;
};

static void kube_job_free(struct kube_job *job)
{
	for (size_t i = 0; i < KUBE_TEXTS; i++)
		free(job->texts[i]);
	pod_addresses_unref(job->options.addresses);
	free(job);
}

/* Only at the end of the program: see names_close(). A thread that came late is left to it. */
static void kube_job_drop(struct offload_job *job)
{
	kube_job_free((struct kube_job *)job);
}

static void kube_job_run(struct offload_job *base)
{
	struct kube_job *job = (struct kube_job *)base;

	job->result = kube_start(&job->options, job->directory, &job->kube, &job->diag);
}

static uint64_t interval_ms(const struct config *config)
{
	return config->monitor.interval_ns / NSEC_PER_MSEC;
}

/* The job may outlive @config, and so has copies of its texts. */
static struct kube_job *kube_job_new(const struct config *config, struct directory *directory,
				     struct pod_addresses *addresses)
{
	struct kube_job *job = calloc(1, sizeof(*job));
	const char **texts[KUBE_TEXTS];

	if (!job)
		return NULL;
	job->job.run = kube_job_run;
	job->job.drop = kube_job_drop;
	job->directory = directory;
	job->options = config->kube;
	job->options.interval_ms = interval_ms(config);
	job->options.addresses = pod_addresses_ref(addresses);
	texts[0] = &job->options.kubeconfig;
	texts[1] = &job->options.context;
	texts[2] = &job->options.node_name;
	texts[3] = &job->options.kubelet_url;
	texts[4] = &job->options.kubelet_ca_file;
	texts[5] = &job->options.pod_labels;
	for (size_t i = 0; i < KUBE_TEXTS; i++) {
		job->texts[i] = strdup(*texts[i]);
		if (!job->texts[i]) {
			kube_job_free(job);
			return NULL;
		}
		*texts[i] = job->texts[i];
	}
	return job;
}

static void note_kube(struct names *names, int r, const char *why)
{
	names->kube_error[0] = '\0';
	if (r < 0)
		(void)snprintf(names->kube_error, sizeof(names->kube_error), "%.255s",
			       why && why[0] ? why : strerrordesc_np(-r));
}

static void begin_kubernetes(struct names *names)
{
	static const struct offload_options bare = { .max_threads = 1,
						     .start_thread = privileges_drop_thread };
	struct kube_job *job = NULL;
	int r = names->starter ? 0 : offload_new(&bare, &names->starter);

	if (r == 0) {
		job = kube_job_new(names->config, names->directory, names->addresses);
		r = job ? offload_submit(names->starter, &job->job) : -ENOMEM;
	}
	if (r == 0) {
		names->job = job;
		return;
	}
	if (job)
		kube_job_free(job);
	note_kube(names, r, NULL);
}

/* Takes over what the starter made, if it has ended. */
static void take_kubernetes(struct names *names)
{
	struct kube_job *job = names->job;

	if (!job || offload_take(names->starter) != &job->job)
		return;
	names->job = NULL;
	names->kube = job->kube;
	note_kube(names, job->result, job->diag.text);
	kube_job_free(job);
	if (!names->kube)
		return;
	kube_set_interval(names->kube, interval_ms(names->config));
	offload_free(names->starter, CLOSE_PATIENCE_NS); /* its thread is idle: no time passes */
	names->starter = NULL;
}

static void wait_for_kubernetes(struct names *names, uint64_t patience_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), end_ns = now_ns + patience_ns;

	while (names->job && now_ns < end_ns) { /* while there is a job there is a starter */
		struct pollfd ready = { .fd = offload_fd(names->starter), .events = POLLIN };

		(void)poll(&ready, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1);
		take_kubernetes(names);
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	if (names->job)
		note_kube(names, -ETIMEDOUT,
			  "its files cannot be read: the file system does not respond");
}

static void begin_runtimes(struct names *names)
{
	struct diag diag = { "" };

	names->runtimes_error[0] = '\0';
	if (runtimes_start(&names->config->runtimes, names->directory, &names->runtimes, &diag) < 0)
		(void)snprintf(names->runtimes_error, sizeof(names->runtimes_error), "%.255s",
			       diag.text);
}

static void begin_missing(struct names *names, uint64_t now_ns)
{
	names->tried_ns = now_ns;
	if (names->wants_kube && !names->kube && !names->job)
		begin_kubernetes(names);
	if (names->wants_runtimes && !names->runtimes)
		begin_runtimes(names);
}

void names_start(const struct config *config, struct names *names, uint64_t patience_ns)
{
	names->config = config;
	names->wants_kube = config_wants_kubernetes(config);
	names->wants_runtimes = config->runtimes_enabled;
	begin_missing(names, clock_ns(CLOCK_MONOTONIC));
	wait_for_kubernetes(names, patience_ns);
}

void names_reconfigure(struct names *names, const struct config *config)
{
	names->config = config;
	if (names->kube)
		kube_set_interval(names->kube, interval_ms(config));
}

static void tell_of_start(const char *what, const char *error, bool *told)
{
	if (error[0] && !*told)
		log_warn("%s: %s; retrying every %llu s", what, error,
			 NAMES_RETRY_NS / NSEC_PER_SEC);
	else if (!error[0] && *told)
		log_info("%s: recovered", what);
	*told = error[0] != '\0';
}

static void tell_of_answers(struct names *names)
{
	struct kube_stats kube;
	bool is_away;

	kube_get_stats(names->kube, &kube);
	is_away = !kube.reachable && kube.last_error[0]; /* else it has not been asked yet */
	if (is_away == names->is_away)
		return;
	names->is_away = is_away;
	if (is_away)
		log_warn("no names from Kubernetes: %s; retrying. New containers are shown by id "
			 "until it responds",
			 kube.last_error);
	else
		log_info("names come from Kubernetes again (%s)", kube.source);
}

void names_tell(struct names *names, uint64_t now_ns)
{
	take_kubernetes(names);
	if (now_ns - names->tried_ns >= NAMES_RETRY_NS)
		begin_missing(names, now_ns);
	tell_of_start("names from Kubernetes", names->kube_error, &names->told_kube);
	tell_of_start("names from container runtimes", names->runtimes_error,
		      &names->told_runtimes);
	if (names->kube)
		tell_of_answers(names);
}

static struct name_source_health *add_source(struct names_health *health)
{
	return &health->sources[health->source_count++];
}

static void describe_kubernetes(const struct names *names, const struct directory_stats *stats,
				struct name_source_health *ret)
{
	struct kube_stats kube = { .source = "", .age_s = (double)NAN };

	if (names->kube)
		kube_get_stats(names->kube, &kube);
	*ret = (struct name_source_health){
		.source = "kubernetes",
		.is_up = kube.reachable,
		.requests = kube.requests,
		.failures = kube.failures,
		.bad = kube.bad_pods,
		.labels_lost = kube.labels_lost,
		.containers = stats->containers[DIRECTORY_KUBERNETES],
		.age_s = kube.age_s,
	};
	(void)snprintf(ret->via, sizeof(ret->via), "%s", kube.source);
}

/* No runtime on this host and no socket configured: nothing is reported, rather than "down". */
static void describe_runtimes(const struct names *names, const struct directory_stats *stats,
			      struct names_health *health)
{
	struct runtimes_stats runtimes = { 0 };
	struct name_source_health *ret;

	if (names->runtimes)
		runtimes_get_stats(names->runtimes, &runtimes);
	if (!runtimes.present[0] && !runtimes.sockets_down && !names->runtimes_error[0])
		return;
	ret = add_source(health);
	*ret = (struct name_source_health){
		.source = "runtimes",
		.is_up = stats->reachable[DIRECTORY_RUNTIME] && !runtimes.sockets_down,
		.requests = runtimes.scans,
		.failures = runtimes.failures,
		.bad = runtimes.bad,
		.containers = stats->containers[DIRECTORY_RUNTIME],
		.age_s = (double)NAN, /* state files have no last answer */
	};
	(void)snprintf(ret->via, sizeof(ret->via), "%.63s", runtimes.present);
}

static bool fill_health(const void *owner, void *ret)
{
	const struct names *names = owner;
	struct names_health *health = ret;
	struct directory_stats stats;

	directory_get_stats(names->directory, &stats);
	if (names->wants_kube)
		describe_kubernetes(names, &stats, add_source(health));
	if (names->wants_runtimes)
		describe_runtimes(names, &stats, health);
	health->found = stats.found;
	health->unknown = stats.not_found;
	health->refused = stats.refused;
	return health->source_count > 0;
}

#define SOURCES HEALTH_ARRAY(struct names_health, sources, source_count)

static const struct health_label source_labels[] = {
	{ "source", offsetof(struct name_source_health, source) },
	{ 0 },
};
static const struct health_label source_and_via_labels[] = {
	{ "source", offsetof(struct name_source_health, source) },
	{ "via", offsetof(struct name_source_health, via) },
	{ 0 },
};
static const struct health_variant lookups[] = {
	{ "found", HEALTH_VALUE(struct names_health, found) },
	{ "unknown", HEALTH_VALUE(struct names_health, unknown) },
	{ "refused", HEALTH_VALUE(struct names_health, refused) },
	{ 0 },
};

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_name_source_up",
	  .type = FAMILY_GAUGE,
	  .help = "1 if this source of container names responds, otherwise 0.",
	  .value = HEALTH_VALUE(struct name_source_health, is_up),
	  .labels = source_and_via_labels,
	  .array = SOURCES },
	{ .name = "kepler_exporter_name_source_age_seconds",
	  .type = FAMILY_GAUGE,
	  .unit = "seconds",
	  .help = "Time since the last response of the source.",
	  .value = HEALTH_VALUE(struct name_source_health, age_s),
	  .labels = source_labels,
	  .array = SOURCES },
	{ .name = "kepler_exporter_name_source_containers",
	  .type = FAMILY_GAUGE,
	  .help = "Existing containers that the source has named.",
	  .value = HEALTH_VALUE(struct name_source_health, containers),
	  .labels = source_labels,
	  .array = SOURCES },
	{ .name = "kepler_exporter_name_source_requests",
	  .type = FAMILY_COUNTER,
	  .help = "Requests to the source, or scans of its files.",
	  .value = HEALTH_VALUE(struct name_source_health, requests),
	  .labels = source_labels,
	  .array = SOURCES },
	{ .name = "kepler_exporter_name_source_failures",
	  .type = FAMILY_COUNTER,
	  .help = "Requests to the source that failed.",
	  .value = HEALTH_VALUE(struct name_source_health, failures),
	  .labels = source_labels,
	  .array = SOURCES },
	{ .name = "kepler_exporter_name_source_bad",
	  .type = FAMILY_COUNTER,
	  .help = "Pods or containers skipped because the source's description was invalid.",
	  .value = HEALTH_VALUE(struct name_source_health, bad),
	  .labels = source_labels,
	  .array = SOURCES },
	{ .name = "kepler_exporter_name_source_labels_lost",
	  .type = FAMILY_COUNTER,
	  .help = "Labels and annotations (--kube.pod-labels) that were cut to 127 bytes, or left "
		  "out because those of one pod exceed 1,023 bytes.",
	  .value = HEALTH_VALUE(struct name_source_health, labels_lost),
	  .labels = source_labels,
	  .array = SOURCES },
	{ .name = "kepler_exporter_name_lookups",
	  .type = FAMILY_COUNTER,
	  .help = "Containers looked up by id: found, unknown so far, or refused because the "
		  "directory is full.",
	  .variant_label = "result",
	  .variants = lookups },
};

const struct health_part names_health_part = {
	.size = sizeof(struct names_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};

/* Ends the threads that read files, which may hang: a token, a runtime's state. */
struct stop_job {
	struct offload_job job;
	struct kube *kube;
	struct runtimes *runtimes;
};

static void stop_job_run(struct offload_job *base)
{
	struct stop_job *job = (struct stop_job *)base;

	kube_stop(job->kube);
	runtimes_stop(job->runtimes);
}

static void stop_job_drop(struct offload_job *job)
{
	free(job);
}

/* False: one of them hangs, and keeps its data until the process ends. */
static bool stop_in_time(struct offload *pool, struct stop_job *job)
{
	struct pollfd ready = { .fd = offload_fd(pool), .events = POLLIN };
	bool ended;

	if (offload_submit(pool, &job->job) < 0) {
		stop_job_run(&job->job);
		free(job);
		return true;
	}
	(void)poll(&ready, 1, (int)(CLOSE_PATIENCE_NS / NSEC_PER_MSEC));
	ended = offload_take(pool) == &job->job;
	if (ended)
		free(job);
	else
		offload_abandon(pool, &job->job);
	return ended;
}

static bool stop_threads(struct names *names)
{
	static const struct offload_options options = { .max_threads = 1 };
	struct stop_job *job = calloc(1, sizeof(*job));
	struct offload *pool;
	bool stopped;

	if (!job || offload_new(&options, &pool) < 0) {
		free(job);
		kube_stop(names->kube);
		runtimes_stop(names->runtimes);
		return true;
	}
	*job = (struct stop_job){ { .run = stop_job_run, .drop = stop_job_drop },
				  names->kube,
				  names->runtimes };
	stopped = stop_in_time(pool, job);
	offload_free(pool, stopped ? CLOSE_PATIENCE_NS : 0);
	return stopped;
}

void names_close(struct names *names)
{
	bool hangs;

	wait_for_kubernetes(names, CLOSE_PATIENCE_NS);
	hangs = names->job; /* it may yet use the directory, which then ends with the process */
	if (names->job)
		offload_abandon(names->starter, &names->job->job);
	offload_free(names->starter, hangs ? 0 : CLOSE_PATIENCE_NS);
	if ((names->kube || names->runtimes) && !stop_threads(names))
		hangs = true;
	if (!hangs)
		directory_free(names->directory);
	*names = (struct names){ 0 };
}
