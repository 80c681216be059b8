/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A zip archive in memory, as model repositories have them: a few files of a model. Archives come
 * from elsewhere, so all limits are checked before anything is unpacked, and nothing is ever
 * written to a path that an archive names.
 *
 * Refused as a whole: a name that is absolute, has a "..", a backslash or a control character, or
 * comes twice; links and devices; encrypted files; more than ARCHIVE_FILES_MAX of them; a file
 * above ARCHIVE_FILE_MAX, all above ARCHIVE_TOTAL_MAX, or much larger unpacked than any model is.
 * Pure but for memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define ARCHIVE_FILES_MAX 256
#define ARCHIVE_NAME_MAX  256         /* with the terminator */
#define ARCHIVE_FILE_MAX  (16U << 20) /* bytes, unpacked */
#define ARCHIVE_TOTAL_MAX (64U << 20) /* bytes of all files, unpacked */
#define ARCHIVE_RATIO_MAX 100         /* unpacked to packed, … */
#define ARCHIVE_RATIO_MIN (1U << 20)  /* … of a file with this many bytes or more */

/* An archive of a whole pipeline, which has many models. */
#define ARCHIVE_PIPELINE_FILES_MAX 4096
#define ARCHIVE_PIPELINE_TOTAL_MAX (1024U << 20)

struct archive;

/* @data is borrowed until the archive is closed. 0, or -EINVAL with @name and why; -ENOMEM. */
int archive_open(const char *name, const void *data, size_t size, struct archive **ret,
		 struct diag *diag);
/* The same for a pipeline: with more files, and more bytes of all of them. */
int archive_open_pipeline(const char *name, const void *data, size_t size, struct archive **ret,
			  struct diag *diag);
void archive_close(struct archive *archive); /* NULL is fine */
void archive_cleanup(struct archive **archive);

size_t archive_count(const struct archive *archive);
const char *archive_name(const struct archive *archive, size_t index);
/* Index of the file, or SIZE_MAX. */
size_t archive_find(const struct archive *archive, const char *file);
/* The file's content, terminated, given to the caller; its checksum was right. */
int archive_read(const struct archive *archive, size_t index, char **ret, size_t *ret_len,
		 struct diag *diag);

struct archive_file {
	const char *name;
	const void *data;
	size_t len;
};

/* The same files always give the same bytes. 0 or -ENOMEM. */
int archive_write(const struct archive_file *files, size_t count, struct strbuf *out);
