// SPDX-License-Identifier: Apache-2.0
#include "chart/chart.h"

#include "tests/unit/unit.h"

static size_t count(const char *text, const char *what)
{
	size_t found = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		found++;
	return found;
}

static void draw(const struct chart *chart, struct strbuf *out)
{
	chart_add(out, chart);
	strbuf_add_char(out, '\0');
	assert_int_equal(strbuf_error(out), 0);
	assert_int_equal(strncmp(out->data, "<svg ", 5), 0);
	assert_non_null(strstr(out->data, "</svg>\n"));
	assert_null(strstr(out->data, "nan"));
	assert_null(strstr(out->data, "inf"));
}

static void steps_are_round(void **state)
{
	assert_true(fabs(chart_step(0, 100, 5) - 20) < 1e-12);
	assert_true(fabs(chart_step(0, 1, 5) - 0.2) < 1e-12);
	assert_true(fabs(chart_step(0, 12, 5) - 2) < 1e-12);
	assert_true(fabs(chart_step(0, 26, 5) - 5) < 1e-12);
	assert_true(fabs(chart_step(0, 4.2e9, 5) - 1e9) < 1);
}

static void points_are_where_their_values_are(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	const double x[] = { 0, 50, 100 }, y[] = { 0, 10, 20 };
	const struct chart_series series = { "a", CHART_POINTS, 0, x, y, .count = 3 };
	const struct chart chart = { "t", "x", "y", &series, 1, .from_zero = true };

	draw(&chart, &out);
	/* Corners and centre of the plane: 58 … 546 by 296 … 28. */
	assert_non_null(strstr(out.data, "d=\"M58 296h0M302 162h0M546 28h0\""));
	assert_non_null(strstr(out.data, ">100</text>"));
	assert_non_null(strstr(out.data, ">20</text>"));
}

static void what_is_not_finite_is_left_out(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	const double x[] = { 0, 1, 2, 3, 4 }, y[] = { 1, 2, (double)NAN, 4, (double)INFINITY };
	const struct chart_series series = { "a", CHART_LINE, 0, x, y, .count = 5 };
	const struct chart chart = { "t", "x", "y", &series, 1, .from_zero = true };

	draw(&chart, &out);
	/* A gap: two parts, the second of one point. */
	assert_int_equal(count(strstr(out.data, "class=\"n s0\""), "M"), 2);
}

static void draws_without_values_and_without_extent(void **state)
{
	CLEANUP(strbuf_release) struct strbuf none = STRBUF_INIT, one = STRBUF_INIT;
	const double x[] = { 7 }, y[] = { -3 };
	const struct chart_series nothing = { "a", CHART_POINTS, 0, x, y, .count = 0 };
	const struct chart_series point = { "a", CHART_POINTS, 0, x, y, .count = 1 };
	const struct chart empty = { "t", "x", "y", &nothing, 1, .zero_line = true };
	const struct chart single = { "t", "x", "y", &point, 1, .diagonal = true };

	draw(&empty, &none);
	draw(&single, &one);
	assert_int_equal(count(one.data, "h0"), 1);
}

static void bars_stand_on_zero(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	const double x[] = { 0, 1, 2, 3 }, y[] = { 10, 20, (double)NAN, 5 };
	const struct chart_series series = { "a", CHART_BARS, 0, x, y, .count = 4, .bar_width = 1 };
	const struct chart chart = { "t", "x", "y", &series, 1 };

	draw(&chart, &out);
	/* A pixel between two of them, and none where the value is missing. */
	assert_non_null(strstr(out.data, "\"M58.5 296V162H179.5V296zM180.5 296V28H301.5V296z"
					 "M424.5 296V229H545.5V296z\""));
}

static void lines_show_zero_and_equality(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, alike = STRBUF_INIT;
	const double x[] = { 0, 100 }, y[] = { -10, 10 }, small[] = { 0, 10 };
	const struct chart_series across = { "a", CHART_POINTS, 0, x, y, .count = 2 };
	const struct chart_series low = { "a", CHART_POINTS, 0, x, small, .count = 2 };
	const struct chart zero = { "t", "x", "y", &across, 1, .zero_line = true };
	const struct chart diagonal = { "t", "x", "y", &low, 1, .diagonal = true };

	draw(&zero, &out);
	assert_non_null(strstr(out.data, "\"M58 162H546\""));
	draw(&diagonal, &alike);
	assert_non_null(strstr(alike.data, "\"M58 296L546 28\""));
	assert_non_null(strstr(alike.data, "M546 269.2h0")); /* a tenth of the height */
}

