// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "export/gzip_body.h"
#include "tests/unit/unit.h"

static void assert_round_trip(const char *text, size_t len)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT, again = STRBUF_INIT;
	CLEANUP_FREE char *back = malloc(len + 1);
	z_stream stream = { 0 };

	assert_non_null(back);
	assert_int_equal(gzip_body(text, len, &packed), 0);
	assert_int_equal(gzip_body(text, len, &again), 0);
	assert_int_equal(packed.len, again.len);
	assert_memory_equal(packed.data, again.data, packed.len);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = (Bytef *)packed.data;
	stream.avail_in = (uInt)packed.len;
	stream.next_out = (Bytef *)back;
	stream.avail_out = (uInt)len + 1;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, len);
	assert_memory_equal(back, text, len);
	(void)inflateEnd(&stream);
}

static void assert_round_trips(void)
{
	static char noise[300000];
	uint32_t x = 1;

	assert_round_trip("", 0);
	assert_round_trip("a", 1);
	memset(noise, 'a', sizeof(noise));
	assert_round_trip(noise, sizeof(noise));
	for (size_t i = 0; i < sizeof(noise); i++) { /* does not shrink: the buffer must grow */
		x = x * 1664525 + 1013904223;
		noise[i] = (char)(x >> 24);
	}
	assert_round_trip(noise, sizeof(noise));
}

static void packs_so_that_it_unpacks(void **state)
{
	assert_round_trips();
}

/* It is loaded for the rest of the program. */
static void libdeflate_does_the_same(void **state)
{
	if (!gzip_body_load()) {
		print_message("# not possible here: libdeflate is not installed\n");
		return;
	}
	assert_round_trips();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packs_so_that_it_unpacks),
		cmocka_unit_test(libdeflate_does_the_same),
	};

	return unit_run(tests);
}
