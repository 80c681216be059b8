// SPDX-License-Identifier: Apache-2.0
#include "trainers/online_models.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/text/ascii.h"
#include "model/feature.h"
#include "modelling/sample_file.h"
#include "options/version.h"
#include "repository/publication.h"
#include "training/forms/candidate.h"

#define TRAINER "OnlineTrainer" /* a model's name in the repository, so that the next replaces it */

/* ---- files ---- */

static void name_of(const struct machine_spec *machine, char ret[MODEL_NAME_MAX])
{
	(void)snprintf(ret, MODEL_NAME_MAX, "%.48s_%u_%u_%u_%u",
		       machine->processor[0] ? machine->processor : "machine", machine->cores,
		       machine->chips, machine->memory_gb, machine->frequency_mhz);
	for (; *ret; ret++)
		*ret = (char)(ascii_is_alnum(*ret) ? *ret : '_');
}

void online_models_path(const struct online_models *models, const struct learner *learner,
			const char *end, char ret[ONLINE_PATH_MAX])
{
	(void)snprintf(ret, ONLINE_PATH_MAX, "%.800s/%s%s", models->config->state_dir,
		       learner->name, end);
}

static int begin_anew(struct online_models *models, struct learner *learner,
		      const struct machine_spec *machine)
{
	char name[MODEL_NAME_MAX];

	learner_release(learner);
	name_of(machine, name);
	learner_init(learner, name, machine, feature_group_find(models->config->group)->features);
	return 0;
}

static void put_aside(const struct online_models *models, const struct learner *learner,
		      const char *path, const char *why)
{
	char refused[ONLINE_PATH_MAX];

	online_models_path(models, learner, ".refused", refused);
	(void)rename(path, refused); /* a failure here is overwritten later */
	log_error("%s; it is moved to %s, and learning starts again", why, refused);
}

static int load_state(struct online_models *models, struct learner *learner,
		      const struct machine_spec *machine, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	char path[ONLINE_PATH_MAX];
	struct diag why = { "" };
	size_t len = 0;
	int r;

	online_models_path(models, learner, ".state", path);
	r = read_file_alloc(path, LEARNER_STATE_MAX, &text, &len);
	if (r == -ENOENT)
		return 0;
	if (r < 0 && r != -EFBIG)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	if (r == -EFBIG)
		(void)diag_set(&why, r, "%s: larger than any state", path);
	else
		r = learner_load(learner, path, text, len, &why);
	if (r == -ENOMEM)
		return diag_set(diag, r, "out of memory");
	if (r < 0) {
		put_aside(models, learner, path, why.text);
		return begin_anew(models, learner, machine);
	}
	return 0;
}

static void load_current(const struct online_models *models, struct learner *learner)
{
	char path[ONLINE_PATH_MAX];
	struct diag diag = { "" };
	double errors[LEARNER_BLOCKS];
	int r;

	online_models_path(models, learner, ".model.json", path);
	r = model_file_load(path, &learner->current, &diag);
	if (r == 0 && learner->components)
		r = learner_judge(learner, &learner->current, errors, &diag);
	learner->has_current = r == 0;
	if (r < 0 && r != -ENOENT)
		log_error("%s: there is no model in use until one is trained", diag.text);
}

int online_models_load(struct online_models *models, const struct online_nodes *nodes,
		       struct diag *diag)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nodes->count; i++) {
		struct learner *learner;

		if (online_models_find(models, &nodes->machines[i]))
			continue;
		learner = calloc(1, sizeof(*learner));
		if (!learner)
			return diag_set(diag, -ENOMEM, "out of memory");
		models->learners[models->count++] = learner;
		(void)begin_anew(models, learner, &nodes->machines[i]);
		r = load_state(models, learner, &nodes->machines[i], diag);
		if (r == 0)
			load_current(models, learner);
	}
	return r;
}

void online_models_release(struct online_models *models)
{
	for (size_t i = 0; i < models->count; i++) {
		learner_release(models->learners[i]);
		free(models->learners[i]);
	}
	models->count = 0;
}

struct learner *online_models_find(const struct online_models *models,
				   const struct machine_spec *machine)
{
	char name[MODEL_NAME_MAX];

	name_of(machine, name);
	for (size_t i = 0; i < models->count; i++) {
		if (strcmp(models->learners[i]->name, name) == 0)
			return models->learners[i];
	}
	return NULL;
}

int online_models_save(const struct online_models *models, const struct learner *learner,
		       struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	char path[ONLINE_PATH_MAX];
	int r = learner_save(learner, &text);

	online_models_path(models, learner, ".state", path);
	if (r == 0)
		r = write_file_atomic(path, text.data, text.len, 0600);
	return r < 0 ? diag_set(diag, r, "%s: cannot be written: %s", path, strerrordesc_np(-r))
		     : 0;
}

