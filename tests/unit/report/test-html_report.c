// SPDX-License-Identifier: Apache-2.0
/* A model of watts = 10 + 2 cpu, and samples that deviate from it by known amounts. */
#include "report/html_report.h"

#include "tests/unit/unit.h"

#define ROWS 100

struct fixture {
	struct model_feature features[2];
	double weights[3];
	struct model_component component;
	struct trained_model model;
	struct sample_table samples;
	size_t power;
};

static struct model_feature feature(const char *name)
{
	struct model_feature ret = { .scale = 1, .minimum = 0, .maximum = ROWS };

	(void)snprintf(ret.name, sizeof(ret.name), "%s", name);
	return ret;
}

/* Nine samples of ten are 1 W off the model, each tenth is 11 W off. */
static void set_up(struct fixture *fixture)
{
	size_t cpu, disk;

	*fixture = (struct fixture){ .weights = { 10, 2, 0 } };
	fixture->features[0] = feature("disk");
	fixture->features[1] = feature("cpu");
	fixture->weights[1] = 0;
	fixture->weights[2] = 2;
	fixture->component = (struct model_component){
		.name = "package",
		.features = fixture->features,
		.feature_count = 2,
		.predictor = { .form = PREDICTOR_LINEAR,
			       .features = 2,
			       .linear = { fixture->weights, 3 } },
		.error = { .mae_w = 3.25,
			   .mape_percent = (double)NAN,
			   .bound_w = 5,
			   .bound_ratio = 0 },
		.minimum_w = (double)NAN,
		.maximum_w = (double)NAN,
	};
	fixture->model = (struct trained_model){
		.name = "a <b>",
		.node_type = -1,
		.components = &fixture->component,
		.component_count = 1,
	};
	assert_int_equal(sample_table_add_column(&fixture->samples, "cpu", &cpu), 0);
	assert_int_equal(sample_table_add_column(&fixture->samples, "disk", &disk), 0);
	assert_int_equal(
		sample_table_add_column(&fixture->samples, "package_power", &fixture->power), 0);
	for (size_t row = 0; row < ROWS; row++) {
		double beside = row % 10 == 9 ? 11 : 1;

		assert_int_equal(sample_table_add_row(&fixture->samples), 0);
		fixture->samples.columns[cpu][row] = (double)row;
		fixture->samples.columns[disk][row] = (double)(row % 7);
		fixture->samples.columns[fixture->power][row] = 10 + 2.0 * (double)row + beside;
	}
}

static const char *render(struct fixture *fixture, struct strbuf *out)
{
	struct diag diag = { "" };

	assert_int_equal(html_report_add(out, &fixture->model, &fixture->samples, NULL, &diag), 0);
	strbuf_add_char(out, '\0');
	assert_non_null(strstr(out->data, "</html>\n"));
	assert_null(strstr(out->data, "nan"));
	return out->data;
}

static void errors_come_from_the_samples(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;
	const char *page;

	set_up(&fixture);
	page = render(&fixture, &out);
	sample_table_release(&fixture.samples);
	assert_non_null(strstr(page, "data-l=\"these samples: samples\">100</td>"
				     "<td class=\"n\" data-l=\"these samples: MAE\">2.00 W</td>"));
	assert_non_null(strstr(page, "<div class=\"wide\"><table ")); /* scrolls by itself */
	assert_non_null(strstr(page, "</table></div>"));
	/* The bound is 5 W. */
	assert_non_null(strstr(page, "data-l=\"these samples: within bound\">90.00 %</td>"
				     "<td class=\"n\" data-l=\"these samples: outside\">0</td>"));
	/* The model's own errors come before them. */
	assert_non_null(strstr(page, "data-l=\"not seen: MAE\">3.25 W</td>"
				     "<td class=\"n\" data-l=\"not seen: MAPE\">unknown</td>"));
	assert_true(strstr(page, "not seen: MAE") < strstr(page, "these samples: MAE"));
	assert_null(strstr(page, "probably trained on these"));
}

/* Errors far below those held out: the charts of these samples would deceive. */
static void samples_that_the_model_knows_are_named(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;

	set_up(&fixture);
	fixture.component.error.mae_w = 4.1;
	assert_non_null(strstr(render(&fixture, &out), "probably trained on these samples"));
	sample_table_release(&fixture.samples);
	assert_non_null(strstr(out.data, "--held-out"));
}

static void samples_beyond_the_training_range_are_counted(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;

	set_up(&fixture);
	fixture.samples.columns[0][3] = 1000;
	fixture.samples.columns[0][7] = 1000;
	assert_non_null(strstr(render(&fixture, &out), "data-l=\"these samples: outside\">2</td>"));
	sample_table_release(&fixture.samples);
}

static void features_are_in_the_order_in_which_they_matter(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;
	const char *page, *cpu, *disk;

	set_up(&fixture);
	page = render(&fixture, &out);
	sample_table_release(&fixture.samples);
	cpu = strstr(page, ">cpu</text>");
	disk = strstr(page, ">disk</text>");
	assert_non_null(cpu);
	assert_non_null(disk);
	assert_true(cpu < disk);
	assert_non_null(strstr(disk, ">0 W</text>"));
}

static void stands_alone_and_escapes_names(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;
	const char *page;

	set_up(&fixture);
	page = render(&fixture, &out);
	sample_table_release(&fixture.samples);
	assert_non_null(strstr(page, "<h1>Power model a &lt;b&gt;</h1>"));
	assert_null(strstr(page, "<script"));
	assert_null(strstr(page, "http"));
	assert_null(strstr(page, "url("));
}

static void samples_that_lack_a_value_are_counted(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;

	set_up(&fixture);
	fixture.samples.columns[0][3] = (double)NAN;
	fixture.samples.columns[fixture.power][4] = (double)NAN;
	assert_non_null(strstr(render(&fixture, &out), "2 samples lack a feature or the power"));
	sample_table_release(&fixture.samples);
}

static void a_component_without_power_has_its_curve(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;
	const char *page;

	set_up(&fixture);
	(void)snprintf(fixture.samples.names[fixture.power],
		       sizeof(fixture.samples.names[fixture.power]), "power");
	page = render(&fixture, &out);
	sample_table_release(&fixture.samples);
	assert_non_null(strstr(page, "Power by load"));
	assert_null(strstr(page, "Residuals"));
	assert_non_null(strstr(page, "data-l=\"these samples: MAE\">unknown</td>"));
}

static void a_feature_that_no_column_has_is_named(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct diag diag = { "" };
	struct fixture fixture;

	set_up(&fixture);
	fixture.features[0] = feature("cache_miss");
	assert_int_equal(html_report_add(&out, &fixture.model, &fixture.samples, NULL, &diag),
			 -ENOENT);
	sample_table_release(&fixture.samples);
	assert_non_null(strstr(diag.text, "cache_miss"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_come_from_the_samples),
		cmocka_unit_test(samples_that_the_model_knows_are_named),
		cmocka_unit_test(samples_beyond_the_training_range_are_counted),
		cmocka_unit_test(features_are_in_the_order_in_which_they_matter),
		cmocka_unit_test(stands_alone_and_escapes_names),
		cmocka_unit_test(samples_that_lack_a_value_are_counted),
		cmocka_unit_test(a_component_without_power_has_its_curve),
		cmocka_unit_test(a_feature_that_no_column_has_is_named),
	};

	return unit_run(tests);
}
