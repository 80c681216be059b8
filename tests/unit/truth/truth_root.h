/* SPDX-License-Identifier: Apache-2.0 */
/* A folder with the files of a machine, which a test writes. */
#pragma once

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

static char root[32];

static void open_text(const char *path, const char *mode, FILE **ret)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	*ret = fopen(full, mode);
	assert_non_null(*ret);
}

static void write_text(const char *path, const char *text)
{
	FILE *file;

	open_text(path, "w", &file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int make_root(void **state)
{
	(void)snprintf(root, sizeof(root), "/tmp/kepler-truth-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	remove_tree(root);
	return 0;
}
