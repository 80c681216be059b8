// SPDX-License-Identifier: Apache-2.0
/*
 * Packed and searched one by one: there are few, and they change with pods only. References,
 * because a thread of Kubernetes that hangs may outlive the thread that reads the addresses.
 */
#include "kube/pods/pod_addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct pod_addresses {
	pthread_mutex_t lock;
	unsigned references;
	struct pod_selector *selectors; /* [selector_count] */
	size_t selector_count;
	struct pod_address *entries;
	size_t count, size;
	uint64_t beyond;
};

bool pod_selector_is_empty(const struct pod_selector *selector)
{
	return !selector->namespace_[0] && selector->term_count == 0;
}

int pod_addresses_new(const struct pod_selector *selectors, size_t count,
		      struct pod_addresses **ret)
{
	struct pod_addresses *addresses = calloc(1, sizeof(*addresses));

	if (!addresses)
		return -ENOMEM;
	addresses->selectors = calloc(count ? count : 1, sizeof(*selectors));
	if (!addresses->selectors) {
		free(addresses);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		addresses->selectors[i] = selectors[i];
	addresses->selector_count = count;
	addresses->references = 1;
	(void)pthread_mutex_init(&addresses->lock, NULL); /* cannot fail with default attributes */
	*ret = addresses;
	return 0;
}

struct pod_addresses *pod_addresses_ref(struct pod_addresses *addresses)
{
	if (!addresses)
		return NULL;
	(void)pthread_mutex_lock(&addresses->lock);
	addresses->references++;
	(void)pthread_mutex_unlock(&addresses->lock);
	return addresses;
}

void pod_addresses_unref(struct pod_addresses *addresses)
{
	unsigned left;

	if (!addresses)
		return;
	(void)pthread_mutex_lock(&addresses->lock);
	left = --addresses->references;
	(void)pthread_mutex_unlock(&addresses->lock);
	if (left)
		return;
	(void)pthread_mutex_destroy(&addresses->lock);
	free(addresses->selectors);
	free(addresses->entries);
	free(addresses);
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool has_term(const json_t *metadata, const struct pod_term *term)
{
	const json_t *of =
		json_object_get(metadata, term->is_annotation ? "annotations" : "labels");
	const char *value = json_string_value(json_object_get(of, term->key));

	return value && strcmp(value, term->value) == 0;
}

static bool selects(const struct pod_selector *selector, const json_t *metadata)
{
	if (pod_selector_is_empty(selector))
		return false;
	if (selector->namespace_[0] &&
	    strcmp(text_at(metadata, "namespace"), selector->namespace_) != 0)
		return false;
	for (size_t i = 0; i < selector->term_count; i++) {
		if (!has_term(metadata, &selector->terms[i]))
			return false;
	}
	return true;
}

static uint32_t selectors_of(const struct pod_addresses *addresses, const json_t *metadata)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < addresses->selector_count; i++) {
		if (selects(&addresses->selectors[i], metadata))
			bits |= 1U << i;
	}
	return bits;
}

static bool copy_text(char *ret, size_t size, const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len >= size)
		return false;
	memcpy(ret, text, len + 1);
	return true;
}

static bool is_address(const char *text)
{
	struct in6_addr parsed;

	return inet_pton(AF_INET, text, &parsed) == 1 || inet_pton(AF_INET6, text, &parsed) == 1;
}

/* False: nothing can be read from it, or a text does not fit. */
static bool read_pod(const struct pod_addresses *addresses, const char *uid, const json_t *pod,
		     struct pod_address *ret)
{
	const json_t *metadata = json_object_get(pod, "metadata");
	const json_t *status = json_object_get(pod, "status");

	ret->selectors = selectors_of(addresses, metadata);
	return ret->selectors && strcmp(text_at(status, "phase"), "Running") == 0 &&
	       copy_text(ret->uid, sizeof(ret->uid), uid) &&
	       copy_text(ret->namespace_, sizeof(ret->namespace_),
			 text_at(metadata, "namespace")) &&
	       copy_text(ret->name, sizeof(ret->name), text_at(metadata, "name")) &&
	       copy_text(ret->address, sizeof(ret->address), text_at(status, "podIP")) &&
	       is_address(ret->address);
}

static size_t find(const struct pod_addresses *addresses, struct map_key key)
{
	size_t i = 0;

	while (i < addresses->count &&
	       (addresses->entries[i].key.hi != key.hi || addresses->entries[i].key.lo != key.lo))
		i++;
	return i;
}

static void remove_at(struct pod_addresses *addresses, size_t index)
{
	if (index < addresses->count)
		addresses->entries[index] = addresses->entries[--addresses->count];
}

void pod_addresses_put(struct pod_addresses *addresses, struct map_key key, const char *uid,
		       const json_t *pod)
{
	struct pod_address entry = { .key = key };
	bool is_wanted = read_pod(addresses, uid, pod, &entry);
	size_t index;

	(void)pthread_mutex_lock(&addresses->lock);
	index = find(addresses, key);
	if (!is_wanted) {
		remove_at(addresses, index);
	} else if (index < addresses->count) {
		addresses->entries[index] = entry;
	} else if (index == POD_ADDRESSES_MAX ||
		   ARRAY_RESERVE(addresses->entries, addresses->size, index + 1) < 0) {
		addresses->beyond++;
	} else {
		addresses->entries[addresses->count++] = entry;
	}
	(void)pthread_mutex_unlock(&addresses->lock);
}

void pod_addresses_remove(struct pod_addresses *addresses, struct map_key key)
{
	(void)pthread_mutex_lock(&addresses->lock);
	remove_at(addresses, find(addresses, key));
	(void)pthread_mutex_unlock(&addresses->lock);
}

size_t pod_addresses_copy(struct pod_addresses *addresses, struct pod_address *ret,
			  uint64_t *ret_beyond)
{
	size_t count;

	(void)pthread_mutex_lock(&addresses->lock);
	count = addresses->count;
	for (size_t i = 0; i < count; i++)
		ret[i] = addresses->entries[i];
	*ret_beyond = addresses->beyond;
	(void)pthread_mutex_unlock(&addresses->lock);
	return count;
}
