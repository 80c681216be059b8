// SPDX-License-Identifier: Apache-2.0
#include "base/num.h"

#include "tests/unit/unit.h"

#define CASES 200000

static uint64_t random_u64(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Numbers of every length, not only huge ones. */
static uint64_t random_length(uint64_t *seed)
{
	uint64_t bits = random_u64(seed) % 65;

	return bits ? random_u64(seed) >> (64 - bits) : 0;
}

static int read_u64(const char *text, uint64_t *ret)
{
	return parse_u64(text, strlen(text), ret);
}

static void u64_accepts(void **state)
{
	uint64_t value;

	assert_int_equal(read_u64("0", &value), 0);
	assert_true(value == 0);
	assert_int_equal(read_u64("18446744073709551615\n", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(read_u64("000000000000000000000000000007", &value), 0);
	assert_true(value == 7);
	assert_int_equal(parse_u64("12xy", 2, &value), 0); /* not terminated */
	assert_true(value == 12);
}

static void u64_refuses(void **state)
{
	static const char *const wrong[] = { "",    "\n",  " 1",    "1 ",  "-1",      "+1",
					     "0x1", "1.0", "1\n\n", "1e3", "\xd9\xa1" };
	uint64_t value = 42;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(read_u64(wrong[i], &value), -EINVAL);
	assert_int_equal(read_u64("18446744073709551616", &value), -ERANGE);
	assert_int_equal(read_u64("99999999999999999999999", &value), -ERANGE);
	assert_int_equal(parse_u64("1\0002", 3, &value), -EINVAL);
	assert_true(value == 42); /* untouched */
}

static void u64_round_trip(void **state)
{
	uint64_t seed = 1;

	for (int i = 0; i < CASES; i++) {
		uint64_t value = random_length(&seed), back;
		char text[FORMAT_U64_MAX], expected[32];
		size_t len = format_u64(text, value);

		assert_int_equal(len, snprintf(expected, sizeof(expected), "%llu",
					       (unsigned long long)value));
		assert_memory_equal(text, expected, len);
		assert_int_equal(parse_u64(text, len, &back), 0);
		assert_true(back == value);
	}
}

static void double_accepts(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = { { "0", 0 },
		      { "-1.5", -1.5 },
		      { "+2", 2 },
		      { "1e3", 1000 },
		      { ".5", 0.5 },
		      { "5.", 5 },
		      { "4.9e-324", 0x1p-1074 }, /* the smallest */
		      { "1e-400", 0 },
		      { "1.7976931348623157e308", 0x1.fffffffffffffp1023 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double value = 42;

		assert_int_equal(parse_double(cases[i].text, &value), 0);
		assert_memory_equal(&value, &cases[i].value, sizeof(value));
	}
}

static void double_refuses(void **state)
{
	static const char *const wrong[] = { "",      " 1",  "1 ",  "inf", "nan", "NaN",
					     "0x1p3", "1,5", "1e",  "e1",  "--1", "1.2.3",
					     ".",     "-",   "1\n", "1_0" };
	double value = 42;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_double(wrong[i], &value), -EINVAL);
	assert_int_equal(parse_double("1e309", &value), -ERANGE);
	assert_int_equal(parse_double("-1e99999", &value), -ERANGE);
	assert_float_equal(value, 42, 0);
}

/* Every finite double comes back bit by bit, subnormal ones and -0 too. */
static void double_round_trip(void **state)
{
	uint64_t seed = 3;

	for (int i = 0; i < CASES; i++) {
		uint64_t bits = random_u64(&seed), back_bits;
		char text[FORMAT_DOUBLE_MAX + 1];
		double value, back;
		size_t len;

		if (i % 4 == 0)
			bits &= 0x800fffffffffffffULL; /* subnormal */
		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		len = format_double(text, value);
		assert_true(len <= FORMAT_DOUBLE_MAX);
		text[len] = '\0';
		assert_int_equal(parse_double(text, &back), 0);
		memcpy(&back_bits, &back, sizeof(back));
		assert_true(back_bits == bits);
	}
}

static void double_text(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = { { 0.1, "0.1" },
		      { 1, "1" },
		      { -0.0, "-0" },
		      { 1e21, "1e+21" },
		      { 12.5, "12.5" },
		      { 0.1 + 0.2, "0.30000000000000004" },
		      { (double)INFINITY, "+Inf" },
		      { -(double)INFINITY, "-Inf" },
		      { (double)NAN, "NaN" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[FORMAT_DOUBLE_MAX];

		assert_int_equal(format_double(text, cases[i].value), strlen(cases[i].text));
		assert_memory_equal(text, cases[i].text, strlen(cases[i].text));
	}
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} right[] = { { "0", 0 },
		      { "0s", 0 },
		      { "500ms", 500 * NSEC_PER_MSEC },
		      { "1.5m", 90 * NSEC_PER_SEC },
		      { "1m30s", 90 * NSEC_PER_SEC },
		      { "2h", 7200 * NSEC_PER_SEC },
		      { "0.000000001s", 1 },
		      { "3us", 3000 },
		      { "1h1m1s1ms1us1ns", 3661001001001ULL },
		      { "0.1s", 100 * NSEC_PER_MSEC } };
	static const char *const wrong[] = { "",    "5",    "s",   "1.s",    ".5s",
					     "1 s", "-1s",  "1d",  "1sx",    "1s ",
					     "5S",  "1e3s", "1s5", "1.2.3s", "00" };
	uint64_t ns;

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		assert_int_equal(parse_duration_ns(right[i].text, &ns), 0);
		assert_true(ns == right[i].ns);
	}
	ns = 42;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse_duration_ns(wrong[i], &ns), -EINVAL);
	assert_int_equal(parse_duration_ns("99999999999999999999s", &ns), -ERANGE);
	assert_int_equal(parse_duration_ns("6000000h", &ns), -ERANGE);
	assert_int_equal(parse_duration_ns("5000000h5000000h", &ns), -ERANGE);
	assert_true(ns == 42);
}

static void duration_round_trip(void **state)
{
	static const uint64_t units[] = { 1,
					  NSEC_PER_USEC,
					  NSEC_PER_MSEC,
					  NSEC_PER_SEC,
					  60 * NSEC_PER_SEC,
					  3600 * NSEC_PER_SEC };
	uint64_t seed = 5;

	for (int i = 0; i < CASES; i++) {
		uint64_t unit = units[random_u64(&seed) % 6];
		uint64_t value = random_length(&seed) % (UINT64_MAX / unit) * unit, back;
		char text[64];

		format_duration(text, sizeof(text), value);
		assert_int_equal(parse_duration_ns(text, &back), 0);
		assert_true(back == value);
	}
}

static void muldiv(void **state)
{
	assert_true(muldiv_u64(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	assert_true(muldiv_u64(10, 10, 3) == 33);
}

static void order_of_doubles(void **state)
{
	double few = -1.5, many = 2;

	assert_int_equal(compare_doubles(&few, &many), -1);
	assert_int_equal(compare_doubles(&many, &few), 1);
	assert_int_equal(compare_doubles(&many, &many), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(u64_accepts),         cmocka_unit_test(u64_refuses),
		cmocka_unit_test(u64_round_trip),      cmocka_unit_test(double_accepts),
		cmocka_unit_test(double_refuses),      cmocka_unit_test(double_round_trip),
		cmocka_unit_test(double_text),         cmocka_unit_test(durations),
		cmocka_unit_test(duration_round_trip), cmocka_unit_test(muldiv),
		cmocka_unit_test(order_of_doubles),
	};

	return unit_run(tests);
}
