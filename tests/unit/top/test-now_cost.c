// SPDX-License-Identifier: Apache-2.0
#include "top/now_cost.h"

#include "readings.h"
#include "top/top_frame.h"

static const char rates_of_a_site[] =
	"{\"time\":1000,\"node\":\"host\",\"version\":\"1.0\",\"total_watts\":200,\"idle_watts\":"
	"null,"
	"\"unattributed_watts\":0,\"parts\":[],\"zones\":[],\"complete\":true,\"level\":"
	"\"process\","
	"\"rates\":{\"price_per_kwh\":0.3,\"currency\":\"EUR\",\"carbon_grams_per_kwh\":400,"
	"\"carbon_source\":\"fixed\",\"carbon_kind\":\"average\",\"pue\":1.5,"
	"\"embodied_grams_per_hour\":null},\"rows\":[{\"pid\":7,\"command\":\"burner\","
	"\"owner\":\"shop/web\",\"cpu_percent\":150,\"watts\":100,\"joules\":5000}]}";

/* 100 W with PUE 1.5 are 0.15 kW: 109.575 kWh a month, 60 g an hour. */
static void power_comes_to_money_and_carbon(void **state)
{
	struct now_rates rates = { .price_per_kwh = 0.3,
				   .currency = "EUR",
				   .carbon_g_per_kwh = 400,
				   .carbon_kind = "average",
				   .pue = 1.5 };
	struct strbuf text = STRBUF_INIT;

	assert_true(fabs(now_cost_a_month(&rates, 100) - 32.8725) < 1e-9);
	assert_true(fabs(now_carbon_an_hour(&rates, 100) - 60) < 1e-9);
	now_cost_add(&text, &rates, 200, false);
	assert_string_equal(text.data, "0.09 EUR/h, 120 g CO2e/h (average) with PUE 1.5");
	strbuf_reset(&text);
	rates.pue = (double)NAN;
	now_cost_add(&text, &rates, 200, true);
	assert_string_equal(text.data, "~0.06 EUR/h, ~80 g CO2e/h (average)");
	strbuf_release(&text);
}

static void unknown_rates_show_nothing(void **state)
{
	struct now_rates rates = { .price_per_kwh = (double)NAN,
				   .currency = "EUR",
				   .carbon_g_per_kwh = (double)NAN,
				   .pue = 1.5 };
	struct strbuf text = STRBUF_INIT;

	now_cost_add(&text, &rates, 200, false);
	assert_int_equal(text.len, 0);
	rates.carbon_g_per_kwh = 0; /* as of a grid without emissions */
	now_cost_add(&text, &rates, (double)NAN, false);
	assert_int_equal(text.len, 0);
	now_cost_add(&text, &rates, 200, false);
	assert_non_null(strstr(text.data, "0 g CO2e/h"));
	strbuf_release(&text);
}

static void columns_appear_with_their_rate(void **state)
{
	static const struct top_style plain = { .utf8 = true, .clock = "14:03:22" };
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;
	struct top_state top;

	begin_state(&top, 24, 150);
	assert_int_equal(top_frame_draw(&top, &plain, &frame), 0);
	assert_null(strstr(frame.data, "CO2"));
	assert_non_null(strstr(frame.data, "  KWH/MONTH"));
	take_text(&top, rates_of_a_site);
	strbuf_reset(&frame);
	assert_int_equal(top_frame_draw(&top, &plain, &frame), 0);
	assert_non_null(strstr(frame.data, "  EUR/MONTH   G CO2/H"));
	assert_non_null(strstr(frame.data, "      32.87     60.00"));
	top.reading.is_estimated = true;
	strbuf_reset(&frame);
	assert_int_equal(top_frame_draw(&top, &plain, &frame), 0);
	assert_non_null(strstr(frame.data, "     ~73.05     ~32.87    ~60.00"));
	top_state_release(&top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(power_comes_to_money_and_carbon),
		cmocka_unit_test(unknown_rates_show_nothing),
		cmocka_unit_test(columns_appear_with_their_rate),
	};

	return unit_run(tests);
}
