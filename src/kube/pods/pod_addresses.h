/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses of this node's pods that are to be read: pods that run and that a selector of the
 * configuration asks for. Another thread than that of Kubernetes copies them.
 *
 * A selector is a namespace and up to POD_SELECTOR_TERMS labels or annotations; a pod must have
 * all of them. The address is status.podIP, which the kubelet sets and no author of a pod can; pods
 * in the network of the node have the node's.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#define POD_SELECTORS_MAX    8
#define POD_SELECTOR_TERMS   4
#define POD_ADDRESSES_MAX    256 /* pods that are selected; further ones are counted */
#define POD_TERM_KEY_MAX     317 /* a DNS subdomain, a slash, a name */
#define POD_TERM_VALUE_MAX   127
#define POD_NAMESPACE_MAX    63
#define POD_NAME_MAX         253
#define POD_UID_MAX          63
#define POD_ADDRESS_TEXT_MAX 45 /* of IPv6, as INET6_ADDRSTRLEN */

struct pod_term {
	bool is_annotation;
	char key[POD_TERM_KEY_MAX + 1];
	char value[POD_TERM_VALUE_MAX + 1];
};

struct pod_selector {
	char namespace_[POD_NAMESPACE_MAX + 1]; /* "": any */
	struct pod_term terms[POD_SELECTOR_TERMS];
	size_t term_count;
};

/* A selector without a namespace and terms selects nothing. */
bool pod_selector_is_empty(const struct pod_selector *selector);

struct pod_address {
	struct map_key key;        /* of the pod, to the table of pods */
	char uid[POD_UID_MAX + 1]; /* as cgroups and series have it */
	char namespace_[POD_NAMESPACE_MAX + 1], name[POD_NAME_MAX + 1];
	char address[POD_ADDRESS_TEXT_MAX + 1];
	uint32_t selectors; /* a bit for each that selects the pod */
};

struct pod_addresses;

/* A table with one reference, for copies of at most POD_SELECTORS_MAX selectors. 0 or -ENOMEM. */
int pod_addresses_new(const struct pod_selector *selectors, size_t count,
		      struct pod_addresses **ret);
/* Both take NULL, and are for any thread. */
struct pod_addresses *pod_addresses_ref(struct pod_addresses *addresses);
void pod_addresses_unref(struct pod_addresses *addresses);
/*
 * A new or changed pod: @pod is its object, @uid as cgroups have it. One that is not selected, does
 * not run or has no address is removed.
 */
void pod_addresses_put(struct pod_addresses *addresses, struct map_key key, const char *uid,
		       const json_t *pod);
void pod_addresses_remove(struct pod_addresses *addresses, struct map_key key);
/*
 * Copies all entries to @ret, of room for POD_ADDRESSES_MAX; returns their number. *ret_beyond:
 * selected pods that found no room so far.
 */
size_t pod_addresses_copy(struct pod_addresses *addresses, struct pod_address *ret,
			  uint64_t *ret_beyond);
