// SPDX-License-Identifier: Apache-2.0
#include "repository/choice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/quadrature.h"
#include "model/feature.h"
#include "repository/entry_filter.h"

#define MACHINES_KEPT 512

/* Conditions, in the order in which they are looked at: for the answer why nothing was left. */
enum condition {
	WANTS_OUTPUT,
	WANTS_SOURCE,
	WANTS_FEATURES,
	WANTS_TRAINER,
	WANTS_FILE,
	WANTS_MACHINE,
	WANTS_ERROR,
	WANTS_FILTER,
	WANTS_USE, /* it is excluded */
	CONDITION_COUNT,
};

static const char *const lacking[CONDITION_COUNT] = {
	[WANTS_SOURCE] = "no model has this source and pipeline",
	[WANTS_OUTPUT] = "no model has this output",
	[WANTS_FEATURES] = "each model needs features that are not in the request's metrics",
	[WANTS_TRAINER] = "no model has this trainer",
	[WANTS_FILE] = "no model has the requested format",
	[WANTS_MACHINE] = "no model was trained on this machine or on a similar one",
	[WANTS_ERROR] = "the expected errors are above the limit",
	[WANTS_FILTER] = "no model passes the filter",
	[WANTS_USE] = "the matching models cannot be loaded or would mislead; see the log",
};

const char *choice_source(const char *source)
{
	return !*source || strstr(source, "rapl") ? "rapl-sysfs" : source;
}

/* ---- conditions ---- */

static bool is_of(const char *wanted, const char *own)
{
	return !*wanted || strcmp(wanted, own) == 0;
}

bool choice_lists(const struct choice_request *request, bool any_output,
		  const struct repository *repository, const struct model_entry *entry)
{
	return (any_output || entry->output == request->output) &&
	       is_of(*request->source ? choice_source(request->source) : "",
		     choice_source(entry->source)) &&
	       is_of(request->group, entry->group) && is_of(request->trainer, entry->trainer) &&
	       is_of(request->pipeline, repository->pipelines[entry->pipeline].name);
}

static bool is_among(const char *feature, size_t len, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(names[i], feature, len) == 0 && !names[i][len])
			return true;
	return false;
}

/* Returns true if each of @features ("a,b,c") is among @names. An empty list is not among them. */
static bool features_are_in(const char *features, const char *const *names, size_t count)
{
	if (!*features)
		return false;
	while (*features) {
		size_t len = strcspn(features, ",");

		if (!is_among(features, len, names, count))
			return false;
		features += len + (features[len] == ',');
	}
	return true;
}

static bool has_file(const struct choice_request *request, const struct model_entry *entry)
{
	unsigned files = entry->files;

	if (entry->weights_are_bad)
		files &= ~(unsigned)FILE_WEIGHTS;
	return (request->files ? files & request->files : files) &&
	       !(request->upstream_only && strcmp(entry->kind, "kepler") == 0) &&
	       !(request->no_pickles && model_entry_is_pickled(entry));
}

/* How well a model's machine fits the requested one. */
struct machine_fit {
	enum model_match match;
	double looseness, core_ratio;
};

/*
 * The results for earlier entries: many have the same features, and the same machine. A repository
 * has thousands of models of hundreds of machines, and each request looks at all of them.
 */
struct examination {
	const struct repository *repository;
	const struct choice_request *request;
	const char *source;   /* that is asked for */
	const char *features; /* of the last entry that was looked at, by address */
	bool features_fit;
	double uncertainty;
	struct {
		bool known;
		uint32_t pipeline;
		int32_t node_type;
		struct machine_fit fit;
	} machines[MACHINES_KEPT];
};

static bool features_fit(struct examination *examination, const struct model_entry *entry)
{
	const struct choice_request *request = examination->request;

	if (!request->features)
		return true;
	if (examination->features != entry->features) {
		examination->features = entry->features;
		examination->features_fit =
			features_are_in(entry->features, request->features, request->feature_count);
	}
	return examination->features_fit;
}

