// SPDX-License-Identifier: Apache-2.0
#include "trainers/learner.h"

#include "tests/unit/unit.h"
#include "training/random.h"

static const char *const features[] = { "bpf_cpu_time_ms", "bpf_page_cache_hit", NULL };
static const struct machine_spec machine = { .processor = "p", .cores = 4 };

static void begin(struct learner *learner)
{
	learner_init(learner, "p_4", &machine, features);
}

/* Rows from @from_s on, a second apart: 40 W and @slope W for each second of CPU time. */
static void make_rows(struct sample_table *table, double from_s, size_t count, double slope)
{
	static const char *const names[] = {
		"timestamp",     "bpf_page_cache_hit",      "bpf_cpu_time_ms",
		"package_power", "package_0_package_power", "core_power"
	};
	struct random random = { (uint64_t)from_s };

	for (size_t i = 0; i < count; i++)
		assert_int_equal(sample_table_add_row(table), 0);
	for (size_t c = 0; c < ARRAY_SIZE(names); c++) {
		size_t column;

		assert_int_equal(sample_table_add_column(table, names[c], &column), 0);
	}
	for (size_t i = 0; i < count; i++) {
		double load = random_part(&random);

		table->columns[0][i] = from_s + (double)i;
		table->columns[1][i] = 10 * load;
		table->columns[2][i] = 1000 * load;
		table->columns[3][i] = 40 + slope * load + random_part(&random) - 0.5;
		table->columns[4][i] = 1;
		table->columns[5][i] = 0;
	}
}

/* Takes @count rows and closes the block. */
static void take(struct learner *learner, double from_s, size_t count, double slope)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	struct diag diag = { "" };
	double until_s = 0;

	make_rows(&table, from_s, count, slope);
	assert_int_equal(learner_take(learner, &table, &until_s, INFINITY, &diag), 0);
	assert_true(fabs(until_s - (from_s + (double)count - 1)) < 1e-6);
	assert_int_equal(learner_close_block(learner), 1);
}

/* The model in use becomes the line that rows are made by. */
static void use_line(struct learner *learner, double slope)
{
	struct trained_model *model = &learner->current;
	double *weights = calloc(3, sizeof(*weights));
	struct diag diag = { "" };

	trained_model_release(model);
	*model = (struct trained_model){ .node_type = -1, .component_count = 1 };
	model->components = calloc(1, sizeof(*model->components));
	assert_true(weights && model->components);
	weights[0] = 40;
	weights[1] = slope;
	model->components[0] = (struct model_component){
		.name = "package",
		.feature_count = 2,
		.features = calloc(2, sizeof(*model->components[0].features)),
		.predictor = { .form = PREDICTOR_LINEAR, .features = 2 },
	};
	model->components[0].predictor.linear.weights = weights;
	model->components[0].predictor.linear.terms = 3;
	for (size_t i = 0; i < 2; i++) {
		struct model_feature *feature = &model->components[0].features[i];

		(void)snprintf(feature->name, sizeof(feature->name), "%s", features[i]);
		feature->scale = feature->maximum = i ? 10 : 1000;
	}
	assert_int_equal(learner_state_error(learner, model, &diag), 0);
	learner->has_current = true;
	drift_init(&learner->drift);
}

static void test_the_newest_blocks_are_not_learned(void **state)
{
	CLEANUP(learner_release) struct learner learner;

	begin(&learner);
	for (size_t i = 1; i <= LEARNER_BLOCKS; i++)
		take(&learner, 1000.0 * (double)i, 50, 30);
	assert_int_equal(learner.components, 1);
	assert_string_equal(learner.columns[3], "package_power");
	assert_int_equal(learner.held_count, LEARNER_BLOCKS);
	assert_int_equal(reservoir_count(&learner.reservoir), 0);
	take(&learner, 20000, 60, 30);
	assert_int_equal(learner.held_count, LEARNER_BLOCKS);
	assert_int_equal(learner.learned, 50);
	assert_int_equal(learner.fresh, 1);
	assert_true(fabs(learner.held[0].rows[0] - 2000) < 1e-6);
	assert_int_equal(learner.held[LEARNER_BLOCKS - 1].count, 60);
	assert_int_equal(learner.taken, 50 * LEARNER_BLOCKS + 60);
}

static void test_rows_come_once_and_whole(void **state)
{
	CLEANUP(learner_release) struct learner learner;
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	struct diag diag = { "" };
	double until_s = 1009;

	begin(&learner);
	make_rows(&table, 1000, 100, 30);
	table.columns[2][50] = (double)NAN;
	table.columns[3][51] = -1;
	assert_int_equal(learner_take(&learner, &table, &until_s, 5000, &diag), 0);
	assert_int_equal(learner.taken, 88);
	assert_true(fabs(until_s - 1099) < 1e-6);
	assert_int_equal(learner.left_out, 2);
	/* A block that is full is closed by itself. */
	for (int i = 0; i < 5; i++) {
		until_s = 0;
		assert_int_equal(learner_take(&learner, &table, &until_s, 5000, &diag), 0);
	}
	assert_int_equal(learner.held_count, 1);
	assert_int_equal(learner.held[0].count, LEARNER_BLOCK_ROWS);
	assert_int_equal(learner.open.count, 88 + 5 * 98 - LEARNER_BLOCK_ROWS);
	(void)snprintf(table.names[2], SAMPLE_NAME_MAX, "other");
	assert_int_equal(learner_take(&learner, &table, &until_s, 5000, &diag), -ENODATA);
	assert_string_equal(diag.text, "the rows have no bpf_cpu_time_ms");
}

