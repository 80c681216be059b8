// SPDX-License-Identifier: Apache-2.0
#include "workbench/stress_plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"

#define STEP_KHZ 800000

/* A word of a command line of stress-ng: no more than letters, digits and a few signs. */
static bool take_word(const char *text, size_t len, char ret[static STRESS_NAME_MAX])
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.%";

	if (len == 0 || len >= STRESS_NAME_MAX || strspn(text, allowed) < len || text[0] == '-')
		return false;
	memcpy(ret, text, len);
	ret[len] = '\0';
	return true;
}

/* Words separated by commas; their number, 0 if one of them is not valid or there are too many. */
static size_t take_words(const char *text, size_t len, char (*ret)[STRESS_NAME_MAX])
{
	size_t count = 0, at = 0;

	while (at <= len) {
		size_t word = strcspn(text + at, ",;");

		if (word > len - at)
			word = len - at;
		if (count == STRESS_LOAD_KEYS_MAX || !take_word(text + at, word, ret[count]))
			return 0;
		count++;
		at += word + 1;
	}
	return count;
}

int stress_load_parse(const char *text, struct stress_load *ret, struct diag *diag)
{
	size_t name = strcspn(text, ";");
	const char *keys = text[name] ? text + name + 1 : NULL;
	size_t keys_len = keys ? strcspn(keys, ";") : 0;
	const char *values = keys && keys[keys_len] ? keys + keys_len + 1 : NULL;
	struct stress_load load = { .key_count = 0 };
	size_t value_count = 0;

	if (values) {
		load.key_count = take_words(keys, keys_len, load.keys);
		value_count = take_words(values, strlen(values), load.values);
	}
	if (!take_word(text, name, load.name) || (keys && !load.key_count) ||
	    load.key_count != value_count)
		return diag_set(diag, -EINVAL,
				"load: must be a stressor of stress-ng, such as cpu, with options "
				"such as vm-rw;vm-rw-bytes;1G, not \"%.100s\"",
				text);
	*ret = load;
	return 0;
}

void stress_plan_default_instances(struct stress_plan *plan, uint32_t cpus)
{
	plan->instance_count = 0;
	for (uint32_t count = 1; count <= cpus + 8 && plan->instance_count < STRESS_INSTANCES_MAX;
	     count = count < 16 ? count * 2 : count + 8)
		plan->instances[plan->instance_count++] = count;
}

void stress_plan_default_frequencies(struct stress_plan *plan, uint64_t min_khz, uint64_t max_khz)
{
	uint64_t khz = min_khz + STEP_KHZ;

	plan->frequency_count = 0;
	for (; khz < max_khz && plan->frequency_count < STRESS_FREQUENCIES_MAX - 1; khz += STEP_KHZ)
		plan->frequencies_khz[plan->frequency_count++] = khz;
	plan->frequencies_khz[plan->frequency_count++] = max_khz;
}

size_t stress_plan_steps(const struct stress_plan *plan)
{
	return plan->load_count * plan->frequency_count * plan->instance_count;
}

struct stress_step stress_plan_step(const struct stress_plan *plan, size_t index)
{
	size_t load = index % plan->load_count, rest = index / plan->load_count;

	return (struct stress_step){
		.load = &plan->loads[load],
		.instances = plan->instances[rest % plan->instance_count],
		.frequency_khz = plan->frequencies_khz[rest / plan->instance_count],
	};
}

uint64_t stress_plan_ms(const struct stress_plan *plan)
{
	return plan->idle_ms + stress_plan_steps(plan) * (plan->step_ms + plan->pause_ms);
}
