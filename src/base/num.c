// SPDX-License-Identifier: Apache-2.0
#include "base/num.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int parse_u64(const char *text, size_t len, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (len > 0 && text[len - 1] == '\n')
		len--;
	if (len == 0)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (!is_digit(text[i]))
			return -EINVAL;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			return -ERANGE;
	}
	*ret_value = value;
	return 0;
}

/*
 * One C locale for the life of the program, so that the user's locale never changes the decimal
 * point.
 */
static locale_t c_locale(void)
{
	static locale_t locale;
	locale_t seen = __atomic_load_n(&locale, __ATOMIC_ACQUIRE);

	if (!seen) {
		locale_t none = (locale_t)0;

		seen = newlocale(LC_ALL_MASK, "C", (locale_t)0);
		if (!__atomic_compare_exchange_n(&locale, &none, seen, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) {
			freelocale(seen);
			seen = none;
		}
	}
	return seen;
}

int parse_double(const char *text, double *ret_value)
{
	char *end;
	double value;

	if (strspn(text, "0123456789+-.eE") != strlen(text) || !*text)
		return -EINVAL; /* no blanks, hexadecimal, "inf" and "nan", which strtod takes */
	value = strtod_l(text, &end, c_locale());
	if (*end)
		return -EINVAL;
	if (isinf(value))
		return -ERANGE; /* a value that is too small becomes 0 or the nearest subnormal */
	*ret_value = value;
	return 0;
}

static int duration_unit(const char **text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 },           { "us", NSEC_PER_USEC },    { "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC }, { "m", 60 * NSEC_PER_SEC }, { "h", 3600 * NSEC_PER_SEC },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(*text, units[i].name, len) == 0 &&
		    (!(*text)[len] || is_digit((*text)[len]))) {
			*text += len;
			*ret_ns = units[i].ns;
			return 0;
		}
	}
	return -EINVAL;
}

/*
 * Digits after a point as fraction/scale, to a trillionth; the text after them, or NULL without
 * digits.
 */
static const char *parse_fraction(const char *text, uint64_t *ret_fraction, uint64_t *ret_scale)
{
	uint64_t fraction = 0, scale = 1;

	if (!is_digit(*text))
		return NULL;
	for (; is_digit(*text); text++) {
		if (scale < NSEC_PER_SEC * 1000) {
			fraction = fraction * 10 + (uint64_t)(*text - '0');
			scale *= 10;
		}
	}
	*ret_fraction = fraction;
	*ret_scale = scale;
	return text;
}

int parse_duration_ns(const char *text, uint64_t *ret_ns)
{
	uint64_t total = 0;

	if (strcmp(text, "0") == 0) {
		*ret_ns = 0;
		return 0;
	}
	if (!*text)
		return -EINVAL;
	while (*text) {
		uint64_t whole, unit, fraction = 0, scale = 1, part;
		size_t digits = strspn(text, "0123456789");
		int r = parse_u64(text, digits, &whole);

		if (r < 0)
			return r;
		text += digits;
		if (*text == '.')
			text = parse_fraction(text + 1, &fraction, &scale);
		r = text ? duration_unit(&text, &unit) : -EINVAL;
		if (r < 0)
			return r;
		if (__builtin_mul_overflow(whole, unit, &part) ||
		    __builtin_add_overflow(part, muldiv_u64(fraction, unit, scale), &part) ||
		    __builtin_add_overflow(total, part, &total))
			return -ERANGE;
	}
	*ret_ns = total;
	return 0;
}

size_t format_u64(char *buf, uint64_t value)
{
	char digits[FORMAT_U64_MAX];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	for (size_t i = 0; i < n; i++)
		buf[i] = digits[n - 1 - i];
	return n;
}

size_t format_double(char *buf, double value)
{
	char text[64];
	double back = 0;
	size_t len;

	if (isnan(value)) {
		memcpy(buf, "NaN", 3);
		return 3;
	}
	if (isinf(value)) {
		memcpy(buf, value > 0 ? "+Inf" : "-Inf", 4);
		return 4;
	}
	(void)snprintf(text, sizeof(text), "%.15g", value);
	for (char *comma = text; *comma; comma++) {
		if (*comma == ',')
			*comma = '.'; /* the program never calls setlocale(), a library might */
	}
	if (parse_double(text, &back) < 0 || back < value || back > value) {
		(void)snprintf(text, sizeof(text), "%.17g", value);
		for (char *comma = text; *comma; comma++) {
			if (*comma == ',')
				*comma = '.';
		}
	}
	len = strlen(text);
	memcpy(buf, text, len);
	return len;
}

void format_duration(char *buf, size_t size, uint64_t ns)
{
	if (ns == 0)
		(void)snprintf(buf, size, "0s");
	else if (ns % NSEC_PER_SEC == 0) {
		uint64_t s = ns / NSEC_PER_SEC;

		if (s % 3600 == 0)
			(void)snprintf(buf, size, "%lluh", (unsigned long long)(s / 3600));
		else if (s % 60 == 0)
			(void)snprintf(buf, size, "%llum", (unsigned long long)(s / 60));
		else if (s > 60)
			(void)snprintf(buf, size, "%llum%llus", (unsigned long long)(s / 60),
				       (unsigned long long)(s % 60));
		else
			(void)snprintf(buf, size, "%llus", (unsigned long long)s);
	} else if (ns % NSEC_PER_MSEC == 0)
		(void)snprintf(buf, size, "%llums", (unsigned long long)(ns / NSEC_PER_MSEC));
	else if (ns % NSEC_PER_USEC == 0)
		(void)snprintf(buf, size, "%lluus", (unsigned long long)(ns / NSEC_PER_USEC));
	else
		(void)snprintf(buf, size, "%lluns", (unsigned long long)ns);
}

int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}
