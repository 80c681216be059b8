// SPDX-License-Identifier: Apache-2.0
#include "kepler/reload.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/num.h"

struct reload_job {
	struct offload_job job;
	struct config_args args;
	struct config *config; /* what was read, or NULL */
	struct diag diag;
	int result;
};

static void job_free(struct reload_job *job)
{
	if (job->config)
		config_release(job->config);
	free(job->config);
	free(job);
}

static void job_drop(struct offload_job *job)
{
	job_free((struct reload_job *)job);
}

static void job_run(struct offload_job *base)
{
	struct reload_job *job = (struct reload_job *)base;
	CLEANUP_FREE struct config *config = calloc(1, sizeof(*config));

	if (!config) {
		job->result = diag_set(&job->diag, -ENOMEM, "out of memory");
		return;
	}
	job->result = config_load(&job->args, config, &job->diag);
	if (job->result == 0)
		job->config = TAKE_PTR(config);
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
	return RELOAD_MERGED;
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
		*diag = job->diag;
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
	(void)diag_set(diag, -ETIMEDOUT,
		       "it could not be read within %llu s; its file may lie on a mount that hangs",
		       RELOAD_LIMIT_NS / NSEC_PER_SEC);
	return RELOAD_FAILED;
}

uint64_t reload_due_ns(const struct reload *reload)
{
	if (!reload->job)
		return reload->again ? 0 : UINT64_MAX;
	return reload->given_up ? UINT64_MAX : reload->began_ns + RELOAD_LIMIT_NS;
}

void reload_close(struct reload *reload)
{
	if (reload->job)
		offload_abandon(reload->pool, &reload->job->job);
	reload->job = NULL;
	reload->again = false;
}
