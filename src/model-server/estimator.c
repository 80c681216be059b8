// SPDX-License-Identifier: Apache-2.0
#include "model-server/estimator.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/macro.h"
#include "model-server/estimate_request.h"
#include "repository/choice.h"
#include "repository/model_load.h"

struct loaded_model {
	const struct model_entry *entry; /* NULL: a free slot */
	struct trained_model model;
	uint64_t used; /* number of the last request that used it */
};

struct estimator {
	struct repository *repository;
	struct machine_spec machine;
	bool *unusable; /* [entries]: loading it has failed before */
	struct loaded_model models[ESTIMATOR_MODELS_MAX];
	uint64_t requests;
};

struct estimator *estimator_new(struct repository *repository, const struct machine_spec *machine)
{
	struct estimator *estimator = calloc(1, sizeof(*estimator));

	if (!estimator) {
		repository_free(repository);
		return NULL;
	}
	estimator->repository = repository;
	estimator->machine = *machine;
	estimator->unusable = calloc(repository->entry_count + 1, sizeof(bool));
	if (estimator->unusable)
		return estimator;
	estimator_free(estimator);
	return NULL;
}

void estimator_free(struct estimator *estimator)
{
	if (!estimator)
		return;
	for (size_t i = 0; i < ESTIMATOR_MODELS_MAX; i++)
		trained_model_release(&estimator->models[i].model);
	free(estimator->unusable);
	repository_free(estimator->repository);
	free(estimator);
}

/* The slot that has @entry, or else a free one, or the one that was not used for longest. */
static struct loaded_model *find_slot(struct estimator *estimator, const struct model_entry *entry)
{
	struct loaded_model *best = &estimator->models[0];

	for (size_t i = 0; i < ESTIMATOR_MODELS_MAX; i++) {
		struct loaded_model *slot = &estimator->models[i];

		if (slot->entry == entry)
			return slot;
		if (slot->used < best->used)
			best = slot;
	}
	return best;
}

static int load(struct estimator *estimator, const struct model_entry *entry,
		struct loaded_model **ret, struct diag *diag)
{
	struct loaded_model *slot = find_slot(estimator, entry);
	struct trained_model model = { 0 };
	int r;

	if (slot->entry != entry) {
		r = model_load(estimator->repository, entry, &model, diag);
		if (r < 0) {
			trained_model_release(&model);
			return r;
		}
		trained_model_release(&slot->model);
		slot->model = model;
		slot->entry = entry;
	}
	slot->used = ++estimator->requests;
	*ret = slot;
	return 0;
}

/* The best model that can be loaded: each that cannot is left out from then on. */
static int choose(struct estimator *estimator, const struct estimate_request *request,
		  struct choice *ret, struct loaded_model **ret_model, struct diag *diag)
{
	const struct choice_request wanted = {
		.source = request->source,
		.output = request->output,
		.features = request->names,
		.feature_count = request->name_count,
		.group = "",
		.trainer = request->trainer,
		.pipeline = "",
		.node_type = -1,
		.machine = estimator->machine,
		.no_pickles = true,
		.excluded = estimator->unusable,
		.filter = request->filter,
	};

	for (;;) {
		struct diag why = { "" };
		int r = choice_make(estimator->repository, &wanted, ret, diag);

		if (r < 0)
			return r;
		r = load(estimator, ret->entry, ret_model, &why);
		if (r == 0)
			return 0;
		if (r == -ENOMEM)
			return diag_set(diag, r, "out of memory");
		log_warn("a model is left out: %s", why.text);
		estimator->unusable[ret->entry - estimator->repository->entries] = true;
	}
}

/* Six digits: an old Kepler reads at most 4,096 bytes of an answer. */
static int add_component(const struct estimate_request *request, const struct trained_model *model,
			 size_t component, bool is_first, struct strbuf *out, struct diag *diag)
{
	struct model_columns columns;
	int r = trained_model_bind(model, component, request->names, request->name_count, &columns,
				   diag);

	if (r < 0)
		return r;
	strbuf_add_str(out, is_first ? "\"" : ",\"");
	strbuf_add_json(out, model->components[component].name);
	strbuf_add_str(out, "\":[");
	for (size_t i = 0; i < request->row_count; i++) {
		struct model_answer answer;

		trained_model_predict(model, component, &columns,
				      request->values + i * request->name_count, &answer);
		strbuf_addf(out, "%s%.6g", i ? "," : "", answer.watts);
	}
	strbuf_add_char(out, ']');
	return 0;
}

/* Parts that the model does not know are left out: an old Kepler takes them as 0 by itself. */
static int add_components(const struct estimate_request *request, const struct trained_model *model,
			  struct strbuf *out, struct diag *diag)
{
	bool is_first = true;
	int r = 0;

	for (size_t i = 0; r == 0 && i < model->component_count; i++) {
		if (!model_component_draws_power(&model->components[i]))
			continue;
		r = add_component(request, model, i, is_first, out, diag);
		is_first = false;
	}
	if (r == 0 && is_first)
		r = diag_set(diag, -ENOENT, "model \"%s\" is always 0 W", model->name);
	return r;
}

static int add_powers(struct estimator *estimator, const struct estimate_request *request,
		      struct strbuf *out, struct diag *diag)
{
	struct loaded_model *loaded = NULL;
	struct choice choice;
	int r = choose(estimator, request, &choice, &loaded, diag);

	strbuf_add_str(out, "{\"powers\":{");
	if (r < 0)
		return r;
	assert(loaded);
	r = add_components(request, &loaded->model, out, diag);
	if (r < 0)
		return r;
	strbuf_addf(out, "},\"msg\":\"\",\"core_ratio\":%.6g,\"model\":\"", choice.core_ratio);
	strbuf_add_json(out, choice.entry->name);
	strbuf_add_str(out, "\"}\n");
	return strbuf_error(out);
}

void estimator_refuse(const char *why, struct strbuf *out)
{
	strbuf_add_str(out, "{\"powers\":{},\"msg\":\"");
	strbuf_add_json(out, why);
	strbuf_add_str(out, "\"}\n");
}

bool estimator_answer(struct estimator *estimator, const char *text, size_t size,
		      struct strbuf *out)
{
	struct estimate_request request;
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT;
	struct diag diag = { .more = &more };
	size_t begin = out->len;
	int r = estimate_request_read(text, size, &request, &diag);

	if (r == 0) {
		r = add_powers(estimator, &request, out, &diag);
		estimate_request_release(&request);
	}
	if (r == 0)
		return true;
	if (out->data) {
		out->len = begin;
		out->data[begin] = '\0';
	}
	diag_join(&diag, "; ", &why);
	estimator_refuse(why.len ? why.data : "out of memory", out);
	return false;
}
