// SPDX-License-Identifier: Apache-2.0
#include "truth/timed_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/timed_call.h"

struct answer {
	time_t changed;
	char text[TIMED_FILE_MAX];
};

struct timed_file {
	struct timed_call *call;
	time_t changed;
};

static ssize_t read_text(void *state, void *ret)
{
	const char *path = state;
	struct answer *answer = ret;
	struct stat status;

	answer->changed = stat(path, &status) == 0 ? status.st_mtime : 0;
	ssize_t len = read_file_nowait_at(AT_FDCWD, path, answer->text, sizeof(answer->text));
	return len < 0 ? len : (ssize_t)(offsetof(struct answer, text) + (size_t)len);
}

int timed_file_new(const char *path, struct timed_file **ret)
{
	struct timed_file *file = calloc(1, sizeof(*file));

	if (!file)
		return -ENOMEM;
	int r = timed_call_new(read_text, (void *)(uintptr_t)path, &file->call);
	if (r < 0) {
		free(file);
		return r;
	}
	*ret = file;
	return 0;
}

ssize_t timed_file_read(struct timed_file *file, char *buf, size_t size)
{
	struct answer answer;
	ssize_t len = timed_call_make(file->call, &answer, sizeof(answer));

	if (len < 0)
		return len;
	len -= (ssize_t)offsetof(struct answer, text);
	if (len < 0 || (size_t)len >= size)
		return -EFBIG;
	memcpy(buf, answer.text, (size_t)len);
	buf[len] = '\0';
	file->changed = answer.changed;
	return len;
}

time_t timed_file_changed(const struct timed_file *file)
{
	return file->changed;
}

void timed_file_free(struct timed_file *file)
{
	if (!file)
		return;
	timed_call_free(file->call);
	free(file);
}

ssize_t timed_file_read_once(const char *path, char *buf, size_t size)
{
	struct timed_file *file = NULL;
	ssize_t len = timed_file_new(path, &file);

	if (file)
		len = timed_file_read(file, buf, size);
	timed_file_free(file);
	return len;
}

static ssize_t list_names(void *state, void *ret)
{
	DIR *folder = opendir(state);
	size_t len = 0;

	if (!folder)
		return -errno;
	for (struct dirent *entry; (entry = readdir(folder));) {
		size_t size = strlen(entry->d_name) + 1;

		if (size > TIMED_CALL_MAX - len) {
			(void)closedir(folder);
			return -EFBIG;
		}
		memcpy((char *)ret + len, entry->d_name, size);
		len += size;
	}
	(void)closedir(folder);
	return (ssize_t)len;
}

int timed_folder_read(const char *path, struct timed_names *ret)
{
	*ret = (struct timed_names){ .text = malloc(TIMED_CALL_MAX) };
	if (!ret->text)
		return -ENOMEM;
	ssize_t len =
		timed_call_once(list_names, (void *)(uintptr_t)path, ret->text, TIMED_CALL_MAX);
	ret->len = len > 0 ? (size_t)len : 0;
	return len < 0 ? (int)len : 0;
}

const char *timed_names_next(const struct timed_names *names, const char *name)
{
	const char *next = name ? name + strlen(name) + 1 : names->text;

	return next < names->text + names->len ? next : NULL;
}

void timed_names_release(struct timed_names *names)
{
	free(names->text);
	*names = (struct timed_names){ 0 };
}
