/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files may this process change or read, from now on? By Landlock, of the kernel (5.13 and
 * later): nothing may be written, made or removed but in the folders that are named, and what lies
 * in people's and other machines' places (/home, /root, /srv, /boot, /mnt, /media) may not be read.
 * CAP_DAC_READ_SEARCH does not help against it, and neither does being root.
 *
 * It is for good, for the calling thread and those that it starts later: before any is started.
 * What is open stays usable. Connecting to sockets is not its matter.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"

#define LANDLOCK_PATHS_MAX 16

struct landlock_paths {
	const char *writable[LANDLOCK_PATHS_MAX]; /* folders, whose files may change; must exist */
	size_t writable_count;
	const char *used[LANDLOCK_PATHS_MAX]; /* what is to be read although it may lie in /home */
	size_t used_count;
};

/* The version that the kernel has, from 1; 0: none. */
int landlock_abi(void);

/*
 * Sets no_new_privs. Folders that do not exist are passed over. The version, or -errno with a
 * diagnosis; -EOPNOTSUPP where the kernel has no Landlock.
 */
int landlock_enter(const struct landlock_paths *paths, struct diag *diag);
