// SPDX-License-Identifier: Apache-2.0
/* The file is mapped: a recording of an hour has some MB, and pages that were read can go again. */
#include "record/record_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "record/record_block.h"
#include "record/record_decode.h"

struct record_reader {
	char *name;
	const uint8_t *bytes;
	size_t len;
	void *mapped; /* NULL: the bytes are borrowed */
	size_t at;    /* of the next block */
	size_t block_at;
	uint64_t blocks;
	struct strbuf records; /* of the block that is being read */
	size_t record_at;
	bool is_cut;
	struct record_decoder *decoder;
};

void record_reader_close(struct record_reader *reader)
{
	if (!reader)
		return;
	if (reader->mapped)
		(void)munmap(reader->mapped, reader->len);
	record_decoder_free(reader->decoder);
	strbuf_release(&reader->records);
	free(reader->name);
	free(reader);
}

int record_reader_open_memory(const char *name, const uint8_t *bytes, size_t len,
			      struct record_reader **ret, struct diag *diag)
{
	struct record_reader *reader = calloc(1, sizeof(*reader));
	struct diag why = { "" };
	int r = reader ? 0 : -ENOMEM;

	if (r == 0) {
		reader->bytes = bytes;
		reader->len = len;
		reader->at = RECORD_HEADER_BYTES;
		reader->name = strdup(name);
		r = reader->name ? record_decoder_new(&reader->decoder) : -ENOMEM;
	}
	if (r == 0)
		r = record_block_check_header(bytes, len, &why);
	if (r < 0) {
		record_reader_close(reader);
		return diag_set(diag, r, "%s: %s", name, r == -ENOMEM ? "out of memory" : why.text);
	}
	*ret = reader;
	return 0;
}

int record_reader_open(const char *path, struct record_reader **ret, struct diag *diag)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;
	void *mapped;
	int r;

	if (fd < 0 || fstat(fd, &info) < 0) {
		r = -errno;
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	}
	if (!S_ISREG(info.st_mode) || !info.st_size)
		return diag_set(diag, -EINVAL, "%s: %s", path,
				S_ISREG(info.st_mode) ? "empty" : "not a file");
	mapped = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapped == MAP_FAILED) {
		r = -errno;
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	}
	r = record_reader_open_memory(path, mapped, (size_t)info.st_size, ret, diag);
	if (r == 0)
		(*ret)->mapped = mapped;
	else
		(void)munmap(mapped, (size_t)info.st_size);
	return r;
}

/* 1, or 0 at the end. */
static int next_block(struct record_reader *reader, struct diag *diag)
{
	struct diag why = { "" };
	int64_t r;

	if (reader->at == reader->len)
		return 0;
	r = record_block_read(reader->bytes + reader->at, reader->len - reader->at,
			      &reader->records, &why);
	if (r < 0)
		return diag_set(diag, (int)r,
				"%s: byte %zu, block %llu: %s; everything before it is good, the "
				"rest cannot be read",
				reader->name, reader->at, (unsigned long long)reader->blocks,
				r == -ENOMEM ? "out of memory" : why.text);
	reader->is_cut = r == 0;
	reader->block_at = reader->at;
	reader->at = r ? reader->at + (size_t)r : reader->len;
	reader->blocks += r > 0;
	reader->record_at = 0;
	return r > 0;
}

int record_reader_next(struct record_reader *reader, struct record *ret, struct diag *diag)
{
	struct diag why = { "" };
	int r;

	for (;;) {
		size_t at = reader->record_at;

		r = record_decode(reader->decoder, (const uint8_t *)reader->records.data,
				  reader->records.len, &reader->record_at, ret, &why);
		if (r < 0)
			return diag_set(diag, r,
					"%s: byte %zu, block %llu, from byte %zu of its content: "
					"%s; everything before it is good, the rest cannot be read",
					reader->name, reader->block_at,
					(unsigned long long)reader->blocks - 1, at, why.text);
		if (r > 0)
			return 1;
		r = next_block(reader, diag);
		if (r <= 0)
			return r;
	}
}

bool record_reader_is_cut(const struct record_reader *reader)
{
	return reader->is_cut;
}
