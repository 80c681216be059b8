// SPDX-License-Identifier: Apache-2.0
#include "samples/decimal.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/ascii.h"

#define DIGITS_MAX   19 /* of any 64 bits hold */
#define EXACT_MAX    (1ULL << DBL_MANT_DIG)
#define POWER_MAX    22 /* the highest power of ten that a double has exactly */
#define EXPONENT_MAX 999

static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
				 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

struct decimal {
	uint64_t digits; /* without the point */
	int count;       /* of them, without leading zeros */
	int power;       /* of ten */
};

static const char *read_digits(const char *at, const char *end, struct decimal *decimal)
{
	for (; at < end && ascii_is_digit(*at); at++) {
		decimal->digits = decimal->digits * 10 + (uint64_t)(*at - '0');
		decimal->count += decimal->digits != 0;
	}
	return at;
}

/* Behind an "e": NULL when it is no exponent. */
static const char *read_exponent(const char *at, const char *end, struct decimal *decimal)
{
	bool negative = at < end && *at == '-';
	const char *first;
	int value = 0;

	at += at < end && (*at == '-' || *at == '+');
	first = at;
	for (; at < end && ascii_is_digit(*at) && value < EXPONENT_MAX; at++)
		value = value * 10 + (*at - '0');
	decimal->power += negative ? -value : value;
	return at == first ? NULL : at;
}

#if LDBL_MANT_DIG == 64
/* In 64 bits; false: which double is nearest cannot be said. */
static bool round_wide(const struct decimal *decimal, double *ret)
{
	long double power =
		(long double)powers[decimal->power < 0 ? -decimal->power : decimal->power];
	long double value = (long double)decimal->digits;
	uint64_t bits;

	value = decimal->power < 0 ? value / power : value * power;
	memcpy(&bits, &value, sizeof(bits)); /* the mantissa comes first */
	bits &= (1U << (LDBL_MANT_DIG - DBL_MANT_DIG)) - 1;
	*ret = (double)value;
	return bits < 0x3fe || bits > 0x402;
}
#else
static bool round_wide(const struct decimal *decimal, double *ret)
{
	(void)decimal;
	(void)ret;
	return false;
}
#endif

const char *decimal_read(const char *at, const char *end, double *ret)
{
	struct decimal decimal = { .digits = 0 };
	bool negative = at < end && *at == '-';
	const char *first, *point;
	double value;

	at += at < end && (*at == '-' || *at == '+');
	first = at;
	at = point = read_digits(at, end, &decimal);
	if (at < end && *at == '.') {
		at = read_digits(at + 1, end, &decimal);
		decimal.power = (int)(point + 1 - at);
	}
	if (at == first || (at == point + 1 && point == first))
		return NULL;
	if (at < end && (*at == 'e' || *at == 'E'))
		at = read_exponent(at + 1, end, &decimal);
	if (!at || decimal.count > DIGITS_MAX || decimal.power > POWER_MAX ||
	    decimal.power < -POWER_MAX)
		return NULL;
	if (decimal.digits <= EXACT_MAX)
		value = decimal.power < 0 ? (double)decimal.digits / powers[-decimal.power]
					  : (double)decimal.digits * powers[decimal.power];
	else if (!round_wide(&decimal, &value))
		return NULL;
	*ret = negative ? -value : value;
	return at;
}
