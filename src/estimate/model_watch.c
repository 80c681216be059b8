// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "estimate/model_choice.h"

/* One look at all files; it owns all its data. */
struct watch_job {
	struct offload_job job;
	size_t count;
	struct look {
		char *path;               /* NULL: it is not looked at */
		struct model_stamp stamp; /* known before, then what was found */
		struct trained_model model;
		int result; /* of model_files_read() */
		struct diag diag;
	} looks[CONFIG_MODELS_MAX];
};

static void job_free(struct watch_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		free(job->looks[i].path);
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

	for (size_t i = 0; i < job->count; i++) {
		struct look *look = &job->looks[i];

		if (look->path)
			look->result = model_files_read(look->path, &look->stamp, &look->model,
							&look->diag);
	}
}

/* @again: also what seems unchanged is read. NULL without memory. */
static struct watch_job *job_new(const struct model_files *files, bool again)
{
	struct watch_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->job.run = job_run;
	job->job.drop = job_drop;
	for (; job->count < files->count; job->count++) {
		struct look *look = &job->looks[job->count];

		if (files->is_spare[job->count])
			continue;
		look->path = strdup(files->paths[job->count]);
		if (!look->path) {
			job_free(job);
			return NULL;
		}
		look->stamp = files->stamps[job->count];
		if (again)
			look->stamp.size = UINT64_MAX; /* no file has that */
	}
	return job;
}

void model_watch_init(struct model_watch *watch, struct offload *pool, struct zone_source *models,
		      struct model_files *files)
{
	*watch = (struct model_watch){ .pool = pool, .models = models, .files = files };
}

void model_watch_ask(struct model_watch *watch)
{
	watch->is_due = true;
}

static void tell_late(struct model_watch *watch, uint64_t now_ns)
{
	if (watch->is_late || now_ns < watch->began_ns + MODEL_WATCH_LIMIT_NS)
		return;
	watch->is_late = true;
	log_warn("the files of --model.file cannot be read in time; they may be on a hanging "
		 "mount. The models in use stay");
}

void model_watch_turn(struct model_watch *watch, uint64_t now_ns)
{
	struct watch_job *job;

	if (!watch->models || !watch->pool || !watch->files->count)
		return;
	if (watch->job) {
		tell_late(watch, now_ns);
		return;
	}
	if (!watch->began_ns)
		watch->began_ns = now_ns; /* the start has just read them */
	if (!watch->is_due && now_ns < watch->began_ns + MODEL_WATCH_NS)
		return;
	job = job_new(watch->files, watch->is_due);
	if (!job)
		return;
	if (offload_submit(watch->pool, &job->job) < 0) {
		job_free(job); /* others are under way: the next interval looks again */
		return;
	}
	watch->job = job;
	watch->began_ns = now_ns;
	watch->is_due = false;
	watch->is_late = false;
}

static void refuse(struct model_watch *watch, const struct look *look)
{
	struct diag *refused = &watch->files->refused;

	*refused = look->diag;
	watch->refused++;
	log_warn("the changed --model.file=%s is not used: %s. The previous model, if any, stays "
		 "in use",
		 look->path, refused->text);
}

static void use(struct model_watch *watch, size_t index, struct look *look)
{
	struct model_place place;
	char name[MODEL_NAME_MAX];

	model_files_place(watch->files, index, &place);
	memcpy(name, look->model.name, sizeof(name));
	if (model_estimate_replace(watch->models, &place, &look->model, &look->diag) < 0) {
		refuse(watch, look);
		return;
	}
	look->diag.text[0] = '\0';
	model_choice_log(watch->models, place.path);
	watch->taken++;
	watch->files->refused.text[0] = '\0';
	log_info("--model.file=%s has changed: using the model \"%.90s\" from now on", look->path,
		 name);
}

bool model_watch_take(struct model_watch *watch, struct offload_job *base)
{
	struct watch_job *job = watch->job;

	if (!job || base != &job->job)
		return false;
	watch->job = NULL;
	for (size_t i = 0; i < job->count; i++) {
		struct look *look = &job->looks[i];

		if (!look->path)
			continue;
		watch->files->stamps[i] = look->stamp;
		if (look->result < 0)
			watch->files->is_bad[i] = true;
		if (look->result > 0) {
			use(watch, i, look);
			watch->files->is_bad[i] = look->diag.text[0];
		} else if (look->result < 0 && look->diag.text[0]) {
			refuse(watch, look);
		}
	}
	job_free(job);
	return true;
}

void model_watch_describe(const struct model_watch *watch, struct snapshot_self *self)
{
	bool all_good = true;

	if (!watch->files || !watch->files->count)
		return;
	for (size_t i = 0; i < watch->files->count; i++)
		all_good &= !watch->files->is_bad[i];
	self->model_files = (struct snapshot_model_files){
		.is_wanted = true,
		.up = all_good && !watch->is_late,
		.taken = watch->taken,
		.refused = watch->refused,
	};
}

void model_watch_close(struct model_watch *watch)
{
	if (watch->job)
		offload_abandon(watch->pool, &watch->job->job);
	watch->job = NULL;
	watch->pool = NULL;
}
