// SPDX-License-Identifier: Apache-2.0
#include "stat/stat_cost.h"

#include <math.h>
#include <stdio.h>

#include "base/macro.h"

#define JOULES_A_KWH 3.6e6

static bool has_pue(const struct stat_rates *rates)
{
	return rates->pue >= 1; /* not NAN */
}

static double kwh_of_site(const struct stat_rates *rates, double joules)
{
	return joules / JOULES_A_KWH * (has_pue(rates) ? rates->pue : 1);
}

double stat_cost_money(const struct stat_rates *rates, double joules)
{
	return rates->currency[0] ? kwh_of_site(rates, joules) * rates->price_per_kwh : (double)NAN;
}

double stat_cost_grams(const struct stat_rates *rates, double joules)
{
	return rates->carbon_kind[0] ? kwh_of_site(rates, joules) * rates->carbon_g_per_kwh
				     : (double)NAN;
}

/* A command's money is small: six decimals, or four digits where that is more. */
static void add_amount(struct strbuf *out, double value, bool is_estimated)
{
	if (is_estimated)
		strbuf_add_char(out, '~');
	if (fabs(value) > 0 && fabs(value) < 0.001)
		strbuf_addf(out, "%.3e", value);
	else
		strbuf_addf(out, "%.*f", fabs(value) < 10 ? 6 : 3, value);
}

static void add_pue(const struct stat_rates *rates, struct strbuf *out)
{
	if (has_pue(rates))
		strbuf_addf(out, ", PUE %g", rates->pue);
}

static void add_line(struct strbuf *out, double value, bool is_estimated, const char *unit,
		     const char *name)
{
	CLEANUP(strbuf_release) struct strbuf number = STRBUF_INIT;

	add_amount(&number, value, is_estimated);
	strbuf_addf(out, "%18s %-5s %-24s", number.data ? number.data : "", unit, name);
}

void stat_cost_text(const struct stat_rates *rates, double joules, bool is_estimated,
		    struct strbuf *out)
{
	double money = stat_cost_money(rates, joules), grams = stat_cost_grams(rates, joules);

	if (isfinite(money)) {
		add_line(out, money, is_estimated, rates->currency, "cost");
		strbuf_addf(out, " # at %.6g %s/kWh", rates->price_per_kwh, rates->currency);
		add_pue(rates, out);
		strbuf_add_char(out, '\n');
	}
	if (isfinite(grams)) {
		add_line(out, grams, is_estimated, "g", "CO2e");
		strbuf_addf(out, " # at %.6g g/kWh", rates->carbon_g_per_kwh);
		if (rates->carbon_kind[0])
			strbuf_addf(out, " (%s)", rates->carbon_kind);
		add_pue(rates, out);
		strbuf_add_char(out, '\n');
	}
}

void stat_cost_markdown(const struct stat_rates *rates, double joules, bool is_estimated,
			struct strbuf *out)
{
	double money = stat_cost_money(rates, joules), grams = stat_cost_grams(rates, joules);

	if (isfinite(money)) {
		strbuf_addf(out, "| cost, at %.6g %s/kWh", rates->price_per_kwh, rates->currency);
		add_pue(rates, out);
		strbuf_add_str(out, " | ");
		add_amount(out, money, is_estimated);
		strbuf_addf(out, " %s |\n", rates->currency);
	}
	if (isfinite(grams)) {
		strbuf_addf(out, "| CO2 equivalent, at %.6g g/kWh", rates->carbon_g_per_kwh);
		add_pue(rates, out);
		strbuf_add_str(out, " | ");
		add_amount(out, grams, is_estimated);
		strbuf_add_str(out, " g |\n");
	}
}

void stat_cost_json(const struct stat_rates *rates, double joules, struct strbuf *out)
{
	double money = stat_cost_money(rates, joules), grams = stat_cost_grams(rates, joules);

	if (isfinite(money))
		strbuf_addf(out,
			    ",\n \"cost\":{\"amount\":%.9g,\"currency\":\"%s\","
			    "\"per_kwh\":%.9g}",
			    money, rates->currency, rates->price_per_kwh);
	if (isfinite(grams)) {
		strbuf_addf(out,
			    ",\n \"carbon\":{\"grams\":%.9g,\"grams_per_kwh\":%.9g,"
			    "\"kind\":\"",
			    grams, rates->carbon_g_per_kwh);
		strbuf_add_json(out, rates->carbon_kind);
		strbuf_add_str(out, "\"}");
	}
	if ((isfinite(money) || isfinite(grams)) && has_pue(rates))
		strbuf_addf(out, ",\n \"pue\":%.9g", rates->pue);
}
