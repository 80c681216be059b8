// SPDX-License-Identifier: Apache-2.0
#include "top/now_cost.h"

#include <math.h>

bool now_rates_have_price(const struct now_rates *rates)
{
	return rates->currency[0] && isfinite(rates->price_per_kwh);
}

bool now_rates_have_carbon(const struct now_rates *rates)
{
	return isfinite(rates->carbon_g_per_kwh);
}

static double kw_of_site(const struct now_rates *rates, double watts)
{
	return watts / 1000 * (isfinite(rates->pue) ? rates->pue : 1);
}

double now_cost_a_month(const struct now_rates *rates, double watts)
{
	return kw_of_site(rates, watts) * HOURS_A_MONTH * rates->price_per_kwh;
}

double now_carbon_an_hour(const struct now_rates *rates, double watts)
{
	return kw_of_site(rates, watts) * rates->carbon_g_per_kwh;
}

void now_cost_add(struct strbuf *out, const struct now_rates *rates, double watts,
		  bool is_estimated)
{
	const char *mark = is_estimated ? "~" : "";
	bool has_price = now_rates_have_price(rates), has_carbon = now_rates_have_carbon(rates);

	if (!isfinite(watts) || (!has_price && !has_carbon))
		return;
	if (has_price)
		strbuf_addf(out, "%s%.3g %s/h", mark,
			    kw_of_site(rates, watts) * rates->price_per_kwh, rates->currency);
	if (has_carbon)
		strbuf_addf(out, "%s%s%.3g g CO2e/h (%s)", has_price ? ", " : "", mark,
			    now_carbon_an_hour(rates, watts), rates->carbon_kind);
	if (isfinite(rates->pue))
		strbuf_addf(out, " with PUE %g", rates->pue);
}
