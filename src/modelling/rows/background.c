// SPDX-License-Identifier: Apache-2.0
#include "modelling/rows/background.h"

#include <math.h>
#include <string.h>

#include "modelling/rows/extract_options.h"
#include "samples/power_column.h"

int background_read(struct background *background, const struct extract_options *options,
		    const char *path, struct diag *diag)
{
	struct extract_options by_owner = *options;

	by_owner.by_owner = true;
	by_owner.is_background = NULL;
	by_owner.smooth = 0;
	return extract_any(&by_owner, path, &background->idle, diag);
}

static bool has_hint(const char *const *hints, size_t count, const char *owner)
{
	for (size_t i = 0; i < count; i++) {
		if (strstr(owner, hints[i]))
			return true;
	}
	return false;
}

bool background_has(void *userdata, const char *owner)
{
	const struct background *background = userdata;
	const struct extraction *idle = &background->idle;

	if (has_hint(background->target_hints, background->target_hint_count, owner))
		return false;
	if (has_hint(background->hints, background->hint_count, owner))
		return true;
	for (size_t at = 0; at < idle->owners.len; at += strlen(idle->owners.data + at) + 1) {
		if (strcmp(idle->owners.data + at, owner) == 0)
			return true;
	}
	return background->target_hint_count > 0 && idle->owners.len == 0;
}

double background_watts(const struct background *background, const char *column)
{
	const struct extraction *idle = &background->idle;
	char name[SAMPLE_NAME_MAX];

	for (size_t i = 0; power_column_component(column, name) && i < idle->component_count; i++) {
		const struct extraction_component *component = &idle->components[i];

		if (component->seconds > 0 && strcmp(component->name, name) == 0)
			return component->energy_j / component->seconds;
	}
	return (double)NAN;
}

void background_release(struct background *background)
{
	extraction_release(&background->idle);
}
