// SPDX-License-Identifier: Apache-2.0
#include "training/streamed_training.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "training/design.h"
#include "training/model_choice.h"
#include "training/random.h"
#include "training/streamed_score.h"
#include "training/triangle.h"

#define LOAD_CLASSES 16
#define ALL_FOLDS    UINT32_MAX /* no fold is held out */
/* Rows that are judged, of forms that take a microsecond a row, and of those that take 100. */
#define JUDGED_TREES 5000000U
#define JUDGED_ROWS  20000U
/* What a row of a block takes while a tree is grown, in bytes: by feature, and at all. */
#define BLOCK_FEATURE 24
#define BLOCK_ROW     56

/* Rows in memory: a block, or the sample. */
struct held_rows {
	double *x, *y;
	uint32_t *group;
	size_t rows, size;
};

/* One component. */
struct stream {
	struct streamed_rows rows;
	struct triangle *lines, *polynomials; /* [folds], or NULL */
	struct held_rows sample, block;
	struct streamed_batch *batch;
	uint32_t *order; /* of batches, by chance, as blocks take them */
	size_t batches, block_batches, blocks;
	uint32_t held_out; /* fold, while blocks are read */
};

struct job {
	const struct training_request *request;
	size_t memory;
	struct stream streams[MODEL_COMPONENTS_MAX];
};

static void free_triangles(struct triangle *triangles, size_t folds)
{
	for (size_t i = 0; triangles && i < folds; i++)
		triangle_release(&triangles[i]);
	free(triangles);
}

static void held_rows_release(struct held_rows *held)
{
	free(held->x);
	free(held->y);
	free(held->group);
}

static int held_rows_reserve(struct held_rows *held, size_t size, size_t features)
{
	size_t room = size ? size : 1;

	*held = (struct held_rows){ .size = size };
	held->x = calloc(room, (features ? features : 1) * sizeof(*held->x));
	held->y = calloc(room, sizeof(*held->y));
	held->group = calloc(room, sizeof(*held->group));
	return held->x && held->y && held->group ? 0 : -ENOMEM;
}

static void held_rows_add(struct held_rows *held, const struct streamed_batch *batch, size_t row,
			  size_t features)
{
	if (held->rows == held->size)
		return;
	memcpy(held->x + held->rows * features, batch->x + row * features,
	       features * sizeof(*held->x));
	held->group[held->rows] = batch->group[row];
	held->y[held->rows++] = batch->y[row];
}

static void job_release(struct job *job)
{
	for (size_t i = 0; i < MODEL_COMPONENTS_MAX; i++) {
		struct stream *stream = &job->streams[i];

		free_triangles(stream->lines, job->request->plan.folds);
		free_triangles(stream->polynomials, job->request->plan.folds);
		held_rows_release(&stream->sample);
		held_rows_release(&stream->block);
		free(stream->batch);
		free(stream->order);
		streamed_rows_release(&stream->rows);
	}
}

/* Lines. */

static int new_triangles(const struct job *job, size_t columns, struct triangle **ret,
			 struct diag *diag)
{
	const struct lapack_library *lapack;
	int r = lapack_library_get(&lapack, diag);

	*ret = calloc(job->request->plan.folds, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < job->request->plan.folds; i++)
		r = triangle_new(&(*ret)[i], lapack, columns);
	return r;
}

static int add_to_triangle(struct triangle *triangles, const struct stream *stream, size_t row,
			   bool polynomial, double *terms)
{
	const struct streamed_batch *batch = stream->batch;
	size_t features = stream->rows.feature_count, count;

	if (!triangles)
		return 0;
	terms[0] = 1;
	count = design_terms(batch->x + row * features, features, polynomial, terms + 1);
	terms[count + 1] = batch->y[row];
	return triangle_add(&triangles[stream->rows.fold[batch->group[row]]], terms);
}

