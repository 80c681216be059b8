// SPDX-License-Identifier: Apache-2.0
#include "config/web_watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

struct web_watch_job {
	struct offload_job job;
	struct web_values values; /* copies of the two that are used, all else empty */
	struct web_files files;
	bool wants_reading; /* even if nothing has changed since the last look */
	bool changed, read;
	struct web_security *security; /* what was read, or NULL */
	struct diag diag;
};

static void job_free(struct web_watch_job *job)
{
	free(job->values.config_file);
	free(job->values.certificate);
	web_files_release(&job->files);
	web_security_unref(job->security);
	free(job);
}

static void job_drop(struct offload_job *base)
{
	job_free((struct web_watch_job *)base);
}

static void job_run(struct offload_job *base)
{
	struct web_watch_job *job = (struct web_watch_job *)base;

	job->changed = web_files_look(&job->files);
	job->read = !job->changed && job->wants_reading;
	if (job->read)
		(void)web_options_open_security(&job->values, &job->security, &job->diag);
}

void web_watch_follow(struct web_watch *watch, const struct web_security *security)
{
	web_files_release(&watch->files);
	/* Without memory it is not watched; SIGHUP still has it read. */
	if (security)
		(void)web_files_copy(&security->files, &watch->files);
	watch->settles = watch->failed = false;
	watch->told.text[0] = '\0';
}

/* Without memory the next look is the first that is made. */
void web_watch_turn(struct web_watch *watch, const struct config *config, uint64_t now_ns)
{
	struct web_watch_job *job;

	if (!watch->pool || !watch->files.count || watch->job ||
	    now_ns - watch->looked_ns < WEB_WATCH_EVERY_NS)
		return;
	watch->looked_ns = now_ns;
	job = calloc(1, sizeof(*job));
	if (!job)
		return;
	job->job.run = job_run;
	job->job.drop = job_drop;
	job->values.config_file = strdup(config->web.config_file);
	job->values.certificate = strdup(config->web.certificate);
	job->wants_reading = watch->settles || watch->failed;
	if (!job->values.config_file || !job->values.certificate ||
	    web_files_copy(&watch->files, &job->files) < 0 ||
	    offload_submit(watch->pool, &job->job) < 0)
		job_free(job);
	else
		watch->job = job;
}

static enum web_watch_outcome take_failure(struct web_watch *watch, const struct web_watch_job *job,
					   struct diag *diag)
{
	bool is_new = !watch->failed || strcmp(watch->told.text, job->diag.text) != 0;

	watch->failed = true;
	watch->told = job->diag;
	if (!is_new)
		return WEB_WATCH_NOTHING;
	*diag = job->diag;
	return WEB_WATCH_FAILED;
}

enum web_watch_outcome web_watch_take(struct web_watch *watch, struct offload_job *base,
				      bool *ret_mine, struct web_security **ret_security,
				      struct diag *diag)
{
	struct web_watch_job *job = watch->job;
	enum web_watch_outcome outcome = WEB_WATCH_NOTHING;

	*ret_mine = job && base == &job->job;
	if (!*ret_mine)
		return WEB_WATCH_NOTHING;
	watch->job = NULL;
	web_files_release(&watch->files);
	watch->files = job->files;
	job->files.count = 0;
	watch->settles = job->changed;
	if (job->security) {
		*ret_security = TAKE_PTR(job->security);
		outcome = WEB_WATCH_LOADED;
	} else if (job->read) {
		outcome = take_failure(watch, job, diag);
	}
	job_free(job);
	return outcome;
}

void web_watch_close(struct web_watch *watch)
{
	if (watch->job)
		offload_abandon(watch->pool, &watch->job->job);
	watch->job = NULL;
	web_files_release(&watch->files);
}
