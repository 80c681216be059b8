// SPDX-License-Identifier: Apache-2.0
/* Names of chips, labels, files and rules of the user: a line each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "meter/hwmon/hwmon_rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rule(const char *rule, const struct hwmon_meaning *meaning)
{
	struct diag diag = { "" };
	int r = hwmon_rule_check(rule, &diag);

	if ((r < 0) != (diag.text[0] != '\0'))
		abort();
	if (meaning->use == HWMON_UNUSED && r < 0)
		abort();
}

static void check_channel(const char *chip, const char *label, char *rule)
{
	struct hwmon_channel channel = { .device = "0000:03:00.0", .number = 1 };
	char key[HWMON_KEY_MAX];

	(void)snprintf(channel.chip, sizeof(channel.chip), "%s", chip);
	(void)snprintf(channel.label, sizeof(channel.label), "%s", label);
	hwmon_channel_key(&channel, key);
	for (enum hwmon_reading reading = 0; reading < HWMON_READINGS; reading++) {
		struct hwmon_meaning meaning;

		channel.has[reading] = true;
		meaning = hwmon_meaning_of(&channel, &rule, 1);
		if (meaning.use == HWMON_COUNTED &&
		    (!channel.has[meaning.reading] || (unsigned)meaning.kind >= ZONE_KIND_COUNT ||
		     !memchr(meaning.instance, '\0', ZONE_PACKAGE_MAX)))
			abort();
		check_rule(rule, &meaning);
		channel.has[reading] = false;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *lines[4];
	enum hwmon_reading reading;
	bool is_current;
	unsigned number;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *line = strsep(&rest, "\n");

		lines[i] = line ? line : text + size;
	}
	check_channel(lines[0], lines[1], lines[2]);
	if (hwmon_file_parse(lines[3], &reading, &is_current, &number) &&
	    (unsigned)reading >= HWMON_READINGS)
		abort();
	free(text);
	return 0;
}