/* A node whose clock is ahead says nothing of the time of others. */
static void test_rows_of_the_future_are_left_out(void **state)
{
	CLEANUP(learner_release) struct learner learner;
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	struct diag diag = { "" };
	double until_s = 0, other_s = 1009;

	begin(&learner);
	make_rows(&table, 1000, 100, 30);
	table.columns[0][99] += 30 * 86400;
	assert_int_equal(learner_take(&learner, &table, &until_s, 1050, &diag), 0);
	assert_true(fabs(until_s - 1050) < 1e-6);
	assert_int_equal(learner.taken, 51);
	assert_int_equal(learner.left_out, 49);
	assert_int_equal(learner_take(&learner, &table, &other_s, 1050, &diag), 0);
	assert_int_equal(learner.taken, 51 + 41);
}

/* More features, or components with power, than there is room for. */
static void test_columns_have_a_limit(void **state)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	static char names[2 * LEARNER_FEATURES_MAX][8];
	const char *many[ARRAY_SIZE(names) + 1] = { NULL };
	CLEANUP(learner_release) struct learner learner;
	struct diag diag = { "" };
	double until_s = 0;
	size_t column;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(names[i], sizeof(names[i]), "f%zu", i);
		many[i] = names[i];
	}
	learner_init(&learner, "p_4", &machine, many);
	assert_int_equal(learner.features, 16);
	assert_string_equal(learner.columns[16], "f15");
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(sample_table_add_row(&table), 0);
	assert_int_equal(sample_table_add_column(&table, "timestamp", &column), 0);
	for (size_t i = 0; i < 2 * MODEL_COMPONENTS_MAX; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "c%zu_power", i);
		assert_int_equal(sample_table_add_column(&table, name, &column), 0);
		for (size_t row = 0; row < table.rows; row++)
			table.columns[column][row] = 1;
	}
	assert_int_equal(learner_take(&learner, &table, &until_s, 1, &diag), -ENODATA);
	assert_int_equal(learner.components, 8);
	assert_string_equal(learner.columns[16 + 8], "c7_power");
}

static void test_a_machine_that_changes_is_learned_again(void **state)
{
	CLEANUP(learner_release) struct learner learner;
	double from_s = 1000;

	begin(&learner);
	for (int i = 0; i < LEARNER_BLOCKS + 3; i++, from_s += 1000)
		take(&learner, from_s, 100, 30);
	use_line(&learner, 30);
	for (int i = 0; i < 3; i++, from_s += 1000)
		take(&learner, from_s, 100, 30);
	assert_false(learner.drift.alarm);
	assert_true(learner.drift.ratio < 1.5);
	take(&learner, from_s, 100, 90);
	assert_false(learner.alarm_began);
	take(&learner, from_s + 1000, 100, 90);
	assert_true(learner.alarm_began && learner.drift.alarm);
	/* Only the two blocks that the model does not fit are left. */
	assert_int_equal(learner.held_count, 2);
	assert_int_equal(reservoir_count(&learner.reservoir), 0);
	for (int i = 2; i < LEARNER_BLOCKS + 2; i++)
		take(&learner, from_s + 1000 * i, 100, 90);
	use_line(&learner, 90);
	assert_true(reservoir_count(&learner.reservoir) > 0);
	assert_true(learner.current.components[0].error.mae_w < 0.5);
	assert_true(learner.current.components[0].error.blocked);
}

static void save(const struct learner *learner, struct strbuf *out)
{
	assert_int_equal(learner_save(learner, out), 0);
}

static void test_a_state_is_read_back_or_refused(void **state)
{
	CLEANUP(learner_release) struct learner learner;
	CLEANUP(learner_release) struct learner other;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf rows = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf other_rows = STRBUF_INIT;
	struct diag diag = { "" };

	begin(&learner);
	for (int i = 1; i <= LEARNER_BLOCKS + 2; i++)
		take(&learner, 1000.0 * i, 40, 30);
	learner.drift = (struct drift){ 1.25, (double)NAN, true, 7, 3 };
	save(&learner, &text);
	begin(&other);
	assert_int_equal(learner_load(&other, "S", text.data, text.len, &diag), 0);
	save(&other, &again);
	assert_int_equal(text.len, again.len);
	assert_memory_equal(text.data, again.data, text.len);
	assert_int_equal(other.drift.run, 3);
	assert_int_equal(other.held_count, LEARNER_BLOCKS);
	assert_int_equal(learner_write_rows(&learner, &rows), 0);
	assert_int_equal(learner_write_rows(&other, &other_rows), 0);
	assert_int_equal(rows.len, other_rows.len);
	assert_memory_equal(rows.data, "timestamp,bpf_cpu_time_ms,", 26);

	learner_release(&other);
	begin(&other);
	text.data[text.len / 2] ^= 1;
	assert_int_equal(learner_load(&other, "S", text.data, text.len, &diag), -EINVAL);
	assert_string_equal(diag.text, "S: its checksum is wrong: it is damaged");
	assert_int_equal(learner_load(&other, "S", "nothing", 7, &diag), -EINVAL);
	text.data[text.len / 2] ^= 1;
	learner_release(&other);
	learner_init(&other, "p_4", &machine, features + 1);
	assert_int_equal(learner_load(&other, "S", text.data, text.len, &diag), -EINVAL);
	assert_string_equal(diag.text, "S: it has other features");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_newest_blocks_are_not_learned),
		cmocka_unit_test(test_rows_come_once_and_whole),
		cmocka_unit_test(test_rows_of_the_future_are_left_out),
		cmocka_unit_test(test_columns_have_a_limit),
		cmocka_unit_test(test_a_machine_that_changes_is_learned_again),
		cmocka_unit_test(test_a_state_is_read_back_or_refused),
	};

	return unit_run(tests);
}
