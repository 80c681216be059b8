// SPDX-License-Identifier: Apache-2.0
/*
 * The addition for another machine to the bound of a model: the constants of src/model/selection.c,
 * and the part of rows that lie within the bound, also where the constants were fitted without both
 * machines of a pair. bench/other_machine.py makes the models and runs this.
 *
 *     bench-other_machine SPECPOWER.csv [MODEL.json ROWS.csv]…
 *
 * Pairs are of two tables that are never mixed: SPECpower's machine types, each as the curve of its
 * rows, and the models, each asked for the rows of the others. Of a pair the ratio that its rows
 * need is what is left of the error beside the model's own bound, as a part of the answer.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "model/selection.h"
#include "model/trained_model.h"

#define TYPES_MAX    400
#define LEVELS_MAX   64
#define MODELS_MAX   64
#define NEEDS_MAX    2000000
#define LINE_SIZE    4096
#define FOLDS        10
#define COVERED      0.9
#define KINDS        (MATCH_OTHER + 1)
#define SLOPES       40
#define SLOPE_STEP   0.02
#define ACCEPTED_MAX SELECTION_ERROR_MAX

struct machine_type {
	unsigned number;
	struct machine_spec machine;
	double load[LEVELS_MAX], watts[LEVELS_MAX];
	size_t levels;
};

/* One row of a pair: the ratio that it needs, and what the pair is. */
struct need {
	float ratio, distance, weight;
	unsigned short kind, from, to;
	bool is_accepted,
		is_rows; /* the error that is expected is not above the limit; of a model */
};

static struct machine_type types[TYPES_MAX];
static size_t type_count;
static struct need *needs;
static size_t need_count;

static void die(const char *what, const char *why)
{
	(void)fprintf(stderr, "bench-other_machine: %s: %s\n", what, why);
	exit(1);
}

static void add_need(const struct model_choice *choice, double ratio, double weight, size_t from,
		     size_t to, bool is_rows)
{
	if (need_count == NEEDS_MAX)
		die("rows", "too many");
	needs[need_count++] = (struct need){
		.ratio = (float)fmin(ratio, 100),
		.distance = (float)choice->distance,
		.weight = (float)weight,
		.kind = (unsigned short)choice->match,
		.from = (unsigned short)from,
		.to = (unsigned short)to,
		.is_accepted = choice->looseness <= ACCEPTED_MAX,
		.is_rows = is_rows,
	};
}

/* ---- machine types ---- */

static void add_level(struct machine_type *type, double load, double watts)
{
	size_t at = type->levels;

	if (at == LEVELS_MAX)
		return;
	for (; at > 0 && type->load[at - 1] > load; at--) {
		type->load[at] = type->load[at - 1];
		type->watts[at] = type->watts[at - 1];
	}
	type->load[at] = load;
	type->watts[at] = watts;
	type->levels++;
}

static void read_type_row(const char *row)
{
	double cores, chips, memory, frequency, time_ms, hits, watts;
	char processor[MODEL_NAME_MAX];
	struct machine_type *type;
	unsigned number;

	if (sscanf(row, "%u,%95[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf", &number, processor, &cores,
		   &chips, &memory, &frequency, &time_ms, &hits, &watts) != 9)
		return;
	if (type_count == 0 || types[type_count - 1].number != number)
		type_count++;
	if (type_count > TYPES_MAX)
		die("machine types", "too many");
	type = &types[type_count - 1];
	type->number = number;
	(void)snprintf(type->machine.processor, sizeof(type->machine.processor), "%s", processor);
	type->machine.cores = (uint32_t)cores;
	type->machine.chips = (uint32_t)chips;
	type->machine.memory_gb = (uint32_t)memory;
	type->machine.frequency_mhz = (uint32_t)frequency;
	add_level(type, time_ms / 1000 / cores, watts);
}

