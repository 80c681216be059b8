// SPDX-License-Identifier: Apache-2.0
/*
 * A quantity is digits × 10^ten × 2^two: the point moves `ten`, the suffix moves one of them. Only
 * at the end is anything multiplied, in 128 bits.
 */
#include "kube/quantity.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

#define DIGITS_MAX   19 /* fit 64 bits */
#define EXPONENT_MAX 30

struct parts {
	uint64_t digits;
	int ten;
	unsigned two;
};

/* Reads the digits and the point; the text after them, NULL if there are none or too many. */
static const char *read_digits(const char *text, struct parts *parts)
{
	bool point = false;
	unsigned count = 0;
	size_t taken = 0;

	for (;; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9')
			return taken ? text : NULL;
		taken++;
		if (count || *text != '0')
			count++;
		if (count > DIGITS_MAX)
			return NULL;
		parts->digits = parts->digits * 10 + (uint64_t)(*text - '0');
		parts->ten -= point;
	}
}

static int read_exponent(const char *text, struct parts *parts)
{
	bool negative = *text == '-';
	uint64_t exponent;

	if (*text == '-' || *text == '+')
		text++;
	if (parse_u64(text, strlen(text), &exponent) < 0)
		return -EINVAL;
	if (exponent > EXPONENT_MAX)
		return -ERANGE;
	parts->ten += negative ? -(int)exponent : (int)exponent;
	return 0;
}

static int read_suffix(const char *text, struct parts *parts)
{
	static const struct {
		const char *suffix;
		int ten;
		unsigned two;
	} suffixes[] = {
		{ "", 0, 0 },    { "n", -9, 0 },  { "u", -6, 0 },  { "m", -3, 0 },
		{ "k", 3, 0 },   { "M", 6, 0 },   { "G", 9, 0 },   { "T", 12, 0 },
		{ "P", 15, 0 },  { "E", 18, 0 },  { "Ki", 0, 10 }, { "Mi", 0, 20 },
		{ "Gi", 0, 30 }, { "Ti", 0, 40 }, { "Pi", 0, 50 }, { "Ei", 0, 60 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (strcmp(text, suffixes[i].suffix) == 0) {
			parts->ten += suffixes[i].ten;
			parts->two = suffixes[i].two;
			return 0;
		}
	}
	return *text == 'e' || *text == 'E' ? read_exponent(text + 1, parts) : -EINVAL;
}

static int put_together(const struct parts *parts, uint64_t *ret)
{
	unsigned __int128 value = parts->digits, divisor = 1;

	for (int i = parts->ten; i > 0; i--) {
		if (__builtin_mul_overflow(value, (unsigned __int128)10, &value))
			return -ERANGE;
	}
	if (__builtin_mul_overflow(value, (unsigned __int128)1 << parts->two, &value))
		return -ERANGE;
	for (int i = parts->ten; i < 0; i++) {
		if (__builtin_mul_overflow(divisor, (unsigned __int128)10, &divisor))
			return -ERANGE;
	}
	value = value / divisor + (value % divisor != 0);
	if (value > UINT64_MAX)
		return -ERANGE;
	*ret = (uint64_t)value;
	return 0;
}

int quantity_parse_milli(const char *text, uint64_t *ret)
{
	struct parts parts = { .ten = 3 };
	const char *rest = read_digits(text, &parts);
	int r;

	if (!rest)
		return -EINVAL;
	r = read_suffix(rest, &parts);
	return r < 0 ? r : put_together(&parts, ret);
}
