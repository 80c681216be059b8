// SPDX-License-Identifier: Apache-2.0
/*
 * Most of an owner's strings are short or empty: a copy takes what they need, not what they may be.
 * The strings are walked by their offsets, so that a new one is one line here.
 */
#include "attribution/owner.h"

#include <stddef.h>
#include <string.h>

#include "attribution/label_text.h"
#include "base/hash.h"
#include "base/macro.h"

static const size_t strings[] = {
	offsetof(struct ledger_owner, container_id),
	offsetof(struct ledger_owner, container_name),
	offsetof(struct ledger_owner, container_namespace),
	offsetof(struct ledger_owner, pod_name),
	offsetof(struct ledger_owner, runtime),
	offsetof(struct ledger_owner, pod_id),
	offsetof(struct ledger_owner, workload),
	offsetof(struct ledger_owner, workload_type),
	offsetof(struct ledger_owner, pod_labels),
	offsetof(struct ledger_owner, vm_id),
	offsetof(struct ledger_owner, vm_name),
	offsetof(struct ledger_owner, hypervisor),
};
#define SERIES_STRINGS 4 /* the first of them */

static const char *string_of(const struct ledger_owner *owner, size_t i)
{
	const char *text;

	memcpy(&text, (const char *)owner + strings[i], sizeof(text));
	return text;
}

static void set_string(struct ledger_owner *owner, size_t i, const char *text)
{
	memcpy((char *)owner + strings[i], &text, sizeof(text));
}

struct ledger_owner *owner_copy(const struct ledger_owner *owner)
{
	char clean[ARRAY_SIZE(strings) * LEDGER_LABEL_MAX + LEDGER_POD_LABELS_MAX];
	struct ledger_owner *copy;
	size_t used = 0;
	char *at;

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		if (strings[i] == offsetof(struct ledger_owner, pod_labels))
			label_list_text(clean + used, LEDGER_POD_LABELS_MAX, string_of(owner, i));
		else
			label_text(clean + used, LEDGER_LABEL_MAX, string_of(owner, i));
		used += strlen(clean + used) + 1;
	}
	copy = malloc(sizeof(*copy) + used);
	if (!copy)
		return NULL;
	*copy = *owner;
	at = (char *)(copy + 1);
	memcpy(at, clean, used);
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		set_string(copy, i, at);
		at += strlen(at) + 1;
	}
	return copy;
}

static bool are_equal(const struct ledger_owner *a, const struct ledger_owner *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(string_of(a, i), string_of(b, i)) != 0)
			return false;
	}
	return true;
}

bool owner_is_same_series(const struct ledger_owner *a, const struct ledger_owner *b)
{
	return are_equal(a, b, SERIES_STRINGS);
}

bool owner_is_equal(const struct ledger_owner *a, const struct ledger_owner *b)
{
	return are_equal(a, b, ARRAY_SIZE(strings));
}

bool owner_of_group(const struct ledger_owner *owner, enum ledger_group group,
		    struct ledger_owner *ret)
{
	*ret = (struct ledger_owner){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		set_string(ret, i, "");
	switch (group) {
	case LEDGER_POD:
		ret->pod_id = owner->pod_id;
		ret->pod_name = owner->pod_name;
		ret->container_namespace = owner->container_namespace;
		ret->workload = owner->workload;
		ret->workload_type = owner->workload_type;
		ret->pod_labels = owner->pod_labels;
		ret->pod_qos = owner->pod_qos;
		return owner->pod_id[0] != '\0';
	case LEDGER_VM:
		ret->vm_id = owner->vm_id;
		ret->vm_name = owner->vm_name;
		ret->hypervisor = owner->hypervisor;
		return owner->vm_id[0] != '\0';
	case LEDGER_NAMESPACE:
	case LEDGER_GROUP_COUNT:
	default:
		ret->container_namespace = owner->container_namespace;
		return true;
	}
}

uint64_t owner_hash(const struct ledger_owner *owner)
{
	uint64_t hash = HASH64_START;

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		hash = hash64_byte(hash64_text(hash, string_of(owner, i)), 0); /* a border */
	return hash;
}

uint64_t owner_text_hash(const char *text)
{
	return hash64_text(HASH64_START, text);
}