static double watts_at(const struct machine_type *type, double load)
{
	size_t i = 1;
	double share;

	if (load <= type->load[0])
		return type->watts[0];
	while (i < type->levels && load > type->load[i])
		i++;
	if (i == type->levels)
		return type->watts[i - 1];
	share = (load - type->load[i - 1]) / (type->load[i] - type->load[i - 1]);
	return type->watts[i - 1] + share * (type->watts[i] - type->watts[i - 1]);
}

static void add_type_pairs(void)
{
	for (size_t a = 0; a < type_count; a++) {
		const struct model_candidate candidate = { .machine = &types[a].machine };

		for (size_t b = 0; b < type_count; b++) {
			struct model_choice choice;

			if (a == b)
				continue;
			model_judge(&candidate, &types[b].machine, &choice);
			for (size_t i = 0; i < types[b].levels; i++) {
				double watts =
					watts_at(&types[a], types[b].load[i]) * choice.core_ratio;

				add_need(&choice, fabs(watts - types[b].watts[i]) / watts,
					 1.0 / (double)types[b].levels, a, b, false);
			}
		}
	}
}

/* ---- models, and rows of other machines ---- */

struct table {
	char *names[PREDICTOR_FEATURES_MAX + 2];
	size_t columns, rows;
	double *values;
};

static void read_table(const char *path, struct table *ret)
{
	char line[LINE_SIZE], *rest, *word;
	FILE *file = fopen(path, "re");

	if (!file || !fgets(line, sizeof(line), file))
		die(path, strerror(errno));
	rest = line;
	while ((word = strsep(&rest, ",\n")) && *word && ret->columns < ARRAY_SIZE(ret->names))
		ret->names[ret->columns++] = strdup(word);
	while (fgets(line, sizeof(line), file)) {
		ret->values = reallocarray(ret->values, (ret->rows + 1) * ret->columns,
					   sizeof(*ret->values));
		rest = line;
		for (size_t i = 0; i < ret->columns; i++) {
			word = strsep(&rest, ",\n");
			ret->values[ret->rows * ret->columns + i] =
				word ? strtod(word, NULL) : (double)NAN;
		}
		ret->rows++;
	}
	(void)fclose(file);
}

static struct trained_model models[MODELS_MAX];
static struct table tables[MODELS_MAX];
static size_t model_count;

static void read_models(int count, char **paths)
{
	for (int i = 0; i + 1 < count && model_count < MODELS_MAX; i += 2, model_count++) {
		struct diag diag = { "" };
		char *text;
		size_t len;

		if (read_file_alloc(paths[i], MODEL_FILE_MAX, &text, &len) < 0 ||
		    trained_model_parse(&models[model_count], paths[i], text, len, &diag) < 0)
			die(paths[i], diag.text);
		free(text);
		read_table(paths[i + 1], &tables[model_count]);
	}
}

