// SPDX-License-Identifier: Apache-2.0
#include "kube/pods/pod_digest.h"

#include "tests/unit/unit.h"

/* The published vectors: key 00…0f, message 00, 01, … (vectors.h, SipHash-128). */
static void agrees_with_the_reference(void **state)
{
	const struct pod_digest_key key = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	const char message[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	struct map_key digest = pod_digest(&key, message, 0);

	assert_true(digest.lo == 0xe6a825ba047f81a3 && digest.hi == 0x930255c71472f66d);
	digest = pod_digest(&key, message, 1);
	assert_true(digest.lo == 0x44af996bd8c187da && digest.hi == 0x45fc229b11597634);
	digest = pod_digest(&key, message, 8);
	assert_true(digest.lo != 0 && digest.hi != 0);
}

static void distinguishes_texts_and_keys(void **state)
{
	const struct pod_digest_key key = { 1, 2 }, other = { 1, 3 };
	struct map_key a = pod_digest(&key, "0123456789abcdef", 16);
	struct map_key b = pod_digest(&key, "0123456789abcdeg", 16);
	struct map_key c = pod_digest(&other, "0123456789abcdef", 16);
	struct map_key d = pod_digest(&key, "0123456789abcde\0", 15);

	assert_true(a.lo != b.lo && a.hi != b.hi);
	assert_true(a.lo != c.lo && a.hi != c.hi);
	assert_true(a.lo != d.lo && a.hi != d.hi);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_reference),
		cmocka_unit_test(distinguishes_texts_and_keys),
	};

	return unit_run(tests);
}