/* ---- a decision ---- */

/* A model that was trained, with its errors on the held-out blocks. */
struct offer {
	struct trained_model model;
	double errors[LEARNER_BLOCKS];
};

static void describe(const struct online_models *models, const struct learner *learner,
		     struct trained_model *model)
{
	struct model_origin *origin = &model->origin;
	time_t now = time(NULL);
	struct tm date;

	(void)snprintf(origin->data, sizeof(origin->data), "%.40s, %llu rows, online",
		       origin->trainer, (unsigned long long)learner->learned);
	(void)snprintf(origin->trainer, sizeof(origin->trainer), TRAINER);
	(void)snprintf(origin->tool, sizeof(origin->tool), "kepler-model %s", KEPLER_VERSION);
	if (gmtime_r(&now, &date))
		(void)strftime(origin->trained_at, sizeof(origin->trained_at), "%Y-%m-%dT%H:%M:%SZ",
			       &date);
	model->output = MODEL_ABS_POWER;
	model->machine = learner->machine;
	(void)snprintf(model->source, sizeof(model->source), "%s", models->config->source);
	(void)snprintf(model->feature_group, sizeof(model->feature_group), "%s",
		       models->config->group);
}

/* Returns true if @offer should replace the model in use; *why has the reason. */
static bool is_wanted(struct learner *learner, const struct offer *offer, struct diag *why)
{
	double current[LEARNER_BLOCKS] = { 0 };
	struct candidate_verdict verdict;

	if (publication_judge(&offer->model, why) < 0)
		return false;
	if (learner->has_current && learner_judge(learner, &learner->current, current, why) < 0)
		learner->has_current = false;
	candidate_judge(current, offer->errors, learner->held_count, &verdict);
	if (!learner->has_current) {
		(void)diag_set(why, 0, "it is the first one, off by %.3f W", verdict.candidate_w);
		return true;
	}
	(void)diag_set(
		why, 0,
		"on %zu blocks it is off by %.3f W, the model in use by %.3f W; a gain counts "
		"above %.3f W",
		learner->held_count, verdict.candidate_w, verdict.current_w, verdict.uncertainty_w);
	return verdict.is_better;
}

static int publish(struct online_models *models, struct learner *learner, struct offer *offer,
		   struct diag *diag)
{
	const struct publication publication = { models->root, models->config->pipeline, "" };
	char path[ONLINE_PATH_MAX], previous[ONLINE_PATH_MAX];
	char written[PUBLICATION_NAME_MAX * 4];
	int r = publication_add(&publication, &offer->model, written, diag);

	if (r < 0)
		return r;
	online_models_path(models, learner, ".model.json", path);
	online_models_path(models, learner, ".previous.json", previous);
	(void)rename(path, previous); /* the first model has none before it */
	r = model_file_save(path, &offer->model, diag);
	trained_model_release(&learner->current);
	learner->current = offer->model;
	learner->has_current = true;
	offer->model = (struct trained_model){ .node_type = -1 };
	drift_init(&learner->drift);
	log_info("%s: published as %s", learner->name, written);
	return r;
}

static void decide_on(struct online_models *models, struct learner *learner, struct offer *offer)
{
	struct diag why = { "" };
	char trainer[MODEL_NAME_MAX];
	int r;

	(void)snprintf(trainer, sizeof(trainer), "%s", offer->model.origin.trainer);
	describe(models, learner, &offer->model);
	r = learner_state_error(learner, &offer->model, &why);
	if (r == 0 && !is_wanted(learner, offer, &why)) {
		models->kept++;
		log_info("%s: a model of %s is not better, and left out: %s", learner->name,
			 trainer, why.text);
		return;
	}
	if (r == 0) {
		log_info("%s: a model of %s replaces the one in use: %s", learner->name, trainer,
			 why.text);
		r = publish(models, learner, offer, &why);
	}
	models->published += r == 0;
	models->failed += r < 0;
	if (r < 0)
		log_error("%s: a model cannot be published: %s", learner->name, why.text);
}

void online_models_decide(struct online_models *models, struct learner *learner, bool has_candidate)
{
	struct offer offer = { .model = { .node_type = -1 } };
	struct diag why = { "the training failed" };
	char path[ONLINE_PATH_MAX];
	int r = -EINVAL;

	online_models_path(models, learner, ".candidate.json", path);
	if (has_candidate)
		r = model_file_load(path, &offer.model, &why);
	if (r == 0)
		r = learner_judge(learner, &offer.model, offer.errors, &why);
	if (r == 0) {
		decide_on(models, learner, &offer);
	} else {
		models->failed++;
		log_error("%s: no model could be made: %s", learner->name, why.text);
	}
	learner->fresh = 0;
	trained_model_release(&offer.model);
}
