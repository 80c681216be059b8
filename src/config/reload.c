// SPDX-License-Identifier: Apache-2.0
#include "config/reload.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/num.h"

struct reload_job {
	struct offload_job job;
	struct option_args args;
	struct config *config; /* the config read, or NULL */
	struct strbuf more;
	struct diag diag;
	int result;
};

static void job_free(struct reload_job *job)
{
	if (job->config)
		config_release(job->config);
	free(job->config);
	strbuf_release(&job->more);
	free(job);
}

static void job_drop(struct offload_job *job)
{
	job_free((struct reload_job *)job);
}

static int load(const struct option_args *args, struct config **ret, struct diag *diag)
{
	CLEANUP_FREE struct config *config = calloc(1, sizeof(*config));
	int r;

	if (!config)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = config_load(args, config, diag);
	if (r < 0)
		return r;
	if (*config->web.token_file)
		r = http_auth_open(config->web.token_file, &config->auth, diag);
	if (r == 0)
		r = web_options_open_security(&config->web, &config->web_security, diag);
	config->has_web_tls = config->web_security && config->web_security->tls;
	if (r < 0)
		config_release(config);
	else
		*ret = TAKE_PTR(config);
	return r;
}

static void job_run(struct offload_job *base)
{
	struct reload_job *job = (struct reload_job *)base;

	job->result = load(&job->args, &job->config, &job->diag);
}

static void tell_late(struct diag *diag, const char *what, uint64_t limit_ns)
{
	(void)diag_set(diag, -ETIMEDOUT,
		       "%s could not be read within %llu s; its file may be on a hanging mount",
		       what, (unsigned long long)(limit_ns / NSEC_PER_SEC));
}

static enum reload_outcome begin(struct reload *reload, uint64_t now_ns, struct diag *diag)
{
	struct reload_job *job = calloc(1, sizeof(*job));
	int r = job ? -EAGAIN : -ENOMEM;

	reload->again = false;
	if (job) {
		job->job.run = job_run;
		job->job.drop = job_drop;
		job->args = *reload->args;
		job->diag.more = &job->more;
		if (reload->pool)
			r = offload_submit(reload->pool, &job->job);
	}
	if (r < 0) {
		free(job);
		(void)diag_set(diag, r, "no thread to read the configuration with: %s",
			       strerrordesc_np(-r));
		return RELOAD_FAILED;
	}
	reload->job = job;
	reload->began_ns = now_ns;
	reload->given_up = false;
	return RELOAD_BEGUN;
}

enum reload_outcome reload_ask(struct reload *reload, uint64_t now_ns, struct diag *diag)
{
	if (!reload->job)
		return begin(reload, now_ns, diag);
	reload->again = true;
	reload->counts.merged++;
	return RELOAD_MERGED;
}

static void take_diag(const struct reload_job *job, struct diag *diag)
{
	struct strbuf *more = diag->more;

	*diag = job->diag;
	diag->more = more;
	if (more && job->more.data)
		strbuf_add_str(more, job->more.data);
}

enum reload_outcome reload_take(struct reload *reload, struct offload_job *base,
				struct config **ret_config, struct diag *diag)
{
	struct reload_job *job = reload->job;
	enum reload_outcome outcome;

	if (!job || base != &job->job)
		return RELOAD_NOTHING;
	reload->job = NULL;
	if (reload->given_up) {
		outcome = RELOAD_NOTHING;
	} else if (job->result < 0) {
		take_diag(job, diag);
		if (!diag->text[0])
			(void)diag_set(diag, job->result, "%s", strerrordesc_np(-job->result));
		outcome = RELOAD_FAILED;
	} else {
		*ret_config = TAKE_PTR(job->config);
		outcome = RELOAD_LOADED;
	}
	job_free(job);
	return outcome;
}

enum reload_outcome reload_turn(struct reload *reload, uint64_t now_ns, struct diag *diag)
{
	if (!reload->job)
		return reload->again ? begin(reload, now_ns, diag) : RELOAD_NOTHING;
	if (reload->given_up || now_ns < reload->began_ns + RELOAD_LIMIT_NS)
		return RELOAD_NOTHING;
	reload->given_up = true;
	tell_late(diag, "it", RELOAD_LIMIT_NS);
	return RELOAD_FAILED;
}

uint64_t reload_due_ns(const struct reload *reload)
{
	if (!reload->job)
		return reload->again ? 0 : UINT64_MAX;
	return reload->given_up ? UINT64_MAX : reload->began_ns + RELOAD_LIMIT_NS;
}

void reload_count(struct reload *reload, bool success)
{
	reload->counts.success += success;
	reload->counts.failure += !success;
	reload->counts.last_succeeded = success;
}

void reload_close(struct reload *reload)
{
	if (reload->job)
		offload_abandon(reload->pool, &reload->job->job);
	reload->job = NULL;
	reload->again = false;
}

static struct config *read_here(const struct option_args *args, struct diag *diag)
{
	struct config *config = NULL;

	(void)load(args, &config, diag);
	return config;
}

/* False: it hangs, and its thread with it. */
static bool read_in_time(struct offload *pool, const struct option_args *args, uint64_t limit_ns,
			 struct config **ret_config, struct diag *diag)
{
	struct reload first = { .pool = pool, .args = args };
	struct pollfd ready = { .fd = offload_fd(pool), .events = POLLIN };
	struct offload_job *job;

	if (reload_ask(&first, 0, diag) != RELOAD_BEGUN) {
		*ret_config = read_here(args, diag);
		return true;
	}
	(void)poll(&ready, 1, (int)(limit_ns / NSEC_PER_MSEC));
	job = offload_take(pool);
	if (job)
		(void)reload_take(&first, job, ret_config, diag);
	else
		reload_close(&first);
	return job;
}

struct config *reload_first(const struct option_args *args, uint64_t limit_ns, struct diag *diag)
{
	static const struct offload_options options = { .max_threads = 1 };
	struct config *config = NULL;
	struct offload *pool;
	bool answered;

	if (offload_new(&options, &pool) < 0)
		return read_here(args, diag);
	answered = read_in_time(pool, args, limit_ns, &config, diag);
	offload_free(pool, answered ? NSEC_PER_SEC : 0);
	if (!answered)
		tell_late(diag, "the configuration", limit_ns);
	return config;
}

static bool fill_health(const void *owner, void *ret)
{
	*(struct reload_health *)ret = ((const struct reload *)owner)->counts;
	return true;
}

static const struct health_variant results[] = {
	{ "success", HEALTH_VALUE(struct reload_health, success) },
	{ "failure", HEALTH_VALUE(struct reload_health, failure) },
	{ "merged", HEALTH_VALUE(struct reload_health, merged) },
	{ 0 },
};

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_config_reloads",
	  .type = FAMILY_COUNTER,
	  .help = "Requested reloads of the configuration. merged: requested while another was "
		  "under way, and answered by the one after it.",
	  .variant_label = "result",
	  .variants = results },
	{ .name = "kepler_exporter_config_last_reload_successful",
	  .type = FAMILY_GAUGE,
	  .help = "1 if the last reload succeeded, otherwise 0.",
	  .value = HEALTH_VALUE(struct reload_health, last_succeeded) },
};

const struct health_part reload_health_part = {
	.size = sizeof(struct reload_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
