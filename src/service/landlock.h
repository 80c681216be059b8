/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits which files this process may change or read, by the kernel's Landlock (5.13 and later):
 * files can be written, made or removed only in the directories that are named, and private places
 * (/home, /root, /srv, /boot, /mnt, /media) cannot be read. This also holds with
 * CAP_DAC_READ_SEARCH and for root.
 *
 * The limits are permanent, for the calling thread and those that it starts later, so it is called
 * before any is started. Open files stay usable. Connecting to sockets is not limited.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define LANDLOCK_PATHS_MAX   96
#define LANDLOCK_DEVICES_MAX 32

struct landlock_paths {
	const char *writable[LANDLOCK_PATHS_MAX]; /* directories, writable; must exist */
	size_t writable_count;
	const char *trees[LANDLOCK_PATHS_MAX]; /* writable, with directories in them; must exist */
	size_t tree_count;
	const char *sockets[LANDLOCK_PATHS_MAX]; /* directories in which only sockets may change */
	size_t socket_count;
	/*
	 * Paths to be read although they may be in a private place: a directory, or a file, and
	 * then its directory, because a new file will replace it there. If that is missing, the
	 * directory above. The current target of a link is readable as well.
	 */
	const char *used[LANDLOCK_PATHS_MAX];
	size_t used_count;
	/* "/dev/nvidia": files whose paths begin so, and exist now, can be written; NULL: none. */
	const char *devices[LANDLOCK_DEVICES_MAX];
};

/* The version that the kernel has, from 1; 0: none. */
int landlock_abi(void);

/*
 * Called before @path is touched, which may hang if it is on a mount that hangs. False: @path is
 * skipped, as if it did not exist.
 */
typedef bool landlock_ask_fn(void *userdata, const char *path);
/*
 * Makes rules from @paths, on any thread; @ask may be NULL. Directories that do not exist are
 * skipped. A descriptor for landlock_enter(), or -errno with a diagnosis; -EOPNOTSUPP where the
 * kernel has no Landlock.
 */
int landlock_rules(const struct landlock_paths *paths, landlock_ask_fn *ask, void *userdata,
		   struct diag *diag);
/* Enforces the rules from now on. Sets no_new_privs. The version, or -errno with a diagnosis. */
int landlock_enter(int rules_fd, struct diag *diag);
