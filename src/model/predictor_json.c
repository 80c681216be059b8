// SPDX-License-Identifier: Apache-2.0
#include "model/predictor_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define PLACE_MAX 96

/* The parameters of curves, in the order of predictor.curve.c. */
static const char *const curve_keys[][4] = {
	[PREDICTOR_LOGARITHMIC] = { "a", "b", "c", NULL },
	[PREDICTOR_LOGISTIC] = { "height", "midpoint", "steepness", "offset" },
	[PREDICTOR_EXPONENTIAL] = { "a", "b", "c", NULL },
};

static int read_tree_nodes(const struct json_source *source, const json_t *json, const char *place,
			   struct predictor *predictor)
{
	CLEANUP_FREE uint32_t *left = NULL;
	CLEANUP_FREE uint32_t *feature = NULL;
	CLEANUP_FREE uint32_t *missing = NULL;
	CLEANUP_FREE double *threshold = NULL;
	bool or_equal = json_is_true(json_object_get(json, "or_equal"));
	uint32_t last_feature = (uint32_t)(predictor->features + predictor->trees.ratio_count) - 1;
	size_t count;
	int r = json_value_numbers(source, json, place, "threshold", PREDICTOR_NODES_MAX,
				   &threshold, &count);

	if (r < 0 ||
	    (r = json_value_counts(source, json, place, "left", count, UINT32_MAX, &left)) < 0 ||
	    (r = json_value_counts(source, json, place, "feature", count, last_feature, &feature)) <
		    0 ||
	    (r = json_value_counts(source, json, place, "missing_left", count, 1, &missing)) < 0)
		return r;
	predictor->trees.nodes = calloc(count + 1, sizeof(*predictor->trees.nodes));
	if (!predictor->trees.nodes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!(fabs(threshold[i]) <= 3.4e38))
			return json_value_refuse(source, place, "\"threshold\"[%zu] is too large",
						 i);
		predictor->trees.nodes[i] = (struct tree_node){
			.left = left[i],
			.feature = (uint16_t)feature[i],
			.missing_left = missing[i] != 0,
			.or_equal = or_equal,
			.threshold = (float)threshold[i],
		};
	}
	predictor->trees.node_count = count;
	return 0;
}

/* Pairs of features, one after the other: numerator, denominator. */
static int read_ratios(const struct json_source *source, const json_t *json, const char *place,
		       struct predictor *predictor)
{
	CLEANUP_FREE uint32_t *pairs = NULL;
	const json_t *ratios;
	size_t count;
	int r;

	if (!json_object_get(json, "ratios"))
		return 0;
	r = json_value_array(source, json, place, "ratios", 2 * (size_t)PREDICTOR_RATIOS_MAX,
			     &ratios);
	if (r < 0)
		return r;
	count = json_array_size(ratios);
	if (count % 2)
		return json_value_refuse(source, place, "\"ratios\" are pairs, not %zu numbers",
					 count);
	r = json_value_counts(source, json, place, "ratios", count,
			      (uint32_t)predictor->features - 1, &pairs);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count / 2; i++)
		predictor->trees.ratios[i] = (struct feature_ratio){
			.numerator = (uint16_t)pairs[2 * i],
			.denominator = (uint16_t)pairs[2 * i + 1],
		};
	predictor->trees.ratio_count = count / 2;
	return 0;
}

static int read_trees(const struct json_source *source, const json_t *json, const char *place,
		      struct predictor *predictor)
{
	const json_t *roots;
	int r = read_ratios(source, json, place, predictor);

	if (r < 0 || (r = read_tree_nodes(source, json, place, predictor)) < 0 ||
	    (r = json_value_number(source, json, place, "base", &predictor->trees.base)) < 0 ||
	    (r = json_value_number_or(source, json, place, "rate", 1, &predictor->trees.rate)) <
		    0 ||
	    (r = json_value_array(source, json, place, "roots", PREDICTOR_TREES_MAX, &roots)) < 0)
		return r;
	predictor->trees.root_count = json_array_size(roots);
	return json_value_counts(source, json, place, "roots", predictor->trees.root_count,
				 UINT32_MAX, &predictor->trees.roots);
}

