// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/percent.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

#define PERCENT_MOST 1000

int percent_parse(const char *text, double *ret_ratio)
{
	char number[32];
	size_t len = strlen(text);
	double percent;

	*ret_ratio = NAN;
	if (len == 0)
		return 0;
	if (len >= sizeof(number) || text[len - 1] != '%')
		return -EINVAL;
	memcpy(number, text, len - 1);
	number[len - 1] = '\0';
	if (parse_double(number, &percent) < 0 || !(percent >= 0) || percent > PERCENT_MOST)
		return -EINVAL;
	*ret_ratio = percent / 100;
	return 0;
}

int percent_check(const char *text, struct diag *diag)
{
	double ratio;

	if (percent_parse(text, &ratio) == 0)
		return 0;
	return diag_set(diag, -EINVAL, "must be a percentage from 0%% to %d%%, such as 5%%",
			PERCENT_MOST);
}
