// SPDX-License-Identifier: Apache-2.0
#include "training/model_choice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct maker {
	const struct training_request *request;
	component_maker *make;
	void *context;
	bool is_named; /* the model, by the caller */
};

int model_choice_begin(const struct training_request *request, struct training_report *report,
		       struct diag *diag)
{
	*report = (struct training_report){ .chosen = request->trainer_count };
	if (request->component_count > 0 && request->component_count <= MODEL_COMPONENTS_MAX &&
	    request->trainer_count > 0 && request->trainer_count <= TRAINERS_MAX)
		return 0;
	return diag_set(diag, -EINVAL,
			"a model has 1 to %d components and 1 to %d trainers, not %zu and %zu",
			MODEL_COMPONENTS_MAX, TRAINERS_MAX, request->component_count,
			request->trainer_count);
}

/* The sum of errors of all components; INFINITY if one of them failed. */
static double total_error(const struct training_request *request,
			  const struct training_report *report, size_t trainer)
{
	double sum = 0;

	for (size_t c = 0; c < request->component_count; c++) {
		if (report->results[trainer][c].failure.text[0])
			return (double)INFINITY;
		sum += report->results[trainer][c].score.mae_w;
	}
	return sum;
}

/* The best one of those not tried yet; trainer_count: none is left. */
static size_t next_best(const struct training_request *request,
			const struct training_report *report, const bool *tried)
{
	size_t best = request->trainer_count;
	double lowest = (double)INFINITY;

	for (size_t t = 0; t < request->trainer_count; t++) {
		double error = total_error(request, report, t);

		if (!tried[t] && error < lowest) {
			lowest = error;
			best = t;
		}
	}
	return best;
}

static void fill_error(const struct training_request *request, const struct training_result *result,
		       struct model_error *ret)
{
	*ret = (struct model_error){
		.mae_w = result->score.mae_w,
		.mape_percent = result->score.mape_percent,
		.bound_w = result->bound.bound_w,
		.bound_ratio = result->bound.bound_ratio,
		.rows = result->score.rows,
		.blocked = !request->split_column && request->plan.kind != FOLDS_RANDOM,
	};
}

/* An error that is not a number means nothing; one of 1e300 W comes from impossible rows. */
static int check_error(const struct model_error *error, const char *component, struct diag *diag)
{
	if (isfinite(error->mae_w) && isfinite(error->bound_w) && isfinite(error->bound_ratio))
		return 0;
	return diag_set(diag, -EINVAL, "the errors of %.80s are not finite", component);
}

static void drop_components(struct trained_model *model)
{
	for (size_t i = 0; i < model->component_count; i++) {
		predictor_release(&model->components[i].predictor);
		free(model->components[i].features);
	}
	free(model->components);
	model->components = NULL;
	model->component_count = 0;
}

static int make_model(const struct maker *maker, size_t trainer,
		      const struct training_report *report, struct trained_model *model,
		      struct diag *diag)
{
	const struct training_request *request = maker->request;
	int r = 0;

	drop_components(model);
	model->components = calloc(request->component_count, sizeof(*model->components));
	if (!model->components)
		return -ENOMEM;
	(void)snprintf(model->origin.trainer, sizeof(model->origin.trainer), "%s",
		       request->trainers[trainer]->name);
	if (!maker->is_named)
		(void)snprintf(model->name, sizeof(model->name), "%.80s_%d", model->origin.trainer,
			       model->node_type < 0 ? 0 : model->node_type);
	for (size_t c = 0; r == 0 && c < request->component_count; c++) {
		model->component_count++;
		(void)snprintf(model->components[c].name, sizeof(model->components[c].name), "%s",
			       request->components[c]);
		r = maker->make(maker->context, trainer, c, &model->components[c], diag);
		fill_error(request, &report->results[trainer][c], &model->components[c].error);
		if (r == 0)
			r = check_error(&model->components[c].error, request->components[c], diag);
	}
	return r < 0 ? r : trained_model_check(model, diag);
}

int model_choice_check(const struct training_request *request, const struct training_report *report,
		       struct diag *diag)
{
	const bool tried[TRAINERS_MAX] = { false };

	if (next_best(request, report, tried) == request->trainer_count)
		return diag_set(diag, -EINVAL, "no trainer succeeded: %.400s",
				report->results[0][0].failure.text);
	return 0;
}

static int choose(const struct maker *maker, struct trained_model *model,
		  struct training_report *report, struct diag *diag)
{
	const struct training_request *request = maker->request;
	bool tried[TRAINERS_MAX] = { false };
	size_t first = next_best(request, report, tried);
	size_t best;
	int known = model_choice_check(request, report, diag);

	if (known < 0)
		return known;
	while ((best = next_best(request, report, tried)) < request->trainer_count) {
		int r = make_model(maker, best, report, model, &report->unusable[best]);

		if (r == 0) {
			report->chosen = best;
			return 0;
		}
		drop_components(model);
		if (r == -ENOMEM)
			return r;
		tried[best] = true;
	}
	return diag_set(diag, -EINVAL, "no trainer made a model that can be used: %.400s",
			report->unusable[first].text);
}

int model_choice_make(const struct training_request *request, component_maker *make, void *context,
		      struct trained_model *model, struct training_report *report,
		      struct diag *diag)
{
	const struct maker maker = { request, make, context, model->name[0] };

	return choose(&maker, model, report, diag);
}
