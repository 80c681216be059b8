// SPDX-License-Identifier: Apache-2.0
#include "repository/choice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

#define MACHINES_KEPT 512
#define ANY_ERROR     1e9

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
	[WANTS_SOURCE] = "there is no model of this source and pipeline",
	[WANTS_OUTPUT] = "there is no model with this output",
	[WANTS_FEATURES] = "each model needs features that are not in the request's metrics",
	[WANTS_TRAINER] = "there is no model of this trainer",
	[WANTS_FILE] = "there is no model in this form",
	[WANTS_MACHINE] = "there is no model of this machine, or of one that is enough alike",
	[WANTS_ERROR] = "the expected errors are above the limit",
	[WANTS_FILTER] = "no model passes the filter",
	[WANTS_USE] = "what fits cannot be loaded, or would mislead: the log says why",
};

const char *choice_source(const char *source)
{
	return !*source || strstr(source, "rapl") ? "rapl-sysfs" : source;
}

/* ---- filters ---- */

/* The text of attribute @name, or NULL. */
static const char *text_of(const struct model_entry *entry, const char *name)
{
	const struct {
		const char *name, *value;
	} texts[] = {
		{ "trainer", entry->trainer },
		{ "model_name", entry->name },
		{ "model_class", entry->kind },
		{ "feature_group", entry->group },
		{ "source", entry->source },
		{ "output_type", model_output_name(entry->output) },
		{ "processor", entry->machine.processor },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(texts[i].name, name) == 0)
			return texts[i].value;
	return NULL;
}

/* An error of the entry, of which a filter gives the highest. False: @name is none. */
static bool error_of(const struct model_entry *entry, const char *name, double *ret)
{
	char own[32];

	*ret = (double)NAN;
	if (strcmp(name, "mae") == 0 || strcmp(name, "mape") == 0) {
		*ret = name[2] == 'e' ? entry->mae_w : entry->mape_percent;
		return true;
	}
	for (size_t i = 0; i < entry->error_count; i++) {
		const struct entry_error *error = &entry->errors[i];

		(void)snprintf(own, sizeof(own), "%s_mae", error->component);
		if (strcmp(own, name) == 0)
			*ret = error->mae_w;
		(void)snprintf(own, sizeof(own), "%s_mape", error->component);
		if (strcmp(own, name) == 0)
			*ret = error->mape_percent;
	}
	/* Another model may have the component that this one lacks. */
	return strlen(name) > 4 && (strcmp(name + strlen(name) - 4, "_mae") == 0 ||
				    strcmp(name + strlen(name) - 5, "_mape") == 0);
}

/* A number that must be the same, or NULL. */
static bool number_of(const struct model_entry *entry, const char *name, double *ret)
{
	const struct {
		const char *name;
		double value;
	} numbers[] = {
		{ "node_type", entry->node_type },
		{ "cores", entry->machine.cores },
		{ "chips", entry->machine.chips },
		{ "memory", entry->machine.memory_gb },
		{ "frequency", entry->machine.frequency_mhz },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (strcmp(numbers[i].name, name) == 0) {
			*ret = numbers[i].value;
			return true;
		}
	return false;
}

static int passes(const struct model_entry *entry, const char *name, const char *value,
		  struct diag *diag)
{
	const char *text = text_of(entry, name);
	double own, wanted;
	bool is_error;

	if (text)
		return strcmp(text, value) == 0;
	is_error = error_of(entry, name, &own);
	if (!is_error && !number_of(entry, name, &own))
		return diag_set(diag, -EINVAL,
				"filter: there is no attribute \"%.40s\"; known are mae, mape, "
				"COMPONENT_mae, COMPONENT_mape (at most), node_type, cores, chips, "
				"memory, frequency, processor, trainer, model_name, model_class, "
				"feature_group, source, output_type (equal)",
				name);
	if (parse_double(value, &wanted) < 0)
		return diag_set(diag, -EINVAL, "filter: %.40s: must be a number, not \"%.40s\"",
				name, value);
	return is_error ? own <= wanted : fabs(own - wanted) < 1e-9;
}

/* All of @filter is read, so that what is wrong in it is found whatever the entry. */
int choice_passes_filter(const struct model_entry *entry, const char *filter, struct diag *diag)
{
	int all = 1;

	for (size_t i = 0; *filter; i++) {
		char part[160], *value;
		size_t len = strcspn(filter, ";");
		int r;

		if (i == CHOICE_FILTERS_MAX || len >= sizeof(part))
			return diag_set(diag, -EINVAL, "filter: is too long");
		(void)snprintf(part, sizeof(part), "%.*s", (int)len, filter);
		filter += len + (filter[len] == ';');
		value = strchr(part, ':');
		if (!value)
			return diag_set(diag, -EINVAL,
					"filter: must be ATTRIBUTE:VALUE;…, not \"%.40s\"", part);
		*value++ = '\0';
		r = passes(entry, part, value, diag);
		if (r < 0)
			return r;
		all = all && r;
	}
	return all;
}

/* ---- conditions ---- */

static bool is_of(const char *wanted, const char *own)
{
	return !*wanted || strcmp(wanted, own) == 0;
}

static bool is_among(const char *feature, size_t len, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(names[i], feature, len) == 0 && !names[i][len])
			return true;
	return false;
}