static void an_axis_is_as_wide_as_its_values(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, whole = STRBUF_INIT;
	const double x[] = { 0.3, 9.7 }, few[] = { 0, 2 }, y[] = { 0, 10 };
	const struct chart_series series = { "a", CHART_POINTS, 0, x, y, .count = 2 };
	const struct chart_series counted = { "a", CHART_POINTS, 0, few, y, .count = 2 };
	const struct chart as_is = { "t", "x", "y", &series, 1, .x_as_is = true };
	const struct chart of_numbers = { "t", "x", "y", &counted, 1, .x_whole = true };

	draw(&as_is, &out);
	assert_non_null(strstr(out.data, "d=\"M58 296h0M546 28h0\""));
	draw(&of_numbers, &whole);
	assert_non_null(strstr(whole.data, ">1</text>"));
	assert_null(strstr(whole.data, "0.5"));
}

static void names_are_escaped_and_listed(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	const double x[] = { 0, 1 }, y[] = { 10, 20 }, top[] = { 12, 25 };
	const struct chart_series series[] = {
		{ "<b>", CHART_BAND, 0, x, y, top, .count = 2 },
		{ "line", CHART_LINE, 0, x, y, .count = 2 },
	};
	const struct chart chart = { "a & b", "x<", "y", series, 2 };

	draw(&chart, &out);
	assert_null(strstr(out.data, "<b>"));
	assert_non_null(strstr(out.data, "&lt;b&gt;</text>"));
	assert_non_null(strstr(out.data, "<title>a &amp; b</title>"));
	assert_int_equal(count(out.data, "class=\"k"), 2);
}

static void large_numbers_are_short(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	const double x[] = { 0, 4e10 }, y[] = { 0.01, 0.04 };
	const struct chart_series series = { "a", CHART_POINTS, 0, x, y, .count = 2 };
	const struct chart chart = { "t", "x", "y", &series, 1 };

	draw(&chart, &out);
	assert_non_null(strstr(out.data, ">40G</text>"));
	assert_non_null(strstr(out.data, ">0.04</text>"));
	assert_null(strstr(out.data, "00000"));
}

/* Labels of an axis fit into its margin, however small its values are. */
static void small_numbers_are_short(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	const double x[] = { -0.000008, 0.000008 }, y[] = { -0.004, 0.004 };
	const struct chart_series series = { .name = "a", .x = x, .y = y, .count = 2 };
	const struct chart chart = { "t", "x", "y", &series, 1 };

	draw(&chart, &out);
	assert_non_null(strstr(out.data, ">4m</text>"));
	assert_non_null(strstr(out.data, ">\u22124µ</text>"));
	assert_null(strstr(out.data, "0.00"));
}

static void amounts_are_as_long_as_they_are_large(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	const struct chart_amount amounts[] = { { "cpu", 8 }, { "memory", 4 }, { "none", 0 } };

	chart_add_amounts(&out, "t", "W", amounts, ARRAY_SIZE(amounts));
	strbuf_add_char(&out, '\0');
	assert_non_null(strstr(out.data, "M190 4h290v15h-290z"));
	assert_non_null(strstr(out.data, "M190 26h145v15h-145z"));
	assert_non_null(strstr(out.data, "M190 48h0v15h-0z"));
	assert_non_null(strstr(out.data, " x=\"486\" y=\"16\">8 W</text>"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_round),
		cmocka_unit_test(points_are_where_their_values_are),
		cmocka_unit_test(what_is_not_finite_is_left_out),
		cmocka_unit_test(draws_without_values_and_without_extent),
		cmocka_unit_test(bars_stand_on_zero),
		cmocka_unit_test(lines_show_zero_and_equality),
		cmocka_unit_test(an_axis_is_as_wide_as_its_values),
		cmocka_unit_test(names_are_escaped_and_listed),
		cmocka_unit_test(large_numbers_are_short),
		cmocka_unit_test(small_numbers_are_short),
		cmocka_unit_test(amounts_are_as_long_as_they_are_large),
	};

	return unit_run(tests);
}
