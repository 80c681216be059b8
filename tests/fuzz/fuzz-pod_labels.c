// SPDX-License-Identifier: Apache-2.0
/*
 * The first line is a list of labels as a user asks for it, the rest a pod's metadata: what is read
 * of it is printable, and interning takes all of it as it is. And any bytes as a pair: what
 * interning makes of it, it makes of that again.
 */
#include <stdint.h>

#include "base/macro.h"
#include "energy/label_text.h"
#include "kube/json_bounded.h"
#include "kube/pods/pod_labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct owner_names *intern(struct names_table *table, const struct label *extra,
					size_t count)
{
	const struct owner_names names = { .extra = extra, .extra_count = count };

	return owner_names_intern(table, &names);
}

static void try_pair(struct names_table *table, const char *text)
{
	const struct label pairs[] = { { text, text },
				       { "label_a", text },
				       { "label_a", "twice" } };
	const struct owner_names *once = intern(table, pairs, ARRAY_SIZE(pairs)), *again;

	if (!once)
		return;
	again = intern(table, once->extra, once->extra_count);
	if ((again && again != once) || once->extra_count > 2)
		abort();
	owner_names_unref(again);
	owner_names_unref(once);
}

/* U+FFFD is a character of JSON, and what prints like it is one. */
static bool is_taken(const struct label *read, const struct label *taken)
{
	char clean[OWNER_NAME_MAX + 1];

	label_text(clean, sizeof(clean), read->value);
	return strcmp(read->name, taken->name) == 0 && strcmp(clean, taken->value) == 0 &&
	       !strpbrk(taken->value, "\t\x7f");
}

static void try_pod(struct names_table *table, const char *wanted, const json_t *metadata)
{
	const struct owner_names *names;
	struct pod_label_values values;
	struct pod_labels labels;

	if (pod_labels_parse(wanted, &labels, NULL) < 0)
		return;
	pod_labels_read(&labels, metadata, &values);
	if (values.count > labels.count || values.lost > labels.count)
		abort();
	names = intern(table, values.items, values.count);
	if (names && names->extra_count != values.count)
		abort();
	for (size_t i = 0; names && i < values.count; i++) {
		if (!is_taken(&values.items[i], &names->extra[i]))
			abort();
	}
	owner_names_unref(names);
	pod_labels_release(&labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = malloc(size + 1);
	struct names_table *table = names_table_get(NULL);
	char *line;

	if (!text || !table) {
		names_table_put(table);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	try_pair(table, text);
	line = strchr(text, '\n');
	if (line) {
		json_t *metadata = json_parse_bounded(line + 1, strlen(line + 1));

		*line = '\0';
		try_pod(table, text, metadata);
		json_decref(metadata);
	}
	names_table_put(table);
	return 0;
}