/* Judges a model without an error of its own, so the result is the machine's part. */
static struct machine_fit judge_machine(const struct choice_request *request,
					const struct model_entry *entry)
{
	const struct model_candidate candidate = { .machine = &entry->machine };
	struct model_choice choice;

	model_judge(&candidate, &request->machine, &choice);
	return (struct machine_fit){ choice.match, choice.looseness, choice.core_ratio };
}

static struct machine_fit fit_of(struct examination *examination, const struct model_entry *entry)
{
	const struct choice_request *request = examination->request;
	size_t slot = (uint32_t)entry->node_type % MACHINES_KEPT;

	if (request->node_type >= 0 && request->node_type == entry->node_type)
		return (struct machine_fit){ MATCH_MACHINE, 0, 1 };
	if (!examination->machines[slot].known ||
	    examination->machines[slot].pipeline != entry->pipeline ||
	    examination->machines[slot].node_type != entry->node_type) {
		examination->machines[slot].known = true;
		examination->machines[slot].pipeline = entry->pipeline;
		examination->machines[slot].node_type = entry->node_type;
		examination->machines[slot].fit = judge_machine(request, entry);
	}
	return examination->machines[slot].fit;
}

/* WANTS_FILTER: it fits, but the filter is not checked yet; else the failed condition. */
static enum condition examine(struct examination *examination, const struct model_entry *entry,
			      struct choice *ret)
{
	const struct choice_request *request = examination->request;
	struct machine_fit fit;

	if (entry->output != request->output)
		return WANTS_OUTPUT;
	if (strcmp(examination->source, choice_source(entry->source)) != 0 ||
	    !is_of(request->pipeline, examination->repository->pipelines[entry->pipeline].name))
		return WANTS_SOURCE;
	if (!is_of(request->group, entry->group) || !features_fit(examination, entry))
		return WANTS_FEATURES;
	if (!is_of(request->trainer, entry->trainer))
		return WANTS_TRAINER;
	if (!has_file(request, entry))
		return WANTS_FILE;
	fit = fit_of(examination, entry);
	if (request->exact && fit.match != MATCH_MACHINE)
		return WANTS_MACHINE;
	*ret = (struct choice){
		.entry = entry,
		.match = fit.match,
		.looseness = fit.looseness,
		.uncertainty = examination->uncertainty,
		.core_ratio = fit.core_ratio,
		.expected_error = add_in_quadrature(entry->mape_percent / 100, fit.looseness),
	};
	if (request->max_error > 0 && !(ret->expected_error <= request->max_error))
		return WANTS_ERROR;
	return WANTS_FILTER;
}

static bool is_lower(double one, double other)
{
	return isnan(other) ? !isnan(one) : one < other;
}

static bool is_better(const struct choice *one, const struct choice *other, bool machine_is_known)
{
	uint32_t cores = one->entry->machine.cores;

	if (!other->entry)
		return true;
	if (!machine_is_known && cores != other->entry->machine.cores)
		return cores > other->entry->machine.cores;
	if (is_lower(one->expected_error, other->expected_error))
		return true;
	return !is_lower(other->expected_error, one->expected_error) &&
	       is_lower(one->entry->mae_w, other->entry->mae_w);
}

/* A search through all models, for the best of them or the best of each group. */
struct search {
	struct examination examination;
	struct entry_filter filter;
	enum condition furthest;            /* condition that some model failed last */
	const char *lacking;                /* features of the model that needs the fewest more */
	size_t lacking_count;               /* features that are not in the request */
	const char *fault;                  /* the fault of weights that would have fit */
	bool is_weights, is_own, is_pickle; /* formats of models that would have fit */
	bool machine_is_known;
};

/* Returns true for the requested machine, by its type or by its processor and cores. */
static bool is_near(const struct choice_request *request, const struct model_entry *entry)
{
	if (request->node_type >= 0)
		return request->node_type == entry->node_type;
	return request->machine.cores == entry->machine.cores &&
	       strcmp(request->machine.processor, entry->machine.processor) == 0;
}