/* Whether each of @features ("a,b,c") is among @names. None is in none. */
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

/* What a model's machine means for the one that is asked for. */
struct machine_fit {
	enum model_match match;
	double looseness, core_ratio;
};

/*
 * What was found for entries before: many have the same features, and the same machine. A
 * repository has thousands of models of hundreds of machines, and each request looks at all of
 * them.
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

/* A model without error of its own: what is left is what the machine brings. */
static struct machine_fit judge_machine(const struct choice_request *request,
					const struct model_entry *entry)
{
	const struct model_candidate candidate = { .machine = &entry->machine,
						   .output = entry->output,
						   .source = entry->source };
	const struct model_request wanted = { .machine = &request->machine,
					      .output = entry->output,
					      .source = "",
					      .error_max = ANY_ERROR };
	struct model_choice choice = { .match = MATCH_OTHER, .looseness = 1, .core_ratio = 1 };

	(void)model_select(&candidate, 1, &wanted, &choice, NULL); /* it is the only one */
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

/* WANTS_FILTER: it fits but for the filter, which is not looked at; else what it lacks. */
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
		.expected_error = hypot(entry->mape_percent / 100, fit.looseness),
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

/* What was found so far, of all models or of some of them. */
struct search {
	struct examination examination;
	struct choice best;
	enum condition furthest; /* that a model came without being the best */
	bool machine_is_known;
};

/* Of the machine that is asked for, by its type or by its processor and its cores. */
static bool is_near(const struct choice_request *request, const struct model_entry *entry)
{
	if (request->node_type >= 0)
		return request->node_type == entry->node_type;
	return request->machine.cores == entry->machine.cores &&
	       strcmp(request->machine.processor, entry->machine.processor) == 0;
}

/* Another machine only adds to a model's own error. */
static bool cannot_win(const struct search *search, const struct model_entry *entry, bool near)
{
	double own = entry->mape_percent / 100, least = search->best.expected_error;

	if (!search->best.entry || !search->machine_is_known || isnan(least))
		return false;
	return near ? !(own <= least) : !(own < least);
}

static void look_at(struct search *search, size_t index, bool near)
{
	const struct choice_request *request = search->examination.request;
	const struct model_entry *entry = &search->examination.repository->entries[index];
	struct choice choice = { 0 };
	enum condition lacks;

	if (cannot_win(search, entry, near))
		return;
	lacks = examine(&search->examination, entry, &choice);
	if (lacks == WANTS_FILTER && request->excluded && request->excluded[index])
		lacks = WANTS_USE;
	if (lacks > search->furthest)
		search->furthest = lacks;
	if (lacks == WANTS_FILTER && is_better(&choice, &search->best, search->machine_is_known) &&
	    choice_passes_filter(entry, request->filter, NULL) == 1)
		search->best = choice;
}

/* The models of the machine itself first: most others then cannot win, and need no comparison. */
int choice_make(const struct repository *repository, const struct choice_request *request,
		struct choice *ret, struct diag *diag)
{
	static const struct model_entry none = { .node_type = -1 };
	struct search search = {
		.examination = { .repository = repository,
				 .request = request,
				 .source = choice_source(request->source),
				 .uncertainty = machine_spec_unknown(&request->machine) },
		.furthest = WANTS_OUTPUT,
		.machine_is_known =
			request->node_type >= 0 || !machine_spec_is_empty(&request->machine),
	};

	if (choice_passes_filter(&none, request->filter, diag) < 0)
		return -EINVAL;
	for (int near = 1; near >= 0; near--)
		for (size_t i = 0; i < repository->entry_count; i++)
			if (is_near(request, &repository->entries[i]) == near)
				look_at(&search, i, near);
	if (!search.best.entry)
		return diag_set(diag, -ENOENT, "cannot find model for %s from %s: %s",
				model_output_name(request->output), search.examination.source,
				lacking[search.furthest]);
	*ret = search.best;
	return 0;
}
