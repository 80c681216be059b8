// SPDX-License-Identifier: Apache-2.0
/* The labels that a user asked for: read once from the option, looked for in each pod. */
#include "kube/pods/pod_labels.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "base/text/utf8.h"

#define KEY_MAX 317 /* prefix 253, slash, name 63: k8s.io/apimachinery/pkg/util/validation */

void pod_labels_release(struct pod_labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		free(labels->items[i].key);
		free(labels->items[i].name);
	}
	*labels = (struct pod_labels){ 0 };
}

static int make_name(const char *key, char **ret)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_add_str(&name, "label_");
	for (; *key; key++)
		strbuf_add_char(&name, isalnum((unsigned char)*key) ? *key : '_');
	if (strbuf_error(&name) < 0) {
		strbuf_release(&name);
		return -ENOMEM;
	}
	*ret = name.data;
	return 0;
}

static int add_key(struct pod_labels *labels, const char *text, size_t len, struct diag *diag)
{
	struct pod_label *label = &labels->items[labels->count];

	if (len == 0 || len > KEY_MAX)
		return diag_set(diag, -EINVAL, "a label's key has 1 to %d characters", KEY_MAX);
	if (labels->count == POD_LABELS_MAX)
		return diag_set(diag, -EINVAL, "at most %d labels", POD_LABELS_MAX);
	label->key = strndup(text, len);
	if (!label->key || make_name(label->key, &label->name) < 0) {
		free(label->key);
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	labels->count++;
	for (const struct pod_label *other = labels->items; other < label; other++) {
		if (strcmp(other->name, label->name) == 0)
			return diag_set(diag, -EINVAL, "%.*s and %.*s would both be %.*s", KEY_MAX,
					other->key, KEY_MAX, label->key, KEY_MAX, label->name);
	}
	return 0;
}

int pod_labels_parse(const char *text, struct pod_labels *ret, struct diag *diag)
{
	struct pod_labels labels = { 0 };
	int r = 0;

	while (r == 0 && text && *text) {
		size_t len = strcspn(text, ",");
		const char *end = text + len, *begin = text;

		while (begin < end && *begin == ' ')
			begin++;
		while (end > begin && end[-1] == ' ')
			end--;
		r = add_key(&labels, begin, (size_t)(end - begin), diag);
		text += len;
		if (r == 0 && *text == ',' && !*++text)
			r = diag_set(diag, -EINVAL, "nothing follows the last comma");
	}
	if (r < 0) {
		pod_labels_release(&labels);
		return r;
	}
	*ret = labels;
	return 0;
}

/* The longest beginning of at most @max bytes that does not end within a character. */
static size_t cut(const char *text, size_t max)
{
	size_t len = strlen(text), at = 0;

	if (len <= max)
		return len;
	for (;;) {
		size_t step = utf8_char_len(text + at, len - at);

		if (step == 0 || at + step > max)
			return at;
		at += step;
	}
}

static const char *find_value(const json_t *metadata, const char *key)
{
	const char *value =
		json_string_value(json_object_get(json_object_get(metadata, "labels"), key));

	if (!value)
		value = json_string_value(
			json_object_get(json_object_get(metadata, "annotations"), key));
	return value;
}

/* Tabs are common in annotations, but are not printable. */
static void copy_printable(char *to, const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool control = (unsigned char)value[i] < 0x20 || value[i] == 0x7f;

		to[i] = control && value[i] != '\n' ? ' ' : value[i];
	}
	to[len] = '\0';
}

void pod_labels_read(const struct pod_labels *labels, const json_t *metadata,
		     struct pod_label_values *ret)
{
	size_t used = 0;

	ret->count = ret->lost = 0;
	for (size_t i = 0; i < labels->count; i++) {
		const struct pod_label *label = &labels->items[i];
		const char *value = find_value(metadata, label->key);
		size_t len, size;

		if (!value || !*value)
			continue;
		len = cut(value, POD_LABEL_VALUE_MAX);
		size = strlen(label->name) + len + OWNER_EXTRA_PUNCTUATION;
		if (used + size > OWNER_EXTRA_BYTES) {
			ret->lost++;
			continue;
		}
		used += size;
		ret->lost += value[len] != '\0';
		copy_printable(ret->text[ret->count], value, len);
		ret->items[ret->count] = (struct label){ label->name, ret->text[ret->count] };
		ret->count++;
	}
}