static int fill_triangles(struct stream *stream, size_t folds, size_t terms_max, struct diag *diag)
{
	CLEANUP_FREE double *terms = calloc(terms_max, sizeof(*terms));
	int r = terms ? 0 : -ENOMEM;

	for (uint64_t i = 0; r == 0 && i < stream->batches; i++) {
		r = streamed_rows_read(&stream->rows, i, stream->batch, diag);
		for (size_t row = 0; r == 0 && row < stream->batch->rows; row++) {
			r = add_to_triangle(stream->lines, stream, row, false, terms);
			if (r == 0)
				r = add_to_triangle(stream->polynomials, stream, row, true, terms);
		}
	}
	for (size_t i = 0; r == 0 && i < folds; i++) {
		if (stream->lines)
			r = triangle_reduce(&stream->lines[i]);
		if (r == 0 && stream->polynomials)
			r = triangle_reduce(&stream->polynomials[i]);
	}
	return r;
}

static int open_lines(const struct job *job, struct stream *stream, struct diag *diag)
{
	size_t n = stream->rows.feature_count, terms = n + n * (n + 1) / 2;
	bool lines = false, polynomials = false;
	int r = 0;

	for (size_t i = 0; i < job->request->trainer_count; i++) {
		const struct trainer *trainer = job->request->trainers[i];

		lines = lines || (trainer->fit && !trainer->is_polynomial);
		polynomials = polynomials || (trainer->fit && trainer->is_polynomial);
	}
	if (lines)
		r = new_triangles(job, n + 2, &stream->lines, diag);
	if (r == 0 && polynomials)
		r = new_triangles(job, terms + 2, &stream->polynomials, diag);
	if (r == 0 && (lines || polynomials))
		r = fill_triangles(stream, job->request->plan.folds, terms + 2, diag);
	return r;
}

static int fit_line(const struct job *job, const struct stream *stream,
		    const struct trainer *trainer, uint32_t held_out, struct predictor *ret,
		    struct diag *diag)
{
	const struct triangle *triangles =
		trainer->is_polynomial ? stream->polynomials : stream->lines;
	CLEANUP(triangle_release) struct triangle all = { .columns = 0 };
	CLEANUP(design_release) struct design design = { .rows = 0 };
	int r = triangle_new(&all, triangles[0].lapack, triangles[0].columns);

	for (uint32_t fold = 0; r == 0 && fold < job->request->plan.folds; fold++) {
		if (fold != held_out)
			r = triangle_merge(&all, &triangles[fold]);
	}
	if (r == 0)
		r = triangle_reduce(&all);
	if (r == 0)
		r = design_of_triangle(&all, &design);
	if (r == -EINVAL)
		return diag_set(diag, r, "there are fewer rows than terms");
	return r < 0 ? r : trainer->fit(&design, stream->rows.feature_count, ret, diag);
}

/* Samples. */

/* Takes a row of each stratum first, and then each k-th one. */
static int take_sample(struct stream *stream, double *due, size_t groups, double rate,
		       struct diag *diag)
{
	const struct streamed_rows *rows = &stream->rows;
	int r = 0;

	for (uint64_t i = 0; r == 0 && i < stream->batches; i++) {
		r = streamed_rows_read(&stream->rows, i, stream->batch, diag);
		for (size_t row = 0; r == 0 && row < stream->batch->rows; row++) {
			double load =
				stream->batch->x[row * rows->feature_count + rows->main_feature];
			size_t class =
				load > 0 ? (size_t)fmin(load * LOAD_CLASSES, LOAD_CLASSES - 1) : 0;
			double *stratum =
				&due[stream->batch->group[row] % groups * LOAD_CLASSES + class];

			*stratum -= rate;
			if (*stratum > 0)
				continue;
			*stratum += 1;
			held_rows_add(&stream->sample, stream->batch, row, rows->feature_count);
		}
	}
	return r;
}

