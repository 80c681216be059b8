// SPDX-License-Identifier: Apache-2.0
#include "training/model_training.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "training/model_choice.h"
#include "training/parallel.h"
#include "training/training_rows.h"

struct job {
	const struct sample_table *table;
	const struct training_request *request;
	struct training_rows rows[MODEL_COMPONENTS_MAX];
};

/* State that the threads share; each writes its own results. */
struct validations {
	pthread_mutex_t lock; /* guards calls of progress() and held_out() */
	const struct job *job;
	struct training_report *report;
};

static void job_release(struct job *job)
{
	for (size_t i = 0; i < MODEL_COMPONENTS_MAX; i++)
		training_rows_release(&job->rows[i]);
}

/* The column's value in each of the rows, into *ret, which is given. */
static int column_of_rows(const struct job *job, const struct training_rows *rows, const char *name,
			  double **ret, struct diag *diag)
{
	size_t column = sample_table_find(job->table, name);

	if (column == SAMPLE_COLUMN_NONE)
		return diag_set(diag, -ENOENT, "there is no column %.95s with numbers", name);
	*ret = calloc(rows->rows, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < rows->rows; i++)
		(*ret)[i] = job->table->columns[column][rows->source[i]];
	return 0;
}

/* Scores and bound of the rows for which @held_out [rows] is true, or of all if it is NULL. */
static int score_rows(const double *watts, const double *predicted, const bool *held_out,
		      size_t rows, uint64_t seed, struct training_result *ret)
{
	CLEANUP_FREE double *numbers = calloc(2 * rows + 1, sizeof(*numbers));
	double *y = numbers, *p;
	size_t count = 0;

	if (!numbers)
		return -ENOMEM;
	p = numbers + rows;
	for (size_t i = 0; i < rows; i++) {
		if (held_out && !held_out[i])
			continue;
		y[count] = watts[i];
		p[count++] = predicted[i];
	}
	if (count == 0)
		return diag_set(&ret->failure, -EINVAL, "no row is held out");
	ret->coverage = (double)NAN;
	if (validation_score(y, p, count, seed, &ret->score) < 0)
		return -ENOMEM;
	return bounds_find(y, p, count, &ret->bound);
}

static int validate_split(const struct job *job, const struct trainer *trainer,
			  const struct training_rows *rows, double *predicted,
			  struct training_result *ret)
{
	CLEANUP_FREE bool *held_out = calloc(rows->rows, sizeof(*held_out));
	CLEANUP_FREE double *column = NULL;
	uint64_t seed = job->request->plan.seed;
	int r = held_out ? column_of_rows(job, rows, job->request->split_column, &column,
					  &ret->failure)
			 : -ENOMEM;

	for (size_t i = 0; r == 0 && column && i < rows->rows; i++)
		held_out[i] = column[i] > 0;
	if (r == 0)
		r = validation_predict_split(trainer, rows, held_out, seed, predicted,
					     &ret->failure);
	if (r == 0)
		r = score_rows(rows->y, predicted, held_out, rows->rows, seed, ret);
	for (size_t i = 0; r == 0 && i < rows->rows; i++) {
		if (!held_out[i])
			predicted[i] = (double)NAN;
	}
	return r;
}

/* Scores @ret; the prediction for each row when it is held out goes to @predicted [rows]. */
static int validate(const struct job *job, const struct trainer *trainer,
		    const struct training_rows *rows, double *predicted,
		    struct training_result *ret)
{
	CLEANUP_FREE double *group = NULL;
	struct validation_plan plan = job->request->plan;
	int r = 0;

	if (job->request->split_column)
		return validate_split(job, trainer, rows, predicted, ret);
	if (r == 0 && plan.kind == FOLDS_GROUPS)
		r = column_of_rows(job, rows, job->request->group_column, &group, &ret->failure);
	plan.group = group;
	if (r == 0)
		r = validation_predict(trainer, rows, &plan, predicted, &ret->failure);
	return r < 0 ? r : score_rows(rows->y, predicted, NULL, rows->rows, plan.seed, ret);
}

/* Validates a trainer on a component. Failures other than of memory are results. */
static int validate_one(void *context, size_t index)
{
	struct validations *all = context;
	const struct training_request *request = all->job->request;
	size_t t = index / request->component_count, c = index % request->component_count;
	const struct training_rows *rows = &all->job->rows[c];
	CLEANUP_FREE double *predicted = calloc(rows->rows, sizeof(*predicted));
	int r;

	if (!predicted)
		return -ENOMEM;

	if (request->progress) {
		(void)pthread_mutex_lock(&all->lock);
		request->progress(request->context, request->trainers[t]->name,
				  request->components[c]);
		(void)pthread_mutex_unlock(&all->lock);
	}
	r = validate(all->job, request->trainers[t], rows, predicted, &all->report->results[t][c]);
	if (r == 0 && request->held_out) {
		(void)pthread_mutex_lock(&all->lock);
		request->held_out(request->context, t, c, rows->source, predicted, rows->rows);
		(void)pthread_mutex_unlock(&all->lock);
	}
	return r == -ENOMEM ? r : 0;
}

static int validate_all(const struct job *job, struct training_report *report)
{
	const struct training_request *request = job->request;
	struct validations all = { .lock = PTHREAD_MUTEX_INITIALIZER,
				   .job = job,
				   .report = report };
	int r = parallel_run(request->trainer_count * request->component_count,
			     request->threads ? request->threads : parallel_processors(),
			     validate_one, &all);

	(void)pthread_mutex_destroy(&all.lock);
	return r;
}

static int make_component(void *context, size_t trainer, size_t component,
			  struct model_component *ret, struct diag *diag)
{
	const struct job *job = context;
	const struct training_rows *rows = &job->rows[component];
	struct training_task task = training_task_of(rows, NULL, job->request->plan.seed);
	int r = trainer_train(job->request->trainers[trainer], &task, &ret->predictor, diag);

	if (r == 0)
		r = training_rows_describe(rows, ret);
	if (r < 0)
		return r;
	ret->minimum_w = ret->maximum_w = rows->y[0];
	for (size_t i = 0; i < rows->rows; i++) {
		ret->minimum_w = fmin(ret->minimum_w, rows->y[i]);
		ret->maximum_w = fmax(ret->maximum_w, rows->y[i]);
	}
	return 0;
}

int model_training_run(const struct sample_table *table, const struct training_request *request,
		       struct trained_model *model, struct training_report *report,
		       struct diag *diag)
{
	CLEANUP(job_release)
	struct job job = { .table = table, .request = request };
	int r;

	r = model_choice_begin(request, report, diag);
	for (size_t c = 0; r == 0 && c < request->component_count; c++) {
		r = training_rows_read(table, request->features, request->feature_count,
				       request->components[c], &job.rows[c], diag);
		job.rows[c].is_dynamic = model->output == MODEL_DYN_POWER;
		report->rows[c] = job.rows[c].rows;
		report->left_out[c] = job.rows[c].left_out;
	}
	if (r == 0)
		r = validate_all(&job, report);
	if (r == 0 && request->only_errors)
		r = model_choice_check(request, report, diag);
	else if (r == 0)
		r = model_choice_make(request, make_component, &job, model, report, diag);
	return r == -ENOMEM ? diag_set(diag, r, "out of memory") : r;
}
