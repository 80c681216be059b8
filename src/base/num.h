/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion between text and numbers: strict and independent of the locale.
 *
 * Energy is an unsigned 64-bit count of microjoules (2^64 µJ = 18.4 TJ: 584 years at 1 kW).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL
#define UJ_PER_J      1000000ULL

/*
 * Reads a decimal number that fills @text[0..len) but for one trailing newline: digits only, no
 * sign, no blanks. 0, -EINVAL (empty, other characters) or -ERANGE (above 2^64-1). *ret_value only
 * on success.
 */
int parse_u64(const char *text, size_t len, uint64_t *ret_value);

/*
 * Reads a finite decimal number with an optional fraction and exponent, "." whatever the locale. 0,
 * -EINVAL or -ERANGE (too large); a value that is too small becomes the nearest number, which may
 * be 0.
 */
int parse_double(const char *text, double *ret_value);

/*
 * Reads a duration in the notation of Go: "500ms", "5s", "1.5m", "2h", "1m30s"; a unit is required
 * but for "0".
 */
int parse_duration_ns(const char *text, uint64_t *ret_ns);

#define FORMAT_U64_MAX    20
#define FORMAT_DOUBLE_MAX 32

/* Write digits to @buf without a terminator; return their number (at most FORMAT_…_MAX). */
size_t format_u64(char *buf, uint64_t value);
/*
 * Shortest of %.15g/%.17g that reads back equal, "." whatever the locale; "+Inf", "-Inf", "NaN" as
 * Prometheus has it.
 */
size_t format_double(char *buf, double value);
/* Nanoseconds as a duration that parse_duration_ns reads: "5s", "500ms", "1m30s". Terminated. */
void format_duration(char *buf, size_t size, uint64_t ns);

/* The order of two doubles, neither of them NaN, for qsort() and bsearch(). */
int compare_doubles(const void *a, const void *b);

/* a × b / c in 128 bits; the caller guarantees that c > 0 and that the result fits 64 bits. */
static inline uint64_t muldiv_u64(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t product;

	if (!__builtin_mul_overflow(a, b, &product)) /* as nearly always: the other is a call */
		return product / c;
	return (uint64_t)((unsigned __int128)a * b / c);
}
