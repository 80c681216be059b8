/* SPDX-License-Identifier: Apache-2.0 */
/* The running kernel's version: "6.1.0-56-amd64" is 6.1; 0.0 where it cannot be read. */
#pragma once

#include <stdbool.h>

struct kernel_version {
	unsigned major, minor;
};

struct kernel_version kernel_version_read(void);
struct kernel_version kernel_version_parse(const char *release);
bool kernel_version_is_before(struct kernel_version version, unsigned major, unsigned minor);
