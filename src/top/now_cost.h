/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power as money and carbon dioxide, by the rates of a reading (docs/rates.md). The site's overhead
 * is in it: E = P · t · PUE, with a PUE of 1 where none is configured. Pure. An unknown value is
 * NAN.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"

#define HOURS_A_MONTH 730.5 /* 365.25 days, 12 months */

struct now_rates {
	double price_per_kwh;
	char currency[4]; /* "EUR"; "" */
	double carbon_g_per_kwh;
	char carbon_kind[16];
	double pue; /* NAN: none is configured */
};

bool now_rates_have_price(const struct now_rates *rates);
bool now_rates_have_carbon(const struct now_rates *rates);
/* In the currency, if @watts are drawn for a month. */
double now_cost_a_month(const struct now_rates *rates, double watts);
/* In grams of CO2 equivalent. */
double now_carbon_an_hour(const struct now_rates *rates, double watts);
/*
 * Appends what @watts come to: "0.0612 EUR/h, 61.5 g CO2e/h (average) with PUE 1.3"; nothing if no
 * rate is known. If the power is estimated, so are they: "~0.0612 EUR/h, …".
 */
void now_cost_add(struct strbuf *out, const struct now_rates *rates, double watts,
		  bool is_estimated);
