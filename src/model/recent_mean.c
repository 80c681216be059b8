// SPDX-License-Identifier: Apache-2.0
#include "model/recent_mean.h"

#include <math.h>
#include <string.h>

#include "base/num.h"

#define INFIX "_mean_"

size_t recent_mean_parse(const char *name, unsigned *ret_seconds)
{
	const char *infix = strstr(name, INFIX), *digits;
	uint64_t seconds;
	size_t len;

	if (!infix || infix == name)
		return 0;
	digits = infix + strlen(INFIX);
	len = strspn(digits, "0123456789");
	if (!len || *digits == '0' || strcmp(digits + len, "s") != 0 ||
	    parse_u64(digits, len, &seconds) < 0 || seconds > RECENT_MEAN_SECONDS_MAX)
		return 0;
	if (ret_seconds)
		*ret_seconds = (unsigned)seconds;
	return (size_t)(infix - name);
}

double recent_mean_add(struct recent_mean *mean, unsigned seconds, double time_s, double value)
{
	double past_s = time_s - mean->time_s;

	if (!isfinite(value) || (mean->has_value && !(past_s > 0) && !(past_s < 0)))
		return mean->value;
	if (!mean->has_value || past_s < 0)
		mean->value = value;
	else
		mean->value += (value - mean->value) * -expm1(-past_s / seconds);
	mean->time_s = time_s;
	mean->has_value = true;
	return mean->value;
}