/* Another machine only adds to a model's own error. */
static bool cannot_win(const struct search *search, const struct choice *best,
		       const struct model_entry *entry, bool near)
{
	double own = entry->mape_percent / 100, least = best->expected_error;

	if (!best->entry || !search->machine_is_known || isnan(least))
		return false;
	return near ? !(own <= least) : !(own < least);
}

static size_t count_missing(const struct choice_request *request, const char *features)
{
	size_t missing = 0;

	while (*features) {
		size_t len = strcspn(features, ",");

		missing += !is_among(features, len, request->features, request->feature_count);
		features += len + (features[len] == ',');
	}
	return missing;
}

/* Finds the format of a model that would have fit in the requested format. */
static void note_format(struct search *search, const struct model_entry *entry)
{
	search->is_own |= strcmp(entry->kind, "kepler") == 0;
	search->is_weights |= strcmp(entry->kind, "kepler") != 0 && entry->files & FILE_WEIGHTS &&
			      !entry->weights_are_bad;
	search->is_pickle |= model_entry_is_pickled(entry);
}

/* Notes facts for the refusal if no model fits. */
static void note_lack(struct search *search, enum condition lacks, const struct model_entry *entry)
{
	const struct choice_request *request = search->examination.request;
	size_t missing;

	if (lacks > search->furthest)
		search->furthest = lacks;
	if (lacks == WANTS_FILE && entry->weights_fault)
		search->fault = entry->weights_fault;
	if (lacks == WANTS_FILE)
		note_format(search, entry);
	if (lacks != WANTS_FEATURES || !request->features || entry->features == search->lacking)
		return;
	missing = count_missing(request, entry->features);
	if (missing && (!search->lacking || missing < search->lacking_count)) {
		search->lacking = entry->features;
		search->lacking_count = missing;
	}
}

/* "; one lacks only bpf_page_cache_hit (kepler --bpf.io=all)" */
static void add_missing(const struct search *search, char *buf, size_t size)
{
	const struct choice_request *request = search->examination.request;
	const char *features = search->lacking, *before = "; the nearest one lacks ";
	size_t used = 0;

	buf[0] = '\0';
	while (features && *features && used < size) {
		size_t len = strcspn(features, ",");
		char name[MODEL_NAME_MAX];
		const char *option;

		if (!is_among(features, len, request->features, request->feature_count)) {
			(void)snprintf(name, sizeof(name), "%.*s", (int)len, features);
			option = feature_option(name);
			used += (size_t)snprintf(buf + used, size - used, "%s%s%s%s%s", before,
						 name, *option ? " (kepler " : "", option,
						 *option ? ")" : "");
			before = ", ";
		}
		features += len + (features[len] == ',');
	}
}

/* "; there are only weights ("weight": true)" */
static void add_formats(const struct search *search, char *buf, size_t size)
{
	const struct {
		bool is_there;
		const char *words;
	} formats[] = {
		{ search->is_weights, "weights (\"weight\": true)" },
		{ search->is_own, "kepler's own format (GET /api/v2/model)" },
		{ search->is_pickle, "archives with pickles, which kepler-model does not load" },
	};
	const char *before = "; there are only ";
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(formats) && used < size; i++) {
		if (!formats[i].is_there)
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", before, formats[i].words);
		before = ", ";
	}
}

static int refuse(const struct search *search, struct diag *diag)
{
	const struct examination *examination = &search->examination;
	char more[320] = "";

	if (search->furthest == WANTS_FEATURES)
		add_missing(search, more, sizeof(more));
	else if (search->furthest == WANTS_FILE && search->fault)
		(void)snprintf(more, sizeof(more), "; one is bad: %s", search->fault);
	else if (search->furthest == WANTS_FILE)
		add_formats(search, more, sizeof(more));
	return diag_set(diag, -ENOENT, "cannot find model for %s from %s: %s%s",
			model_output_name(examination->request->output), examination->source,
			lacking[search->furthest], more);
}

/* Puts @entry in the place of *@best if it fits and is better. */
static void look_at(struct search *search, const struct model_entry *entry, bool near,
		    struct choice *best)
{
	const struct examination *examination = &search->examination;
	const bool *excluded = examination->request->excluded;
	struct choice choice = { 0 };
	enum condition lacks;

