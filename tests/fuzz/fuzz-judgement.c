// SPDX-License-Identifier: Apache-2.0
/*
 * Two series of any numbers: a pass has energies and a shape within its bound, a failure has a
 * cause, each verdict has a reason, and a series that is its own truth never fails.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "judging/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_ERROR 0.05

/*
 * Each byte is a step of time and a value, so that most inputs have pairs; 0xff is followed by the
 * value's own eight bytes.
 */
static struct series *make_series(const uint8_t *data, size_t size, bool is_counter)
{
	struct series *series = series_new("fuzz", "W");
	double time_s = 0;

	if (!series)
		abort();
	for (size_t i = 0; i < size; i++) {
		double value = data[i] & 0x3f;
		time_s += 1 + (data[i] >> 6 == 2 ? 0 : data[i] >> 6);
		if (data[i] == 0xff && i + sizeof(value) < size) {
			memcpy(&value, &data[i + 1], sizeof(value));
			i += sizeof(value);
		}
		int r = is_counter ? series_add_counter(series, time_s, value)
				   : series_add_gauge(series, time_s, value);
		if (r < 0)
			abort();
	}
	series_finish(series);
	return series;
}

static void check(const struct result *result)
{
	bool is_pass = result->verdict == VERDICT_PASS, is_fail = result->verdict == VERDICT_FAIL;
	if (!result->reason[0] || is_fail != (result->cause != CAUSE_NONE))
		abort();
	if (is_pass && !(result->errors.shape <= MAX_ERROR && isfinite(result->error)))
		abort();
	for (size_t i = 0; is_pass && i < result->phase_count; i++)
		if (result->phases[i].verdict != VERDICT_NOT_APPLICABLE &&
		    fabs(result->phases[i].error) > MAX_ERROR)
			abort();
}

static enum verdict judge(struct series *actual, struct series *predicted)
{
	struct result *result = result_new("fuzz", RESULT_ACCURACY);

	if (!result)
		abort();
	result->actual = actual;
	result->predicted = predicted;
	result->threshold = (struct threshold){ MAX_ERROR, 10 };
	if (judge_series(result, NULL, 0) < 0)
		abort();
	check(result);
	enum verdict verdict = result->verdict;
	result_free(result);
	return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1 || size > 4096)
		return 0;
	bool is_counter = data[0] & 1;
	const uint8_t *text = data + 1;
	size_t half = (size - 1) / 2;

	(void)judge(make_series(text, half, is_counter),
		    make_series(text + half, size - 1 - half, data[0] & 2));
	if (judge(make_series(text, half, is_counter), make_series(text, half, is_counter)) ==
	    VERDICT_FAIL)
		abort();
	return 0;
}
