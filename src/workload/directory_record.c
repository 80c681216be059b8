// SPDX-License-Identifier: Apache-2.0
/*
 * The strings of container_names stand one behind the other, each terminated, in the order of
 * `strings`; so two records are equal when their bytes are.
 */
#include "workload/directory_record.h"

#include <string.h>

#include "base/macro.h"

static const char *const qos_names[] = {
	[POD_QOS_UNKNOWN] = "",
	[POD_QOS_GUARANTEED] = "Guaranteed",
	[POD_QOS_BURSTABLE] = "Burstable",
	[POD_QOS_BEST_EFFORT] = "BestEffort",
};

const char *pod_qos_name(enum pod_qos qos)
{
	return qos_names[qos];
}

enum pod_qos pod_qos_from_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(qos_names); i++)
		if (strcmp(qos_names[i], name) == 0)
			return (enum pod_qos)i;
	return POD_QOS_UNKNOWN;
}

#define NAME_MAX_LEN   255
#define LABELS_MAX_LEN 1023

static const size_t strings[] = {
	offsetof(struct container_names, container_id),
	offsetof(struct container_names, container_name),
	offsetof(struct container_names, pod_name),
	offsetof(struct container_names, pod_namespace),
	offsetof(struct container_names, pod_id),
	offsetof(struct container_names, workload),
	offsetof(struct container_names, workload_type),
	offsetof(struct container_names, pod_labels),
};

_Static_assert(DIRECTORY_NAMES_MAX >=
		       (ARRAY_SIZE(strings) - 1) * (NAME_MAX_LEN + 1) + LABELS_MAX_LEN + 1,
	       "a record fits the buffer of a look-up");

static const char **string_at(struct container_names *names, size_t i)
{
	return (const char **)(void *)((char *)names + strings[i]);
}

/* ',a="x",b="y"': up to the last label that ends within the limit. */
static size_t whole_labels(const char *text)
{
	bool quoted = false;
	size_t whole = 0, i;

	for (i = 0; i < LABELS_MAX_LEN && text[i]; i++) {
		if (text[i] == '"') {
			quoted = !quoted;
			whole = quoted ? whole : i + 1;
		} else if (quoted && text[i] == '\\' && text[i + 1]) {
			i++;
		}
	}
	return whole;
}

static size_t length_of(const struct container_names *names, size_t i)
{
	const char *text = *(const char *const *)(const void *)((const char *)names + strings[i]);

	if (!text)
		return 0;
	if (strings[i] == offsetof(struct container_names, pod_labels))
		return whole_labels(text);
	return strnlen(text, NAME_MAX_LEN);
}

struct directory_record *directory_record_new(const struct container_names *names)
{
	size_t lengths[ARRAY_SIZE(strings)], size = 0;
	struct directory_record *record;
	char *at;

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		lengths[i] = length_of(names, i);
		size += lengths[i] + 1;
	}
	record = malloc(sizeof(*record) + size);
	if (!record)
		return NULL;
	record->names = *names;
	record->size = size;
	at = record->text;
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		const char **string = string_at(&record->names, i);

		if (lengths[i])
			memcpy(at, *string, lengths[i]);
		at[lengths[i]] = '\0';
		*string = at;
		at += lengths[i] + 1;
	}
	return record;
}

bool directory_record_equal(const struct directory_record *one,
			    const struct directory_record *other)
{
	return one->size == other->size && memcmp(one->text, other->text, one->size) == 0 &&
	       one->names.cpu_request_milli == other->names.cpu_request_milli &&
	       one->names.cpu_limit_milli == other->names.cpu_limit_milli &&
	       one->names.pod_qos == other->names.pod_qos &&
	       one->names.source == other->names.source &&
	       one->names.pod_source == other->names.pod_source;
}

bool directory_record_copy(const struct directory_record *record, char *buffer, size_t size,
			   struct container_names *ret)
{
	struct container_names names = record->names;

	if (size < record->size)
		return false;
	memcpy(buffer, record->text, record->size);
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		const char **string = string_at(&names, i);

		*string = buffer + (*string - record->text);
	}
	*ret = names;
	return true;
}