static int open_sample(const struct job *job, struct stream *stream, struct diag *diag)
{
	size_t most = 0, groups, strata, row = (stream->rows.feature_count + 2) * sizeof(double);
	CLEANUP_FREE double *due = NULL;
	int r;

	for (size_t i = 0; i < job->request->trainer_count; i++) {
		if (job->request->trainers[i]->sample_rows > most)
			most = job->request->trainers[i]->sample_rows;
	}
	if (most == 0)
		return 0;
	if (most > job->memory / 16 / row)
		most = job->memory / 16 / row;
	groups = stream->rows.group_count;
	if (groups > most / (4 * LOAD_CLASSES) + 1)
		groups = most / (4 * LOAD_CLASSES) + 1;
	strata = groups * LOAD_CLASSES;
	due = calloc(strata, sizeof(*due));
	r = held_rows_reserve(&stream->sample, most + strata, stream->rows.feature_count);
	if (!due || r < 0)
		return -ENOMEM;
	return take_sample(stream, due, groups, fmin(1, (double)most / (double)stream->rows.rows),
			   diag);
}

/* At most @most rows of @from that are not in the fold that is held out. */
static int part_of_sample(const struct stream *stream, uint32_t held_out, size_t most,
			  struct held_rows *ret)
{
	const struct held_rows *from = &stream->sample;
	size_t n = stream->rows.feature_count, step = (from->rows + most - 1) / most;

	if (held_rows_reserve(ret, from->rows + 1, n) < 0)
		return -ENOMEM;
	for (size_t row = 0; row < from->rows; row += step) {
		if (stream->rows.fold[from->group[row]] == held_out)
			continue;
		memcpy(ret->x + ret->rows * n, from->x + row * n, n * sizeof(*ret->x));
		ret->y[ret->rows++] = from->y[row];
	}
	return 0;
}

static struct training_task task_of(const struct job *job, const struct stream *stream,
				    const struct held_rows *held)
{
	return (struct training_task){
		.x = held->x,
		.y = held->y,
		.rows = held->rows,
		.features = stream->rows.feature_count,
		.main_feature = stream->rows.main_feature,
		.is_load = stream->rows.is_load,
		.grows = stream->rows.grows,
		.ratios = stream->rows.ratios,
		.ratio_count = stream->rows.ratio_count,
		.seed = job->request->plan.seed,
	};
}

static int train_on_sample(const struct job *job, const struct stream *stream,
			   const struct trainer *trainer, uint32_t held_out, double *stretch,
			   struct predictor *ret, struct diag *diag)
{
	CLEANUP(held_rows_release) struct held_rows part = { .rows = 0 };
	struct training_task task;
	int r = part_of_sample(stream, held_out, trainer->sample_rows, &part);

	if (r < 0)
		return r;
	task = task_of(job, stream, &part);
	return trainer_train(trainer, &task, stretch, ret, diag);
}

/* Boosted trees. */

static int open_blocks(const struct job *job, struct stream *stream)
{
	size_t row = BLOCK_FEATURE * stream->rows.feature_count + BLOCK_ROW;
	size_t most = job->memory / 2 / row, rows;
	struct random random = { job->request->plan.seed };
	bool wanted = false;

	for (size_t i = 0; i < job->request->trainer_count; i++)
		wanted = wanted || job->request->trainers[i]->boost;
	if (!wanted)
		return 0;
	rows = most < TRAINING_ROWS_MAX ? most : TRAINING_ROWS_MAX;
	stream->block_batches = rows / STREAM_BATCH ? rows / STREAM_BATCH : 1;
	stream->blocks = (stream->batches + stream->block_batches - 1) / stream->block_batches;
	stream->blocks = stream->blocks ? stream->blocks : 1;
	/* Blocks of the same size, so that no tree sees only the rest. */
	stream->block_batches = (stream->batches + stream->blocks - 1) / stream->blocks;
	stream->order = calloc(stream->batches + 1, sizeof(*stream->order));
	if (!stream->order ||
	    held_rows_reserve(&stream->block, stream->block_batches * STREAM_BATCH,
			      stream->rows.feature_count) < 0)
		return -ENOMEM;
	random_order(&random, stream->order, stream->batches);
	return 0;
}

struct block_reader {
	const struct job *job;
	struct stream *stream;
};

