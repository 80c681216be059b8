// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/snappy_block.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/param.h>

#include "base/macro.h"
#include "base/protobuf_writer.h"
#include "base/shared_library.h"

/* A literal of up to 65536 bytes: 61 in the upper six bits, and the length less 1 in two bytes. */
#define LITERAL_TAG (char)(61 << 2)
#define LITERAL_MAX 65536

/* snappy-c.h; the status is 0 on success. */
typedef int compress_fn(const char *input, size_t input_length, char *compressed, size_t *length);
typedef size_t max_length_fn(size_t source_length);

struct snappy {
	compress_fn *compress;
	max_length_fn *max_length;
};

static const struct shared_function functions[] = {
	{ "snappy_compress", offsetof(struct snappy, compress) },
	{ "snappy_max_compressed_length", offsetof(struct snappy, max_length) },
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct snappy library;
static bool is_there;

static void load(void)
{
	void *handle = dlopen("libsnappy.so.1", RTLD_NOW | RTLD_LOCAL);

	is_there =
		handle && !shared_library_find(handle, functions, ARRAY_SIZE(functions), &library);
}

bool snappy_block_load(void)
{
	(void)pthread_once(&once, load);
	return is_there;
}

int snappy_block_literal(const char *bytes, size_t len, struct strbuf *out)
{
	char head[PROTOBUF_VARINT_MAX];

	strbuf_add(out, head, (size_t)(protobuf_put_varint(head, len) - head));
	while (len) {
		size_t part = MIN(len, LITERAL_MAX);
		const char tag[] = { LITERAL_TAG, (char)(part - 1), (char)((part - 1) >> 8) };

		strbuf_add(out, tag, sizeof(tag));
		strbuf_add(out, bytes, part);
		bytes += part;
		len -= part;
	}
	return strbuf_error(out);
}

int snappy_block(const char *bytes, size_t len, struct strbuf *out)
{
	size_t size;

	if (!snappy_block_load())
		return snappy_block_literal(bytes, len, out);
	size = library.max_length(len);
	if (!strbuf_reserve(out, size))
		return -ENOMEM;
	if (library.compress(bytes, len, out->data + out->len, &size) != 0)
		return snappy_block_literal(bytes, len, out);
	out->len += size;
	return 0;
}