	if (cannot_win(search, best, entry, near))
		return;
	lacks = examine(&search->examination, entry, &choice);
	if (lacks == WANTS_FILTER && excluded && excluded[entry - examination->repository->entries])
		lacks = WANTS_USE;
	note_lack(search, lacks, entry);
	if (lacks == WANTS_FILTER && is_better(&choice, best, search->machine_is_known) &&
	    entry_filter_passes(&search->filter, entry))
		*best = choice;
}

static int begin_search(struct search *search, const struct repository *repository,
			const struct choice_request *request, struct diag *diag)
{
	search->examination = (struct examination){
		.repository = repository,
		.request = request,
		.source = choice_source(request->source),
		.uncertainty = machine_spec_unknown(&request->machine),
	};
	search->furthest = WANTS_OUTPUT;
	search->lacking = NULL;
	search->lacking_count = 0;
	search->fault = NULL;
	search->is_weights = search->is_own = search->is_pickle = false;
	search->machine_is_known =
		request->node_type >= 0 || !machine_spec_is_empty(&request->machine);
	return entry_filter_parse(request->filter, &search->filter, diag);
}

/* The models of the machine itself first: most others then cannot win, and need no comparison. */
int choice_make(const struct repository *repository, const struct choice_request *request,
		struct choice *ret, struct diag *diag)
{
	struct search search;
	struct choice best = { .entry = NULL };

	if (begin_search(&search, repository, request, diag) < 0)
		return -EINVAL;
	for (int near = 1; near >= 0; near--)
		for (size_t i = 0; i < repository->entry_count; i++)
			if (is_near(request, &repository->entries[i]) == near)
				look_at(&search, &repository->entries[i], near, &best);
	if (!best.entry)
		return refuse(&search, diag);
	*ret = best;
	return 0;
}

/* ---- the best of each group ---- */

struct group_search {
	struct search search;
	struct map by_name;
	struct choice *best; /* [count], by group */
	size_t count, size;
};

/* The place of the best model of @entry's group; NULL: no memory. */
static struct choice *place_of(struct group_search *groups, const struct model_entry *entry)
{
	struct map_key key = { hash64_text(HASH64_START, entry->group), strlen(entry->group) };
	uint32_t index = map_find(&groups->by_name, key);

	if (index != MAP_NONE)
		return &groups->best[index];
	if (ARRAY_RESERVE(groups->best, groups->size, groups->count + 1) < 0 ||
	    map_put(&groups->by_name, key, (uint32_t)groups->count) < 0)
		return NULL;
	groups->best[groups->count] = (struct choice){ .entry = NULL };
	return &groups->best[groups->count++];
}

static int search_groups(struct group_search *groups)
{
	const struct repository *repository = groups->search.examination.repository;
	const struct choice_request *request = groups->search.examination.request;

	for (int near = 1; near >= 0; near--)
		for (size_t i = 0; i < repository->entry_count; i++) {
			const struct model_entry *entry = &repository->entries[i];
			struct choice *best;

			if (entry->output != request->output ||
			    !is_of(request->group, entry->group) || is_near(request, entry) != near)
				continue;
			best = place_of(groups, entry);
			if (!best)
				return -ENOMEM;
			look_at(&groups->search, entry, near, best);
		}
	return 0;
}

int choice_make_by_group(const struct repository *repository, const struct choice_request *request,
			 struct choice **ret, size_t *ret_count, struct diag *diag)
{
	struct group_search groups = { .best = NULL };
	size_t kept = 0;
	int r = begin_search(&groups.search, repository, request, diag);

	if (r < 0)
		return r;
	map_init(&groups.by_name, REPOSITORY_MODELS_MAX);
	r = search_groups(&groups);
	map_release(&groups.by_name);
	if (r < 0) {
		free(groups.best);
		return diag_set(diag, r, "out of memory");
	}
	for (size_t i = 0; i < groups.count; i++)
		if (groups.best[i].entry)
			groups.best[kept++] = groups.best[i];
	*ret = groups.best;
	*ret_count = kept;
	return 0;
}
