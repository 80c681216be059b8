// SPDX-License-Identifier: Apache-2.0
/*
 * SipHash 2-4, 128 bits: the constants of the reference implementation, little-endian words on
 * every machine.
 */
#include "kube/pods/pod_digest.h"

struct state {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t value, unsigned by)
{
	return value << by | value >> (64 - by);
}

static void mix(struct state *s, unsigned rounds)
{
	while (rounds--) {
		s->v0 += s->v1;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v3;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 += s->v3;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 += s->v1;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v2 = rotate(s->v2, 32);
	}
}

static uint64_t read_word(const char *bytes, size_t len)
{
	uint64_t word = 0;

	for (size_t i = 0; i < len; i++)
		word |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
	return word;
}

static void absorb(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	mix(s, 2);
	s->v0 ^= word;
}

struct map_key pod_digest(const struct pod_digest_key *key, const char *text, size_t len)
{
	struct state s = {
		.v0 = key->k0 ^ 0x736f6d6570736575ULL,
		.v1 = key->k1 ^ 0x646f72616e646f6dULL ^ 0xee,
		.v2 = key->k0 ^ 0x6c7967656e657261ULL,
		.v3 = key->k1 ^ 0x7465646279746573ULL,
	};
	struct map_key digest;
	size_t at = 0;

	for (; len - at >= 8; at += 8)
		absorb(&s, read_word(text + at, 8));
	absorb(&s, (uint64_t)len << 56 | read_word(text + at, len - at));
	s.v2 ^= 0xee;
	mix(&s, 4);
	digest.lo = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
	s.v1 ^= 0xdd;
	mix(&s, 4);
	digest.hi = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
	return digest;
}