static int read_block(void *context, size_t block, struct training_task *ret, struct diag *diag)
{
	const struct block_reader *reader = context;
	struct stream *stream = reader->stream;
	size_t first = block * stream->batches / stream->blocks;
	size_t end = (block + 1) * stream->batches / stream->blocks;
	int r = 0;

	stream->block.rows = 0;
	for (size_t i = first; r == 0 && i < end; i++) {
		const struct streamed_batch *batch = stream->batch;

		r = streamed_rows_read(&stream->rows, stream->order[i], stream->batch, diag);
		for (size_t row = 0; r == 0 && row < batch->rows; row++) {
			if (stream->rows.fold[batch->group[row]] != stream->held_out)
				held_rows_add(&stream->block, batch, row,
					      stream->rows.feature_count);
		}
	}
	if (r == 0 && stream->block.rows == 0)
		return diag_set(diag, -EINVAL, "a block of rows has none to train on");
	*ret = task_of(reader->job, stream, &stream->block);
	return r;
}

static int boost(const struct job *job, struct stream *stream, const struct trainer *trainer,
		 uint32_t held_out, struct predictor *ret, struct diag *diag)
{
	struct block_reader reader = { job, stream };
	const struct training_blocks blocks = { .count = stream->blocks,
						.read = read_block,
						.context = &reader,
						.mean_w = stream->rows.mean_w };

	stream->held_out = held_out;
	return trainer->boost(&blocks, ret, diag);
}

/* The predictor of all rows but those of a fold. */
static int make_predictor(const struct job *job, struct stream *stream,
			  const struct trainer *trainer, uint32_t held_out, double *stretch,
			  struct predictor *ret, struct diag *diag)
{
	struct diag why = { "" };
	int r;

	for (size_t i = 0; i < stream->rows.feature_count; i++)
		stretch[i] = 1;
	if (trainer->fit)
		r = fit_line(job, stream, trainer, held_out, ret, &why);
	else if (trainer->boost)
		r = boost(job, stream, trainer, held_out, ret, &why);
	else
		return train_on_sample(job, stream, trainer, held_out, stretch, ret, diag);
	if (r == 0)
		r = predictor_check(ret, &why);
	return r < 0 && r != -ENOMEM ? diag_set(diag, r, "%s: %.400s", trainer->name, why.text) : r;
}

/* Errors. */

struct fold_predictor {
	struct predictor predictor;
	double stretch[PREDICTOR_FEATURES_MAX];
};

static void free_predictors(struct fold_predictor *predictors, size_t count)
{
	for (size_t i = 0; predictors && i < count; i++)
		predictor_release(&predictors[i].predictor);
	free(predictors);
}

/* Of how many batches one is judged. */
static uint64_t judged_step(const struct stream *stream, const struct predictor *predictor)
{
	uint64_t most = UINT64_MAX;

	if (predictor->form == PREDICTOR_TREES)
		most = JUDGED_TREES;
	else if (predictor->form == PREDICTOR_NEIGHBOURS || predictor->form == PREDICTOR_KERNEL)
		most = JUDGED_ROWS;
	return stream->rows.rows / most + 1;
}

static void judge_batch(const struct stream *stream, const struct fold_predictor *predictors,
			struct streamed_score *score)
{
	const struct streamed_batch *batch = stream->batch;
	size_t n = stream->rows.feature_count;
	double x[PREDICTOR_FEATURES_MAX];

	for (size_t row = 0; row < batch->rows; row++) {
		const struct fold_predictor *fold =
			&predictors[stream->rows.fold[batch->group[row]]];

		for (size_t i = 0; i < n; i++)
			x[i] = batch->x[row * n + i] * fold->stretch[i];
		streamed_score_add(score, batch->group[row], batch->y[row],
				   fmax(predictor_watts(&fold->predictor, x), 0));
	}
}

static int judge(struct stream *stream, const struct fold_predictor *predictors, uint64_t seed,
		 struct training_result *ret)
{
	CLEANUP(streamed_score_release) struct streamed_score score = { .groups = 0 };
	uint64_t step = judged_step(stream, &predictors[0].predictor);
	int r = streamed_score_new(&score, stream->rows.group_count, seed);

	for (uint64_t i = 0; r == 0 && i < stream->batches; i += step) {
		r = streamed_rows_read(&stream->rows, i, stream->batch, &ret->failure);
		if (r == 0)
			judge_batch(stream, predictors, &score);
	}
	return r < 0 ? r : streamed_score_finish(&score, ret);
}

