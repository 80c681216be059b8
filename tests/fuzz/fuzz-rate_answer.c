// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a schedule of prices, as a file of rates, and as the answer of a feed: a value that
 * is taken is finite. The answer's path is the text up to the first line's end.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rates/rate_answer.h"
#include "rates/rate_schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_schedule(const char *text)
{
	struct rate_schedule schedule;

	if (rate_schedule_parse(text, &schedule, NULL) < 0)
		return;
	for (unsigned day = 0; day < 7; day++) {
		for (unsigned minute = 0; minute < RATE_MINUTES_A_DAY; minute += 59) {
			if (isinf(rate_schedule_at(&schedule, day, minute)))
				abort();
		}
	}
}

static void read_answer(char *text, size_t size)
{
	char *end = strchr(text, '\n');
	double value;
	char *token;

	if (!end)
		return;
	*end = '\0';
	size -= (size_t)(end + 1 - text);
	if (rate_answer_json(end + 1, size, text, &value, NULL) == 0 && !isfinite(value))
		abort();
	if (rate_answer_text(end + 1, size, text, &token, NULL) == 0)
		free(token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct rate_reading reading;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	read_schedule(text);
	if (rate_answer_file(text, 1796040000, &reading, NULL) == 0 && !isfinite(reading.value))
		abort();
	read_answer(text, size);
	free(text);
	return 0;
}
