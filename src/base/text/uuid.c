// SPDX-License-Identifier: Apache-2.0
#include "base/text/uuid.h"

#include "base/text/ascii.h"

static int digit_of(char c)
{
	c = ascii_lower(c);
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool uuid_parse(const char *text, size_t len, struct uuid *ret)
{
	struct uuid uuid = { 0 };

	if (len != UUID_TEXT_LEN)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
		int digit = digit_of(text[i]);

		if (is_dash ? text[i] != '-' : digit < 0)
			return false;
		if (is_dash)
			continue;
		uuid.high = uuid.high << 4 | uuid.low >> 60;
		uuid.low = uuid.low << 4 | (uint64_t)digit;
	}
	if (!uuid_is_set(&uuid))
		return false;
	*ret = uuid;
	return true;
}