static int validate(const struct job *job, struct stream *stream, const struct trainer *trainer,
		    struct training_result *ret)
{
	uint32_t folds = job->request->plan.folds;
	struct fold_predictor *predictors = calloc(folds, sizeof(*predictors));
	int r = predictors ? 0 : -ENOMEM;

	for (uint32_t fold = 0; r == 0 && fold < folds; fold++)
		r = make_predictor(job, stream, trainer, fold, predictors[fold].stretch,
				   &predictors[fold].predictor, &ret->failure);
	if (r == 0)
		r = judge(stream, predictors, job->request->plan.seed, ret);
	if (trainer->sample_rows > 0 && stream->sample.rows < stream->rows.rows)
		ret->sample = stream->sample.rows < trainer->sample_rows ? stream->sample.rows
									 : trainer->sample_rows;
	free_predictors(predictors, folds);
	return r;
}

static int make_component_model(void *context, size_t trainer, size_t component,
				struct model_component *ret, struct diag *diag)
{
	struct job *job = context;
	struct stream *stream = &job->streams[component];
	const struct streamed_rows *rows = &stream->rows;
	double stretch[PREDICTOR_FEATURES_MAX] = { 0 };
	int r = make_predictor(job, stream, job->request->trainers[trainer], ALL_FOLDS, stretch,
			       &ret->predictor, diag);

	if (r == 0)
		r = training_rows_describe(rows->features, rows->feature_count, stretch, ret);
	if (r < 0)
		return r;
	ret->minimum_w = rows->minimum_w;
	ret->maximum_w = rows->maximum_w;
	return 0;
}

static int open_stream(struct job *job, const struct streamed_table *table, size_t component,
		       struct diag *diag)
{
	const struct training_request *request = job->request;
	struct stream *stream = &job->streams[component];
	int r;

	stream->batch = calloc(1, sizeof(*stream->batch));
	if (!stream->batch)
		return -ENOMEM;
	r = streamed_rows_open(table, request->features, request->feature_count,
			       request->components[component], &request->plan, &stream->rows, diag);
	if (r < 0)
		return r;
	stream->batches = (size_t)streamed_rows_batches(&stream->rows);
	r = open_lines(job, stream, diag);
	if (r == 0)
		r = open_sample(job, stream, diag);
	return r < 0 ? r : open_blocks(job, stream);
}

static int validate_all(struct job *job, struct training_report *report)
{
	const struct training_request *request = job->request;

	for (size_t t = 0; t < request->trainer_count; t++) {
		for (size_t c = 0; c < request->component_count; c++) {
			int r;

			if (request->progress)
				request->progress(request->context, request->trainers[t]->name,
						  request->components[c]);
			r = validate(job, &job->streams[c], request->trainers[t],
				     &report->results[t][c]);
			if (r == -ENOMEM)
				return r;
		}
	}
	return 0;
}

int streamed_training_run(const struct streamed_table *table,
			  const struct training_request *request, size_t memory,
			  struct trained_model *model, struct training_report *report,
			  struct diag *diag)
{
	CLEANUP(job_release)
	struct job job = { .request = request, .memory = memory / (request->component_count + 1) };
	int r = model_choice_begin(request, report, diag);

	if (r == 0 && request->split_column)
		return diag_set(diag, -EINVAL,
				"--split-column takes rows in memory, and these do not fit: give "
				"more --memory, or hold out machines with --group-by");
	for (size_t c = 0; r == 0 && c < request->component_count; c++) {
		r = open_stream(&job, table, c, diag);
		report->rows[c] = (size_t)job.streams[c].rows.rows;
		report->left_out[c] = (size_t)job.streams[c].rows.left_out;
	}
	if (r == 0)
		r = validate_all(&job, report);
	if (r == 0 && request->only_errors)
		r = model_choice_check(request, report, diag);
	else if (r == 0)
		r = model_choice_make(request, make_component_model, &job, model, report, diag);
	return r == -ENOMEM ? diag_set(diag, r, "out of memory") : r;
}
