// SPDX-License-Identifier: Apache-2.0
#include "repository/own_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text/ascii.h"
#include "model/feature.h"

#define PREFIX "own."

static int by_name(const void *a, const void *b)
{
	const char *const *one = a, *const *other = b;

	return strcmp(*one, *other);
}

static bool is_there(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

size_t own_group_features(const struct trained_model *model,
			  const char *ret[OWN_GROUP_FEATURES_MAX])
{
	size_t count = 0;

	for (size_t c = 0; c < model->component_count; c++) {
		const struct model_component *component = &model->components[c];

		for (size_t i = 0; i < component->feature_count; i++) {
			const char *name = component->features[i].name;

			if (count < OWN_GROUP_FEATURES_MAX && !is_there(ret, count, name))
				ret[count++] = name;
		}
	}
	qsort(ret, count, sizeof(*ret), by_name);
	return count;
}

/* Returns true if all of the name was written. */
static bool join(const char *const *names, size_t count, char ret[ENTRY_NAME_MAX])
{
	size_t len = strlen(PREFIX);

	memcpy(ret, PREFIX, len + 1);
	for (size_t i = 0; i < count; i++) {
		for (const char *c = names[i]; *c; c++) {
			if (!ascii_is_alnum(*c) && *c != '_' && *c != '.')
				return false;
		}
		len += (size_t)snprintf(ret + len, ENTRY_NAME_MAX - len, "%s%s", i ? "-" : "",
					names[i]);
		if (len >= ENTRY_NAME_MAX)
			return false;
	}
	return count;
}

void own_group_name(const struct trained_model *model, char ret[ENTRY_NAME_MAX])
{
	const char *names[OWN_GROUP_FEATURES_MAX] = { NULL };
	size_t count = own_group_features(model, names);
	const struct feature_group *group = feature_group_of(names, count);
	uint64_t hash = HASH64_START;

	if (model->feature_group[0] || group) {
		(void)snprintf(ret, ENTRY_NAME_MAX, "%.*s", ENTRY_NAME_MAX - 1,
			       model->feature_group[0] ? model->feature_group : group->name);
		return;
	}
	if (join(names, count, ret))
		return;
	for (size_t i = 0; i < count; i++)
		hash = hash64_bytes(hash, names[i], strlen(names[i]) + 1);
	(void)snprintf(ret, ENTRY_NAME_MAX, PREFIX "%zu-features-%016llx", count,
		       (unsigned long long)hash);
}
