// SPDX-License-Identifier: Apache-2.0
/* The state of a learner as JSON below a line with its checksum. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "repository/checksum.h"
#include "repository/model_json.h"
#include "repository/node_type.h"
#include "samples/power_column.h"
#include "trainers/learner.h"

#define HEAD      "kepler-online-state 2 "
#define WRITTEN   (JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17))
#define COUNT_MAX 9007199254740992.0 /* whole numbers that a double has exactly */

static size_t width_of(const struct learner *learner)
{
	return 1 + learner->features + learner->components;
}

/* ---- writing ---- */

static json_t *numbers(const double *values, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(list, json_real(values[i]));
	return list;
}

/* All rows of the sample, and how many rows each stratum has seen. */
static void write_sample(const struct learner *learner, json_t *ret)
{
	const struct reservoir *reservoir = &learner->reservoir;
	json_t *rows = json_array(), *seen = json_array();

	for (size_t s = 0; s < RESERVOIR_STRATA; s++) {
		json_t *own = numbers(reservoir->rows[s], reservoir->count[s] * width_of(learner));

		(void)json_array_extend(rows, own);
		json_decref(own);
		(void)json_array_append_new(seen, json_real((double)reservoir->seen[s]));
	}
	(void)json_object_set_new(ret, "rows", rows);
	(void)json_object_set_new(ret, "seen", seen);
}

static json_t *write_counts(const struct learner *learner)
{
	const double counts[] = { (double)learner->taken, (double)learner->left_out,
				  (double)learner->learned, (double)learner->fresh };

	return numbers(counts, ARRAY_SIZE(counts));
}

static json_t *write_json(const struct learner *learner)
{
	json_t *json = json_object(), *columns = json_array(), *held = json_array(),
	       *drift = json_object();
	size_t width = width_of(learner);

	for (size_t i = 0; i < width; i++)
		(void)json_array_append_new(columns, json_string(learner->columns[i]));
	for (size_t i = 0; i < learner->held_count; i++)
		(void)json_array_append_new(
			held, numbers(learner->held[i].rows, learner->held[i].count * width));
	(void)json_object_set_new(drift, "sum", json_real(learner->drift.sum));
	(void)json_object_set_new(drift, "alarm", json_boolean(learner->drift.alarm));
	(void)json_object_set_new(drift, "blocks", json_real((double)learner->drift.blocks));
	(void)json_object_set_new(drift, "run", json_real((double)learner->drift.run));
	(void)json_object_set_new(json, "machine", machine_spec_write(&learner->machine));
	(void)json_object_set_new(json, "columns", columns);
	(void)json_object_set_new(json, "held", held);
	(void)json_object_set_new(json, "open",
				  numbers(learner->open.rows, learner->open.count * width));
	write_sample(learner, json);
	(void)json_object_set_new(json, "drift", drift);
	(void)json_object_set_new(json, "counts", write_counts(learner));
	(void)json_object_set_new(json, "until", json_real(learner->until_s));
	(void)json_object_set_new(json, "trained", json_real(learner->trained_s));
	return json;
}

int learner_save(const struct learner *learner, struct strbuf *out)
{
	CLEANUP(model_json_release) json_t *json = write_json(learner);
	CLEANUP_FREE char *text = json ? json_dumps(json, WRITTEN) : NULL;
	char checksum[CHECKSUM_TEXT_LEN + 1];

	if (!text)
		return -ENOMEM;
	if (checksum_of(text, strlen(text), checksum) < 0)
		return -EIO;
	strbuf_addf(out, HEAD "%s\n", checksum);
	strbuf_add_str(out, text);
	return strbuf_error(out);
}

/* ---- reading ---- */

struct state_reading {
	struct learner *learner;
	const char *name;
	struct diag *diag;
};

static int wrong(const struct state_reading *reading, const char *what)
{
	return diag_set(reading->diag, -EINVAL, "%s: %s", reading->name, what);
}

/* NAN: not a number. */
static double number_of(const json_t *value)
{
	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static bool are_finite(const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			return false;
	}
	return true;
}

/* All numbers of a list, which must be @count finite ones. */
static bool read_numbers(const json_t *list, size_t count, double *ret)
{
	if (json_array_size(list) != count)
		return false;
	for (size_t i = 0; i < count; i++)
		ret[i] = number_of(json_array_get(list, i));
	return are_finite(ret, count);
}

static bool is_count(double value)
{
	return value >= 0 && value <= COUNT_MAX;
}

static int read_columns(const struct state_reading *reading, const json_t *columns)
{
	struct learner *learner = reading->learner;
	size_t before = 1 + learner->features, count = json_array_size(columns);

	if (count < before || count > before + MODEL_COMPONENTS_MAX)
		return wrong(reading, "it has other features");
	for (size_t i = 0; i < count; i++) {
		const char *text = json_string_value(json_array_get(columns, i));
		char component[SAMPLE_NAME_MAX];

		if (!text || strlen(text) >= SAMPLE_NAME_MAX ||
		    (i < before && strcmp(text, learner->columns[i]) != 0) ||
		    (i >= before && !power_column_component(text, component)))
			return wrong(reading, "it has other features");
		(void)snprintf(learner->columns[i], SAMPLE_NAME_MAX, "%s", text);
	}
	learner->components = count - before;
	if (learner->components)
		reservoir_init(&learner->reservoir, count, 1);
	return 0;
}