static int read_rows(const struct json_source *source, const json_t *json, const char *place,
		     struct predictor *predictor)
{
	uint64_t nearest;
	size_t numbers;
	int r = json_value_numbers(source, json, place, "values", PREDICTOR_ROWS_MAX,
				   &predictor->rows.values, &predictor->rows.row_count);

	if (r < 0 ||
	    (r = json_value_numbers(source, json, place, "rows",
				    predictor->rows.row_count * predictor->features,
				    &predictor->rows.rows, &numbers)) < 0 ||
	    (r = json_value_count(source, json, place, "nearest", PREDICTOR_NEAREST_MAX,
				  &nearest)) < 0 ||
	    (r = json_value_number_or(source, json, place, "gamma", 0, &predictor->rows.gamma)) < 0)
		return r;
	if (numbers != predictor->rows.row_count * predictor->features)
		return json_value_refuse(source, place,
					 "\"rows\" has %zu numbers, not %zu rows of %zu", numbers,
					 predictor->rows.row_count, predictor->features);
	predictor->rows.nearest = nearest;
	return json_value_number_or(source, json, place, "intercept", 0,
				    &predictor->rows.intercept);
}

static int read_curve(const struct json_source *source, const json_t *json, const char *place,
		      struct predictor *predictor)
{
	const char *const *keys = curve_keys[predictor->form];
	uint64_t feature;
	int r = json_value_count(source, json, place, "feature", predictor->features - 1, &feature);

	for (size_t i = 0; i < ARRAY_SIZE(curve_keys[0]) && keys[i] && r == 0; i++)
		r = json_value_number(source, json, place, keys[i], &predictor->curve.c[i]);
	if (r == 0)
		predictor->curve.feature = feature;
	return r;
}

static int read_form(const struct json_source *source, const json_t *json, const char *place,
		     struct predictor *predictor)
{
	switch (predictor->form) {
	case PREDICTOR_LINEAR:
	case PREDICTOR_POLYNOMIAL:
		return json_value_numbers(source, json, place, "weights",
					  predictor_terms(predictor->form, predictor->features),
					  &predictor->linear.weights, &predictor->linear.terms);
	case PREDICTOR_LOGARITHMIC:
	case PREDICTOR_LOGISTIC:
	case PREDICTOR_EXPONENTIAL:
		return read_curve(source, json, place, predictor);
	case PREDICTOR_TREES:
		return read_trees(source, json, place, predictor);
	case PREDICTOR_NEIGHBOURS:
	case PREDICTOR_KERNEL:
		return read_rows(source, json, place, predictor);
	case PREDICTOR_FORM_COUNT:
		break;
	}
	return json_value_refuse(source, place,
				 "\"form\" must be linear, polynomial, logarithmic, logistic, "
				 "exponential, trees, neighbours or kernel");
}

int predictor_json_read(const struct json_source *source, const json_t *component,
			const char *component_place, size_t features, struct predictor *predictor)
{
	char place[PLACE_MAX], form[32];
	const json_t *json;
	struct diag diag = { "" };
	int r = json_value_object(source, component, component_place, "predictor", &json);

	(void)snprintf(place, sizeof(place), "%s.predictor", component_place);
	if (r == 0)
		r = json_value_text(source, json, place, "form", form, sizeof(form));
	if (r < 0)
		return r;
	memset(predictor, 0, sizeof(*predictor));
	predictor->form = predictor_form_find(form);
	predictor->features = features;
	predictor->log_output = json_is_true(json_object_get(json, "log_output"));
	r = read_form(source, json, place, predictor);
	if (r == 0 && predictor_check(predictor, &diag) < 0)
		r = json_value_refuse(source, place, "%s", diag.text);
	return r;
}

/* Nine significant digits give the same number of single precision back. */
static void add_single(struct strbuf *out, float value)
{
	char text[32], *comma;
	int len = snprintf(text, sizeof(text), "%.9g", (double)value);

	comma = memchr(text, ',', (size_t)len); /* in the locale of a program that has one */
	if (comma)
		*comma = '.';
	strbuf_add(out, text, (size_t)len);
}

enum node_part { PART_LEFT, PART_FEATURE, PART_THRESHOLD, PART_MISSING };

