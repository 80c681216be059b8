/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of a test's own, and files in it: what host/ reads of a machine. */
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

static char root[] = "/tmp/kepler-test-XXXXXX";

static inline int setup(void **state)
{
	(void)memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	return mkdtemp(root) ? 0 : -1;
}

static inline int teardown(void **state)
{
	return remove_tree(root);
}

/* Writes root/PATH, with the directories above it. */
static inline void put(const char *path, const char *text)
{
	char full[512];
	int fd;

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
}
