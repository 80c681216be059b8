// SPDX-License-Identifier: Apache-2.0
/*
 * The learned costs of a zone, as lines of a state file: accepted lines are written in the same
 * way, and learning continues.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/learning/power_owners_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(const struct power_owners *owners)
{
	static char text[POWER_OWNERS_LINES][POWER_OWNERS_LINE_MAX];
	const char *line[POWER_OWNERS_LINES];
	struct power_owners again;

	for (size_t i = 0; i < POWER_OWNERS_LINES; i++) {
		int len = power_owners_format(owners, i, text[i], sizeof(text[i]));

		if (len < 0)
			abort();
		line[i] = len ? text[i] : NULL;
	}
	if (power_owners_parse(line, &again) < 0)
		abort();
}

static void go_on(struct power_owners *owners)
{
	const double unit[POWER_FIT_FEATURES] = { 1, 0.5, 0.75 };

	for (unsigned s = 0; s < 30; s++) {
		struct power_fit_work work = { .amount = { 1 + s % 7, s % 3, 2 }, .time_s = 1 };
		uint64_t key = 1 + s % 5;
		struct power_owners_sample sample = { .power_w = 40 + s % 11,
						      .factor_limit = POWER_OWNERS_MAX,
						      .idle_w = s % 2 ? 20 : -1,
						      .span_ns = 1000000000,
						      .all = &work,
						      .key = &key,
						      .work = &work,
						      .count = 1,
						      .unit = unit };

		power_fit_work_set_awake(&work, 1);
		(void)power_owners_add(owners, &sample);
	}
	for (size_t i = 0; i < POWER_OWNERS; i++)
		if (!(owners->owner[i].factor >= 0 && owners->owner[i].factor <= POWER_OWNERS_MAX))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text;
	const char *line[POWER_OWNERS_LINES] = { 0 };
	struct power_owners owners;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < POWER_OWNERS_LINES && rest; i++) {
		line[i] = strsep(&rest, "\n");
		if (!*line[i])
			line[i] = NULL;
	}
	if (power_owners_parse(line, &owners) == 0) {
		write_again(&owners);
		go_on(&owners);
	}
	free(text);
	return 0;
}