static int read_block(const struct state_reading *reading, const json_t *list,
		      struct learner_block *ret)
{
	size_t width = width_of(reading->learner), count = json_array_size(list);

	if (!json_is_array(list) || count % width || count / width > LEARNER_BLOCK_ROWS)
		return wrong(reading, "a block has another number of columns, or too many rows");
	ret->rows = calloc(LEARNER_BLOCK_ROWS * width, sizeof(double));
	if (!ret->rows)
		return -ENOMEM;
	if (!read_numbers(list, count, ret->rows))
		return wrong(reading, "a block has a value that is not a number");
	ret->count = count / width;
	return 0;
}

static int read_sample(const struct state_reading *reading, const json_t *json)
{
	struct learner *learner = reading->learner;
	struct reservoir *reservoir = &learner->reservoir;
	const json_t *rows = json_object_get(json, "rows");
	size_t width = width_of(learner), count = json_array_size(rows);
	double row[LEARNER_COLUMNS_MAX], seen[RESERVOIR_STRATA];
	int r = count % width ? -EINVAL : 0;

	for (size_t i = 0; r == 0 && i < count; i += width) {
		for (size_t j = 0; j < width; j++)
			row[j] = number_of(json_array_get(rows, i + j));
		r = are_finite(row, width)
			    ? reservoir_restore(reservoir,
						reservoir_stratum(row[1 + learner->load]), row)
			    : -EINVAL;
	}
	if (r == 0 && !read_numbers(json_object_get(json, "seen"), RESERVOIR_STRATA, seen))
		r = -EINVAL;
	for (size_t s = 0; r == 0 && s < RESERVOIR_STRATA; s++) {
		if (!is_count(seen[s]) || seen[s] < (double)reservoir->count[s])
			r = -EINVAL;
		else
			reservoir->seen[s] = (uint64_t)seen[s];
	}
	return r == 0 || r == -ENOMEM ? r : wrong(reading, "the sample of rows is malformed");
}

static int read_rows(const struct state_reading *reading, const json_t *json)
{
	struct learner *learner = reading->learner;
	const json_t *held = json_object_get(json, "held");
	int r = 0;

	if (json_array_size(held) > LEARNER_BLOCKS)
		return wrong(reading, "it has more blocks than are held out");
	for (size_t i = 0; r == 0 && i < json_array_size(held); i++) {
		learner->held_count++;
		r = read_block(reading, json_array_get(held, i), &learner->held[i]);
		if (r == 0 && !learner->held[i].count)
			r = wrong(reading, "a block is empty");
	}
	if (r == 0)
		r = read_block(reading, json_object_get(json, "open"), &learner->open);
	return r < 0 ? r : read_sample(reading, json);
}

static int read_facts(const struct state_reading *reading, const json_t *json)
{
	struct learner *learner = reading->learner;
	const json_t *drift = json_object_get(json, "drift");
	double counts[4], sum = model_json_number(drift, "sum"),
			  blocks = model_json_number(drift, "blocks"),
			  run = model_json_number(drift, "run");

	learner->until_s = model_json_number(json, "until");
	learner->trained_s = model_json_number(json, "trained");
	if (!read_numbers(json_object_get(json, "counts"), ARRAY_SIZE(counts), counts) ||
	    !(sum >= 0) || !is_count(blocks) || !is_count(run) || !is_count(learner->until_s) ||
	    !is_count(learner->trained_s))
		return wrong(reading, "a count, a time or the drift is malformed");
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (!is_count(counts[i]))
			return wrong(reading, "a count is malformed");
	learner->taken = (uint64_t)counts[0];
	learner->left_out = (uint64_t)counts[1];
	learner->learned = (uint64_t)counts[2];
	learner->fresh = (uint64_t)counts[3];
	learner->drift.sum = sum;
	learner->drift.blocks = (uint64_t)blocks;
	learner->drift.run = (uint64_t)run;
	learner->drift.alarm = json_is_true(json_object_get(drift, "alarm"));
	return 0;
}

int learner_parse(struct learner *learner, const char *name, const char *text, size_t len,
		  struct diag *diag)
{
	const struct state_reading reading = { learner, name, diag };
	CLEANUP(model_json_release) json_t *json = model_json_parse(name, text, len, diag);
	int r = json ? read_columns(&reading, json_object_get(json, "columns")) : -EINVAL;

	if (r == 0)
		r = read_facts(&reading, json);
	if (r == 0 && learner->components)
		r = read_rows(&reading, json);
	return r == -ENOMEM ? diag_set(diag, r, "out of memory") : r;
}

int learner_load(struct learner *learner, const char *name, const char *text, size_t len,
		 struct diag *diag)
{
	size_t head = strlen(HEAD), before = head + CHECKSUM_TEXT_LEN + 1;
	char checksum[CHECKSUM_TEXT_LEN + 1];

	if (len < before || strncmp(text, HEAD, head) != 0 || text[before - 1] != '\n')
		return diag_set(diag, -EINVAL, "%s: no state of this version", name);
	if (checksum_of(text + before, len - before, checksum) < 0 ||
	    strncmp(checksum, text + head, CHECKSUM_TEXT_LEN) != 0)
		return diag_set(diag, -EINVAL, "%s: its checksum is wrong: it is damaged", name);
	return learner_parse(learner, name, text + before, len - before, diag);
}
