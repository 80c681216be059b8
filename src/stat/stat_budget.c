// SPDX-License-Identifier: Apache-2.0
#include "stat/stat_budget.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

static const struct {
	const char *name;
	double joules;
} units[] = { { "J", 1 }, { "kJ", 1e3 }, { "MJ", 1e6 }, { "Wh", 3600 }, { "kWh", 3.6e6 } };

/* Programs run in the locale "C", so the decimal point is one. */
int stat_budget_parse(const char *text, double *ret_joules)
{
	double number;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL; /* no sign, no blank, no "inf" */
	number = strtod(text, &end);
	if (*end == ' ')
		end++;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double joules = number * units[i].joules;

		if (strcmp(end, units[i].name) != 0)
			continue;
		if (!isfinite(joules) || joules <= 0)
			return -EINVAL;
		*ret_joules = joules;
		return 0;
	}
	return -EINVAL;
}
