/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FNV-1a, which spreads short texts well and costs one multiplication per byte. Collisions are easy
 * to make: use it for look-ups, not as proof of equality (kube/pods/pod_digest.h has a keyed hash).
 * A hash continues from the one before: hash64_bytes(hash64_text(HASH64_START, a), b, len).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH64_START 0xcbf29ce484222325ULL
#define HASH32_START 2166136261U

static inline uint64_t hash64_byte(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * 0x100000001b3ULL;
}

static inline uint32_t hash32_byte(uint32_t hash, unsigned char byte)
{
	return (hash ^ byte) * 16777619U;
}

static inline uint64_t hash64_bytes(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = hash64_byte(hash, (unsigned char)bytes[i]);
	return hash;
}

static inline uint32_t hash32_bytes(uint32_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = hash32_byte(hash, (unsigned char)bytes[i]);
	return hash;
}

static inline uint64_t hash64_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = hash64_byte(hash, (unsigned char)*text);
	return hash;
}
