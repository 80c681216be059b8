// SPDX-License-Identifier: Apache-2.0
#include "rates/rate_provider.h"

#include "base/macro.h"
#include "tests/unit/unit.h"

static void providers_are_known_by_their_url(void **state)
{
	static const struct {
		const char *url, *name;
	} urls[] = {
		{ "https://api.electricitymaps.com/v3/carbon-intensity/latest?zone=DE",
		  "electricity-maps" },
		{ "https://API.electricitymap.org:443/v3/carbon-intensity/latest",
		  "electricity-maps" },
		{ "https://watttime.org/v3/forecast", "watttime" },
		{ "https://notwatttime.org/v3/forecast", "url" },
		{ "https://watttime.org.example/v3", "url" },
		{ "https://proxy.example/watttime.org/v3", "url" },
		{ "http://127.0.0.1:9090/api/v1/query?query=price", "prometheus" },
		{ "http://prometheus.example/sub/api/v1/query?query=price", "prometheus" },
		{ "http://prometheus.example/api/v1/query_range?query=price", "url" },
		{ "", "url" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++)
		assert_string_equal(rate_provider_of(urls[i].url)->name, urls[i].name);
}

/* 1,000 pounds a MWh are 453.59 g a kWh. */
static void pounds_become_grams(void **state)
{
	double factor = rate_provider_of("https://api.watttime.org/")->factor;

	assert_true(fabs(1000 * factor - 453.59237) < 1e-9);
	assert_string_equal(rate_provider_of("https://api.watttime.org/")->kind, "marginal");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(providers_are_known_by_their_url),
		cmocka_unit_test(pounds_become_grams),
	};

	return unit_run(tests);
}
