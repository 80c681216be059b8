// SPDX-License-Identifier: Apache-2.0
#include "host/char_driver.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"

#define TEXT_MAX 16384

/* "226 drm", behind blanks; block devices are the second part. */
static bool names(const char *line, size_t len, const char *name)
{
	size_t at = strspn(line, " ");

	at += strspn(line + at, "0123456789");
	return at < len && line[at] == ' ' && len - at - 1 == strlen(name) &&
	       strncmp(line + at + 1, name, len - at - 1) == 0;
}

bool char_driver_is_loaded(const char *procfs, const char *name)
{
	char path[PATH_MAX], text[TEXT_MAX];

	if (path_join(path, sizeof(path), procfs, "devices") < 0 ||
	    read_file_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return false;
	for (const char *line = text; *line && strncmp(line, "Block", strlen("Block")) != 0;) {
		size_t len = strcspn(line, "\n");

		if (names(line, len, name))
			return true;
		line += len + (line[len] == '\n');
	}
	return false;
}