/* Do both estimate the same component from the same features? */
static bool are_comparable(size_t a, size_t b)
{
	const struct model_component *one = models[a].components, *other = models[b].components;

	return strcmp(one->name, other->name) == 0 && one->feature_count == other->feature_count &&
	       strcmp(one->features[0].name, other->features[0].name) == 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

static void add_model_pair(size_t a, size_t b)
{
	double *ratios = calloc(tables[b].rows, sizeof(*ratios));

	const struct model_candidate candidate = { .machine = &models[a].machine,
						   .component = models[a].components[0].name };
	const struct table *table = &tables[b];
	struct model_columns columns;
	struct model_choice choice;
	size_t inside = 0, within = 0;
	struct diag diag = { "" };

	model_judge(&candidate, &models[b].machine, &choice);
	if (trained_model_bind(&models[a], 0, (const char *const *)table->names, table->columns,
			       &columns, &diag) < 0)
		die("rows", diag.text);
	for (size_t i = 0; i < table->rows; i++) {
		const double *row = table->values + i * table->columns;
		double values[ARRAY_SIZE(table->names)], error, own, watts;
		struct model_answer answer;

		for (size_t c = 0; c + 1 < table->columns; c++)
			values[c] = row[c] / choice.core_ratio;
		trained_model_predict(&models[a], 0, &columns, values, &answer);
		watts = answer.watts * choice.core_ratio;
		own = answer.bound_w * choice.core_ratio;
		error = fabs(watts - row[table->columns - 1]);
		inside += error <= own;
		within += error <= hypot(own, choice.bound_ratio * watts);
		ratios[i] = sqrt(fmax(0, error * error - own * own)) / watts;
		add_need(&choice, ratios[i], 1.0 / (double)table->rows, TYPES_MAX + a,
			 TYPES_MAX + b, true);
	}
	qsort(ratios, table->rows, sizeof(*ratios), compare_doubles);
	(void)printf("%-8s %-16s %s (%u GB) on %s (%u GB), %s, distance %.2f: %.0f %% by its own "
		     "bound, %.0f %% with %.2f for the other machine; needs %.2f\n",
		     models[a].components[0].name, models[a].components[0].features[0].name,
		     models[a].machine.processor, models[a].machine.memory_gb,
		     models[b].machine.processor, models[b].machine.memory_gb,
		     model_match_name(choice.match), choice.distance,
		     100 * (double)inside / (double)table->rows,
		     100 * (double)within / (double)table->rows, choice.bound_ratio,
		     ratios[(size_t)(COVERED * (double)table->rows)]);
	free(ratios);
}

static void add_model_pairs(void)
{
	for (size_t a = 0; a < model_count; a++)
		for (size_t b = 0; b < model_count; b++)
			if (a != b && are_comparable(a, b))
				add_model_pair(a, b);
}

/* ---- the fit ---- */

struct line {
	double base, slope, loss;
};

static struct need **sorted;
static double sorted_slope;

static double rest_of(const struct need *need)
{
	return (double)need->ratio - sorted_slope * (double)need->distance;
}

static int compare_rests(const void *a, const void *b)
{
	double one = rest_of(*(struct need *const *)a), other = rest_of(*(struct need *const *)b);

	return (one > other) - (one < other);
}

static double quantile(size_t count)
{
	double all = 0, sum = 0;
	size_t i = 0;

	for (size_t k = 0; k < count; k++)
		all += (double)sorted[k]->weight;
	while (i + 1 < count && sum + (double)sorted[i]->weight < COVERED * all)
		sum += (double)sorted[i++]->weight;
	return rest_of(sorted[i]);
}

static double loss_of(const struct line *line, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		double over = (double)sorted[i]->ratio - line->base -
			      line->slope * (double)sorted[i]->distance;

		sum += (double)sorted[i]->weight * over * (over > 0 ? COVERED : COVERED - 1);
	}
	return sum;
}

/* Quantile regression; of the needs of @kind that no machine of fold @left_out has a part in. */
static bool is_left_out(const struct need *need, int fold)
{
	return need->from % FOLDS == fold || need->to % FOLDS == fold;
}

static bool is_fitted(const struct need *need, unsigned kind)
{
	return need->kind == kind && (need->is_accepted || kind == MATCH_OTHER);
}

static struct line fit(unsigned kind, int left_out)
{
	struct line best = { .loss = (double)INFINITY };
	size_t count = 0;

	for (size_t i = 0; i < need_count; i++)
		if (is_fitted(&needs[i], kind) && !is_left_out(&needs[i], left_out) &&
		    !needs[i].is_rows)
			sorted[count++] = &needs[i];
	for (int step = 0; step < SLOPES && count; step++) {
		struct line line = { .slope = step * SLOPE_STEP };

		sorted_slope = line.slope;
		qsort(sorted, count, sizeof(struct need *), compare_rests);
		line.base = fmax(0, quantile(count));
		line.loss = loss_of(&line, count);
		if (line.loss < best.loss)
			best = line;
	}
	return best;
}

