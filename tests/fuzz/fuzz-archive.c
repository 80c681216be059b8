// SPDX-License-Identifier: Apache-2.0
/*
 * An archive of a model: names stay below it, sizes within the limits, and files have their length.
 */
#include <stdlib.h>
#include <string.h>

#include "repository/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_file(const struct archive *archive, size_t index)
{
	const char *name = archive_name(archive, index);
	char *text = NULL;
	size_t len = 0;

	if (!*name || *name == '/' || strchr(name, '\\') || archive_find(archive, name) != index)
		abort();
	if (strcmp(name, "..") == 0 || strncmp(name, "../", 3) == 0 || strstr(name, "/../"))
		abort();
	if (archive_read(archive, index, &text, &len, NULL) == 0 &&
	    (len > ARCHIVE_FILE_MAX || text[len]))
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct archive *archive = NULL;
	struct diag diag = { "" };

	if (archive_open("a.zip", data, size, &archive, &diag) < 0) {
		if (!diag.text[0])
			abort();
		return 0;
	}
	if (archive_count(archive) == 0 || archive_count(archive) > ARCHIVE_FILES_MAX)
		abort();
	for (size_t i = 0; i < archive_count(archive); i++)
		check_file(archive, i);
	archive_close(archive);
	return 0;
}
