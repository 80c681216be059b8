// SPDX-License-Identifier: Apache-2.0
#include "evidence/series_form.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/macro.h"
#include "base/num.h"

/* A word in a name and what it means; the first one that is found counts. */
struct unit_word {
	const char *word;
	double factor;
	bool is_energy;
};

static const struct unit_word unit_words[] = {
	{ "microjoule", 1e-6, true }, { "millijoule", 1e-3, true }, { "kilojoule", 1e3, true },
	{ "joule", 1, true },         { "energy_uj", 1e-6, true },  { "_uj", 1e-6, true },
	{ "_mj", 1e-3, true },        { "_kwh", 3.6e6, true },      { "_wh", 3600, true },
	{ "microwatt", 1e-6, false }, { "milliwatt", 1e-3, false }, { "kilowatt", 1e3, false },
	{ "watt", 1, false },         { "_uw", 1e-6, false },       { "_mw", 1e-3, false },
	{ "_kw", 1e3, false },        { "energy", 1, true },
};

/* Powers of ten that times since 1970 have in other units than s. */
static const struct {
	double from, divisor;
} time_units[] = { { 1e17, 1e9 }, { 1e14, 1e6 }, { 1e11, 1e3 } };

struct series_form series_form_of(const char *name, enum series_kind kind)
{
	bool is_rate = strstr(name, "rate(") || strstr(name, "deriv(");
	struct series_form form = { .factor = 1, .unit = "W" };
	bool is_energy = strstr(name, "_total") != NULL;
	if (strstr(name, "cpu_time") || strstr(name, "seconds"))
		form.unit = "units/s";
	for (size_t i = 0; i < ARRAY_SIZE(unit_words); i++) {
		if (strcasestr(name, unit_words[i].word)) {
			form.factor = unit_words[i].factor;
			form.unit = "W";
			is_energy = unit_words[i].is_energy;
			break;
		}
	}
	form.is_counter = kind == SERIES_COUNTER || (kind == SERIES_AUTO && is_energy && !is_rate);
	return form;
}

int series_form_add(const struct series_form *form, struct series *series, double time_s,
		    double value)
{
	return form->is_counter ? series_add_counter(series, time_s, value * form->factor)
				: series_add_gauge(series, time_s, value * form->factor);
}

double series_time_s(const char *text)
{
	struct tm tm = { .tm_isdst = 0 };
	double time_s;

	if (parse_double(text, &time_s) == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(time_units); i++)
			if (fabs(time_s) >= time_units[i].from)
				return time_s / time_units[i].divisor;
		return time_s;
	}
	const char *end = strptime(text, "%Y-%m-%d", &tm);
	if (!end || (*end != 'T' && *end != ' '))
		return NAN;
	end = strptime(end + 1, "%H:%M:%S", &tm);
	if (!end)
		return NAN;
	double fraction = 0, digit = 0.1;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++, digit /= 10)
			fraction += digit * (*end - '0');
	bool is_utc = *end == '\0' || strcmp(end, "Z") == 0 || strcmp(end, "+00:00") == 0;
	return is_utc ? (double)timegm(&tm) + fraction : (double)NAN;
}

bool series_value(const char *text, double *ret)
{
	static const char *const words[] = { "nan",      "inf",       "+inf", "-inf",
					     "infinity", "-infinity", "" };
	*ret = NAN;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return parse_double(text, ret) == 0;
}
