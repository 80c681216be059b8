// SPDX-License-Identifier: Apache-2.0
#include "meter/cray/cray_pm_text.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"

/* Takes a number and its unit, with blanks before it; *text moves past it. */
static int take_amount(const char **text, const char *end, const char *unit, uint64_t *ret)
{
	const char *at = *text;
	size_t digits = 0;
	int r;

	while (at < end && *at == ' ')
		at++;
	while (at + digits < end && at[digits] >= '0' && at[digits] <= '9')
		digits++;
	r = parse_u64(at, digits, ret);
	if (r < 0)
		return r;
	at += digits;
	while (at < end && *at == ' ')
		at++;
	if ((size_t)(end - at) < strlen(unit) || memcmp(at, unit, strlen(unit)) != 0)
		return -EINVAL;
	*text = at + strlen(unit);
	return 0;
}

int cray_pm_energy_parse(const char *text, ssize_t len, uint64_t *ret_energy_uj,
			 uint64_t *ret_time_us)
{
	uint64_t joules, energy_uj = 0, time_us = 0;
	const char *end;
	int r;

	if (len < 0)
		return (int)len;
	if (len == 0 || text[len - 1] != '\n')
		return -EBADMSG;
	end = text + len - 1;
	r = take_amount(&text, end, "J", &joules);
	if (r == 0 && text < end)
		r = take_amount(&text, end, "us", &time_us);
	if (r == 0 && text < end)
		r = -EINVAL;
	if (r == 0 && __builtin_mul_overflow(joules, UJ_PER_J, &energy_uj))
		r = -ERANGE;
	if (r < 0)
		return r;
	*ret_energy_uj = energy_uj;
	*ret_time_us = time_us;
	return 0;
}
