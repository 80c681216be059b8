// SPDX-License-Identifier: Apache-2.0
#include "base/ustar.h"

#include <stdio.h>
#include <string.h>

#define BLOCK   512
#define LEN_MAX 077777777777ULL

struct header {
	char name[100];
	char mode[8], uid[8], gid[8];
	char size[12], mtime[12];
	char checksum[8];
	char type;
	char link_name[100];
	char magic[6], version[2];
	char user[32], group[32];
	char device[2][8];
	char prefix[155];
	char padding[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

/* Digits and a zero byte. */
static void put_octal(char *field, size_t size, uint64_t value)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%0*llo", (int)size - 1, (unsigned long long)value);
	memcpy(field, digits, size);
}

static unsigned sum_of(const struct header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof(*header); i++)
		sum += bytes[i];
	return sum;
}

static void pad(struct strbuf *out)
{
	static const char zeros[BLOCK];

	if (out->len % BLOCK)
		strbuf_add(out, zeros, BLOCK - out->len % BLOCK);
}

void ustar_add(struct strbuf *out, const char *name, const void *data, size_t len, int64_t mtime_s)
{
	struct header header = { .type = '0', .magic = "ustar", .version = { '0', '0' } };

	if (strlen(name) >= sizeof(header.name) || len > LEN_MAX || mtime_s < 0 ||
	    (uint64_t)mtime_s > LEN_MAX) {
		out->failed = true;
		return;
	}
	memcpy(header.name, name, strlen(name));
	put_octal(header.mode, sizeof(header.mode), 0644);
	put_octal(header.uid, sizeof(header.uid), 0);
	put_octal(header.gid, sizeof(header.gid), 0);
	put_octal(header.size, sizeof(header.size), len);
	put_octal(header.mtime, sizeof(header.mtime), (uint64_t)mtime_s);
	memset(header.checksum, ' ', sizeof(header.checksum)); /* while it is summed up */
	put_octal(header.checksum, sizeof(header.checksum) - 1, sum_of(&header));
	strbuf_add(out, &header, sizeof(header));
	if (len)
		strbuf_add(out, data, len);
	pad(out);
}

void ustar_end(struct strbuf *out)
{
	static const char zeros[2 * BLOCK];

	strbuf_add(out, zeros, sizeof(zeros));
}
