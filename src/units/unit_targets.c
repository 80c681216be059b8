// SPDX-License-Identifier: Apache-2.0
#include "units/unit_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void unit_targets_release(struct unit_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		unit_series_release(&targets->targets[i].series);
	free(targets->targets);
	*targets = (struct unit_targets){ .count = 0 };
}

void unit_targets_begin(struct unit_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		targets->targets[i].is_present = targets->targets[i].is_read = false;
}

static struct unit_target *add(struct unit_targets *targets, uint32_t unit)
{
	if (targets->count == UNIT_ACCOUNTS_MAX ||
	    ARRAY_RESERVE(targets->targets, targets->size, targets->count + 1) < 0) {
		targets->beyond++;
		return NULL;
	}
	targets->targets[targets->count] = (struct unit_target){ .unit = unit, .is_present = true };
	return &targets->targets[targets->count++];
}

static struct unit_target *find_id(const struct unit_targets *targets, uint32_t unit,
				   const char *pod_id)
{
	for (size_t i = 0; i < targets->count; i++) {
		if (targets->targets[i].unit == unit &&
		    strcmp(targets->targets[i].pod_id, pod_id) == 0)
			return &targets->targets[i];
	}
	return NULL;
}

static void put_pod(struct unit_targets *targets, uint32_t unit, const struct pod_address *pod)
{
	struct unit_target *target = find_id(targets, unit, pod->uid);

	if (!target)
		target = add(targets, unit);
	if (!target)
		return;
	target->is_present = true;
	(void)snprintf(target->pod_id, sizeof(target->pod_id), "%s", pod->uid);
	(void)snprintf(target->namespace_, sizeof(target->namespace_), "%s", pod->namespace_);
	(void)snprintf(target->name, sizeof(target->name), "%s", pod->name);
	(void)snprintf(target->address, sizeof(target->address), "%s", pod->address);
}

void unit_targets_put_pods(struct unit_targets *targets, const struct pod_address *addresses,
			   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (uint32_t left = addresses[i].selectors; left; left &= left - 1)
			put_pod(targets, (uint32_t)__builtin_ctz(left), &addresses[i]);
	}
}

struct unit_target *unit_targets_put(struct unit_targets *targets, uint32_t unit,
				     const char *namespace_, const char *name)
{
	struct unit_target *target = NULL;

	for (size_t i = 0; i < targets->count; i++) {
		target = &targets->targets[i];
		if (target->unit == unit && !target->pod_id[0] && strcmp(target->name, name) == 0 &&
		    strcmp(target->namespace_, namespace_) == 0) {
			target->is_present = true;
			return target;
		}
	}
	if (strlen(namespace_) > POD_NAMESPACE_MAX || strlen(name) > POD_NAME_MAX)
		return NULL;
	target = add(targets, unit);
	if (target) {
		(void)snprintf(target->namespace_, sizeof(target->namespace_), "%s", namespace_);
		(void)snprintf(target->name, sizeof(target->name), "%s", name);
	}
	return target;
}

void unit_targets_prune(struct unit_targets *targets, uint32_t units)
{
	for (size_t i = targets->count; i-- > 0;) {
		struct unit_target *target = &targets->targets[i];

		if (target->is_present || !(units & 1U << target->unit))
			continue;
		unit_series_release(&target->series);
		*target = targets->targets[--targets->count];
	}
}

int unit_target_end(struct unit_target *target)
{
	int r = unit_series_end(&target->series, &target->increase_micro, &target->is_first);

	if (r == 0) {
		target->is_read = true;
		target->failures = target->pause = 0;
	}
	return r;
}

void unit_target_fail(struct unit_target *target)
{
	target->is_read = false;
	if (target->failures < 31)
		target->failures++;
	target->pause = target->failures < 5 ? (1U << (target->failures - 1)) - 1 : UNIT_PAUSE_MAX;
}

bool unit_target_is_due(struct unit_target *target)
{
	if (target->pause == 0)
		return true;
	target->pause--;
	return false;
}
