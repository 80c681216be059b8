// SPDX-License-Identifier: Apache-2.0
/*
 * Feeds each file of a folder to a fuzz target: what a fuzzer once found stays a test of every
 * build.
 *
 *   fuzz-NAME FOLDER
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>

#include "base/file.h"
#include "base/macro.h"

#define INPUT_MAX (1U << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *dir, const char *name)
{
	CLEANUP_FREE char *text = NULL, *exact = NULL;
	char path[4096];
	size_t len;
	int r = path_join(path, sizeof(path), dir, name);

	if (r == 0)
		r = read_file_alloc(path, INPUT_MAX, &text, &len);
	if (r < 0) {
		(void)fprintf(stderr, "%s/%s: %s\n", dir, name, strerror(-r));
		return r;
	}
	exact = len ? malloc(len) : NULL; /* so that a sanitizer sees a read beyond the end */
	if (exact)
		memcpy(exact, text, len);
	(void)LLVMFuzzerTestOneInput((const uint8_t *)(exact ? exact : text), exact ? len : 0);
	return 0;
}

int main(int argc, char **argv)
{
	const struct dirent *entry;
	unsigned count = 0;
	int failed = 0;
	DIR *dir;

	if (argc != 2 || !(dir = opendir(argv[1]))) {
		(void)fprintf(stderr, "usage: fuzz-NAME FOLDER\n");
		return 2;
	}
	(void)LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		failed |= replay(argv[1], entry->d_name) < 0;
		count++;
	}
	(void)closedir(dir);
	(void)printf("%u inputs\n", count);
	return failed || count == 0;
}
