// SPDX-License-Identifier: Apache-2.0
#include "base/text/watts_text.h"

#include <math.h>
#include <stdio.h>

#define BOUND_LEAST 1e-6 /* W: a microjoule a second */

unsigned watts_decimals(double watts)
{
	return watts < 99.995 ? 2 : 1;
}

void watts_text(char buf[static WATTS_TEXT_MAX], double watts)
{
	if (isnan(watts))
		(void)snprintf(buf, WATTS_TEXT_MAX, "–");
	else if (watts > 0 && watts < 0.005)
		(void)snprintf(buf, WATTS_TEXT_MAX, "<0.01");
	else
		(void)snprintf(buf, WATTS_TEXT_MAX, "%.*f", (int)watts_decimals(watts), watts);
}

void watts_bound_text(char buf[static WATTS_TEXT_MAX], double watts)
{
	double bound = fmax(watts, BOUND_LEAST);
	double unit = pow(10, floor(log10(bound)) - 1);
	int decimals;

	bound = round(bound / unit) * unit;
	decimals = 1 - (int)floor(log10(bound) + 1e-9); /* 0.0996 has become 0.10 */
	(void)snprintf(buf, WATTS_TEXT_MAX, "%.*f", decimals > 0 ? decimals : 0, bound);
}

/* µW that the last decimal stands for. */
static uint64_t unit_of(uint64_t total_uw)
{
	return watts_decimals((double)total_uw / 1e6) == 2 ? 10000 : 100000;
}

static uint64_t rounded(uint64_t power_uw, uint64_t unit)
{
	return (power_uw + unit / 2) / unit;
}

void watts_pieces_add(struct strbuf *out, const struct watts_piece pieces[], size_t count,
		      uint64_t total_uw)
{
	uint64_t unit = unit_of(total_uw), each = 1000000 / unit, sum = 0;
	size_t largest = 0;

	for (size_t i = 0; i < count; i++) {
		sum += rounded(pieces[i].power_uw, unit);
		if (pieces[i].power_uw > pieces[largest].power_uw)
			largest = i;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t shown = rounded(pieces[i].power_uw, unit);

		/* The largest piece takes the error of rounding. */
		if (i == largest)
			shown += rounded(total_uw, unit) - sum;
		strbuf_addf(out, "%s%s%s %llu.%0*llu", i ? " · " : "",
			    pieces[i].before ? pieces[i].before : "", pieces[i].name,
			    (unsigned long long)(shown / each), each == 100 ? 2 : 1,
			    (unsigned long long)(shown % each));
	}
}
