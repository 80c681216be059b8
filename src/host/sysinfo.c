// SPDX-License-Identifier: Apache-2.0
#include "host/sysinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"

#define FILE_MAX 16384 /* on machines of today 3 kB */

/* The value of the line "KEY: value", without the blanks around it; false: it is another line. */
static bool value_of(const char *line, size_t len, const char *key, const char **ret,
		     size_t *ret_len)
{
	size_t key_len = strlen(key);

	if (len < key_len || memcmp(line, key, key_len) != 0)
		return false;
	line += key_len;
	len -= key_len;
	while (len && *line == ' ') {
		line++;
		len--;
	}
	while (len && line[len - 1] == ' ')
		len--;
	*ret = line;
	*ret_len = len;
	return true;
}

static void take_partition(const char *name, size_t len, struct sysinfo_facts *ret)
{
	if (len >= sizeof(ret->partition))
		return;
	for (size_t i = 0; i < len; i++) {
		if (name[i] <= ' ' || name[i] > '~')
			return;
	}
	memcpy(ret->partition, name, len);
	ret->partition[len] = '\0';
}

void sysinfo_parse(const char *text, size_t len, struct sysinfo_facts *ret)
{
	const char *end = text + len, *value;
	size_t value_len;

	*ret = (struct sysinfo_facts){ .partition = "" };
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		if (value_of(text, (size_t)(stop - text), "LPAR Name:", &value, &value_len))
			take_partition(value, value_len, ret);
		ret->is_guest |=
			value_of(text, (size_t)(stop - text), "VM00 Name:", &value, &value_len);
		text = newline ? newline + 1 : end;
	}
}

int sysinfo_read(const char *procfs, struct sysinfo_facts *ret)
{
	char path[PATH_MAX], text[FILE_MAX];
	ssize_t len;

	if (path_join(path, sizeof(path), procfs, "sysinfo") < 0)
		return -ENAMETOOLONG;
	len = read_file_at(AT_FDCWD, path, text, sizeof(text));
	if (len < 0)
		return (int)len;
	sysinfo_parse(text, (size_t)len, ret);
	return 0;
}