static void add_node_part(struct strbuf *out, const struct tree_node *node, enum node_part part)
{
	switch (part) {
	case PART_LEFT:
		strbuf_add_u64(out, node->left);
		break;
	case PART_FEATURE:
		strbuf_add_u64(out, node->feature);
		break;
	case PART_THRESHOLD:
		add_single(out, node->threshold);
		break;
	case PART_MISSING:
		strbuf_add_u64(out, node->missing_left);
		break;
	}
}

static void write_nodes(struct json_writer *writer, const char *key,
			const struct predictor *predictor, enum node_part part)
{
	json_key(writer, key);
	strbuf_add_char(writer->out, '[');
	for (size_t i = 0; i < predictor->trees.node_count; i++) {
		if (i > 0)
			strbuf_add_char(writer->out, ',');
		add_node_part(writer->out, &predictor->trees.nodes[i], part);
	}
	strbuf_add_char(writer->out, ']');
}

static void write_ratios(struct json_writer *writer, const struct predictor *predictor)
{
	if (predictor->trees.ratio_count == 0)
		return;
	json_key(writer, "ratios");
	for (size_t i = 0; i < predictor->trees.ratio_count; i++)
		strbuf_addf(writer->out, "%c%u,%u", i ? ',' : '[',
			    predictor->trees.ratios[i].numerator,
			    predictor->trees.ratios[i].denominator);
	strbuf_add_char(writer->out, ']');
}

static void write_trees(struct json_writer *writer, const struct predictor *predictor)
{
	json_write_number(writer, "base", predictor->trees.base);
	json_write_number(writer, "rate", predictor->trees.rate);
	if (predictor->trees.node_count > 0)
		json_write_flag(writer, "or_equal", predictor->trees.nodes[0].or_equal);
	write_ratios(writer, predictor);
	json_key(writer, "roots");
	strbuf_add_char(writer->out, '[');
	for (size_t i = 0; i < predictor->trees.root_count; i++)
		strbuf_addf(writer->out, "%s%u", i ? "," : "", predictor->trees.roots[i]);
	strbuf_add_char(writer->out, ']');
	write_nodes(writer, "left", predictor, PART_LEFT);
	write_nodes(writer, "feature", predictor, PART_FEATURE);
	write_nodes(writer, "threshold", predictor, PART_THRESHOLD);
	write_nodes(writer, "missing_left", predictor, PART_MISSING);
}

static void write_curve(struct json_writer *writer, const struct predictor *predictor)
{
	const char *const *keys = curve_keys[predictor->form];

	json_write_count(writer, "feature", predictor->curve.feature);
	for (size_t i = 0; i < ARRAY_SIZE(curve_keys[0]) && keys[i]; i++)
		json_write_number(writer, keys[i], predictor->curve.c[i]);
}

static void write_rows(struct json_writer *writer, const struct predictor *predictor)
{
	json_write_count(writer, "nearest", predictor->rows.nearest);
	if (predictor->form == PREDICTOR_KERNEL) {
		json_write_number(writer, "gamma", predictor->rows.gamma);
		json_write_number(writer, "intercept", predictor->rows.intercept);
	}
	json_write_numbers(writer, "values", predictor->rows.values, predictor->rows.row_count);
	json_write_numbers(writer, "rows", predictor->rows.rows,
			   predictor->rows.row_count * predictor->features);
}

void predictor_json_write(struct json_writer *writer, const struct predictor *predictor)
{
	json_key(writer, "predictor");
	json_open(writer, '{');
	json_write_text(writer, "form", predictor_form_name(predictor->form));
	if (predictor->log_output)
		json_write_flag(writer, "log_output", true);
	switch (predictor->form) {
	case PREDICTOR_LINEAR:
	case PREDICTOR_POLYNOMIAL:
		json_write_numbers(writer, "weights", predictor->linear.weights,
				   predictor->linear.terms);
		break;
	case PREDICTOR_LOGARITHMIC:
	case PREDICTOR_LOGISTIC:
	case PREDICTOR_EXPONENTIAL:
		write_curve(writer, predictor);
		break;
	case PREDICTOR_TREES:
		write_trees(writer, predictor);
		break;
	case PREDICTOR_NEIGHBOURS:
	case PREDICTOR_KERNEL:
		write_rows(writer, predictor);
		break;
	case PREDICTOR_FORM_COUNT:
		break;
	}
	json_close(writer, '}');
}
