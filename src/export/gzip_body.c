// SPDX-License-Identifier: Apache-2.0
/*
 * zlib is used at level 1: 1.9 MB of our text (10,000 series) take 5.7 ms and become 175 kB. Level
 * 6 takes 11.1 ms for 140 kB. The size of its tables (memory level) matters: with 7, a page takes 3
 * to 4 % less time than with 5 or with its default, 8, and a request of OTLP a third less than with
 * 5, because its ids, which are random, then collide less often.
 *
 * libdeflate takes half of the time for a little less at its level 1, but all of its output at
 * once: it is tried with a quarter of the input's length, to which all of ours shrinks.
 */
#include "export/gzip_body.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <zlib.h>

#include "base/macro.h"
#include "base/shared_library.h"

#define LEVEL        1
#define WINDOW_BITS  (15 + 16) /* + 16: with a gzip header, whose time is 0 */
#define MEMORY_LEVEL 7         /* 192 KiB while it works, most of it in the first caches */

/* libdeflate.h */
struct libdeflate_compressor;
typedef struct libdeflate_compressor *alloc_fn(int level);
typedef size_t compress_fn(struct libdeflate_compressor *compressor, const void *in, size_t in_len,
			   void *out, size_t out_size);
typedef void free_fn(struct libdeflate_compressor *compressor);

struct libdeflate {
	alloc_fn *alloc;
	compress_fn *compress;
	free_fn *free;
};

static const struct shared_function functions[] = {
	{ "libdeflate_alloc_compressor", offsetof(struct libdeflate, alloc) },
	{ "libdeflate_gzip_compress", offsetof(struct libdeflate, compress) },
	{ "libdeflate_free_compressor", offsetof(struct libdeflate, free) },
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct libdeflate library;
static bool is_there; /* atomic */

static void load(void)
{
	void *handle = dlopen("libdeflate.so.0", RTLD_NOW | RTLD_LOCAL);
	bool is_whole =
		handle && !shared_library_find(handle, functions, ARRAY_SIZE(functions), &library);

	__atomic_store_n(&is_there, is_whole, __ATOMIC_RELEASE);
}

bool gzip_body_load(void)
{
	(void)pthread_once(&once, load);
	return is_there;
}

/* False: there is no memory, or no room. */
static bool deflate_within(const char *text, size_t len, size_t room, struct strbuf *out)
{
	struct libdeflate_compressor *compressor;

	strbuf_reset(out);
	if (!strbuf_reserve(out, room))
		return false;
	compressor = library.alloc(LEVEL);
	if (!compressor)
		return false;
	out->len = library.compress(compressor, text, len, out->data, room);
	library.free(compressor);
	return out->len;
}

static int deflate_by_zlib(const char *text, size_t len, struct strbuf *out)
{
	z_stream stream = { 0 };
	size_t bound;
	int r;

	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	/*
	 * Our text shrinks to a tenth; a buffer for the worst case would stay ten times too big. So
	 * it grows.
	 */
	bound = len / 8 + 1024;
	strbuf_reset(out);
	/*
	 * zlib does not write to its input, but takes it without const when built without
	 * ZLIB_CONST.
	 */
	stream.next_in = (Bytef *)(uintptr_t)text;
	stream.avail_in = (uInt)len;
	do {
		if (!strbuf_reserve(out, bound)) {
			(void)deflateEnd(&stream);
			return -ENOMEM;
		}
		stream.next_out = (Bytef *)out->data + out->len;
		stream.avail_out = (uInt)(out->size - out->len - 1);
		r = deflate(&stream, Z_FINISH);
		out->len = out->size - 1 - stream.avail_out;
	} while (r == Z_OK || r == Z_BUF_ERROR);
	(void)deflateEnd(&stream);
	return r == Z_STREAM_END ? 0 : -EIO;
}

int gzip_body(const char *text, size_t len, struct strbuf *out)
{
	if (__atomic_load_n(&is_there, __ATOMIC_ACQUIRE) &&
	    deflate_within(text, len, len / 4 + 1024, out))
		return 0;
	return deflate_by_zlib(text, len, out);
}
