/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A keyed digest of a pod's text, by which an unchanged pod is known without being parsed: SipHash
 * 2-4 with 128 bits (Aumasson, Bernstein: "SipHash: a fast short-input PRF"). It is keyed, so that
 * no author can make a pod with the digest of another pod's text and hide a change. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct pod_digest_key {
	uint64_t k0, k1;
};

struct map_key pod_digest(const struct pod_digest_key *key, const char *text, size_t len);
