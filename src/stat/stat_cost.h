/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of a command as money and carbon dioxide, by the rates at its end (docs/rates.md). The
 * site's overhead is in it: energy · PUE, with a PUE of 1 where none is configured. Pure. A rate
 * that is not known is NAN, and nothing is written of what follows from it.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"

struct stat_rates {
	double price_per_kwh;
	char currency[4]; /* "EUR"; "" */
	double carbon_g_per_kwh;
	char carbon_kind[16]; /* "average"; "" as in a struct of zeros: neither rate is known */
	double pue;
};

/* In the currency; NAN: the price is not known. */
double stat_cost_money(const struct stat_rates *rates, double joules);
/* In grams of CO2 equivalent; NAN. */
double stat_cost_grams(const struct stat_rates *rates, double joules);
/* A line for each that is known; "~" is before a value that follows from an estimate. */
void stat_cost_text(const struct stat_rates *rates, double joules, bool is_estimated,
		    struct strbuf *out);
/* Rows of the table. */
void stat_cost_markdown(const struct stat_rates *rates, double joules, bool is_estimated,
			struct strbuf *out);
/* The members "cost", "carbon" and "pue", with a comma before each. */
void stat_cost_json(const struct stat_rates *rates, double joules, struct strbuf *out);