/* Judges pairs of models whose machines are both, or one of them, in the fold that was left out. */
static void judge_kind(unsigned kind)
{
	double within[2] = { 0 }, all[2] = { 0 };
	struct line line;

	for (int fold = 0; fold < FOLDS; fold++) {
		line = fit(kind, fold);
		for (size_t i = 0; i < need_count; i++) {
			const struct need *need = &needs[i];

			if (!is_fitted(need, kind) || !is_left_out(need, fold))
				continue;
			all[need->is_rows] += (double)need->weight;
			if ((double)need->ratio <= line.base + line.slope * (double)need->distance)
				within[need->is_rows] += (double)need->weight;
		}
	}
	line = fit(kind, -1);
	(void)printf("%-10s bound %.2f + %.2f x distance; held out: %.1f %% of SPECpower's rows, "
		     "%.1f %% of those of models\n",
		     model_match_name((enum model_match)kind), line.base, line.slope,
		     100 * within[0] / all[0], 100 * within[1] / all[1]);
}

/* One machine left out of the fit at a time: the processor's names of its models are the same. */
static bool has_machine(const struct need *need, const struct machine_spec *machine)
{
	const struct machine_spec *from = &models[need->from - TYPES_MAX].machine;
	const struct machine_spec *to = &models[need->to - TYPES_MAX].machine;

	return memcmp(from, machine, sizeof(*from)) == 0 || memcmp(to, machine, sizeof(*to)) == 0;
}

static bool is_of_package(const struct need *need)
{
	return need->is_rows && need->kind != MATCH_OTHER &&
	       strcmp(models[need->from - TYPES_MAX].components[0].name, "package") == 0;
}

static double fit_packages(const struct machine_spec *left_out)
{
	size_t count = 0;

	for (size_t i = 0; i < need_count; i++)
		if (is_of_package(&needs[i]) && !(left_out && has_machine(&needs[i], left_out)))
			sorted[count++] = &needs[i];
	sorted_slope = 0;
	qsort(sorted, count, sizeof(struct need *), compare_rests);
	return count ? quantile(count) : (double)NAN;
}

/*
 * The machines are few and resemble each other, so that a fit without one of them knows little of
 * what it needs. The bound is at least what SPECpower's types of one family need at no distance,
 * @least; these machines are not among them.
 */
static void judge_packages(double least)
{
	(void)printf("packages   bound %.2f, at least %.2f\n", fit_packages(NULL), least);
	for (size_t m = 0; m < model_count; m++) {
		double fitted = fit_packages(&models[m].machine), bound = fmax(fitted, least);
		double within = 0, within_fitted = 0, all = 0;

		for (size_t i = 0; i < need_count; i++) {
			if (!is_of_package(&needs[i]) ||
			    !has_machine(&needs[i], &models[m].machine))
				continue;
			all += (double)needs[i].weight;
			within += (double)needs[i].ratio <= bound ? (double)needs[i].weight : 0;
			within_fitted +=
				(double)needs[i].ratio <= fitted ? (double)needs[i].weight : 0;
		}
		if (all > 0)
			(void)printf(
				"  without %s (%u GB): bound %.2f, %.1f %% of its pairs; of the "
				"other pairs alone %.2f, %.1f %%\n",
				models[m].machine.processor, models[m].machine.memory_gb, bound,
				100 * within / all, fitted, 100 * within_fitted / all);
	}
}

int main(int argc, char **argv)
{
	char row[LINE_SIZE];
	FILE *file = argc > 1 ? fopen(argv[1], "re") : NULL;

	if (!file)
		die("usage", "bench-other_machine SPECPOWER.csv [MODEL.json ROWS.csv]...");
	needs = calloc(NEEDS_MAX, sizeof(*needs));
	sorted = calloc(NEEDS_MAX, sizeof(struct need *));
	if (!needs || !sorted)
		die("memory", "there is too little");
	while (fgets(row, sizeof(row), file))
		read_type_row(row);
	(void)fclose(file);
	add_type_pairs();
	read_models(argc - 2, argv + 2);
	add_model_pairs();
	for (unsigned kind = 0; kind < KINDS; kind++)
		if (kind != MATCH_MACHINE && kind != MATCH_POOLED)
			judge_kind(kind);
	judge_packages(fit(MATCH_FAMILY, -1).base);
	return 0;
}
