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
