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

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define LANDLOCK_PATHS_MAX 16

struct landlock_paths {
	const char *writable[LANDLOCK_PATHS_MAX]; /* folders, whose files may change; must exist */
	size_t writable_count;
	const char *sockets[LANDLOCK_PATHS_MAX]; /* folders, where only sockets come and go */
	size_t socket_count;
	/*
	 * What is to be read although it may lie in a private place: a folder, or a file, and then
	 * its folder, as what replaces it will lie there. Where that is missing, the folder above.
	 * If it is a link, where that leads now is readable as well.
	 */
	const char *used[LANDLOCK_PATHS_MAX];
	size_t used_count;
};

/* The version that the kernel has, from 1; 0: none. */
int landlock_abi(void);

/*
 * Asked before @path is touched, which may hang where it lies on a mount that does. False: it is
 * left alone, as if it did not exist.
 */
typedef bool landlock_ask_fn(void *userdata, const char *path);
/*
 * Makes rules of @paths, on any thread; @ask may be NULL. Folders that do not exist are passed
 * over. A descriptor for landlock_enter(), or -errno with a diagnosis; -EOPNOTSUPP where the kernel
 * has no Landlock.
 */
int landlock_rules(const struct landlock_paths *paths, landlock_ask_fn *ask, void *userdata,
		   struct diag *diag);
/* From now on they hold. Sets no_new_privs. The version, or -errno with a diagnosis. */
int landlock_enter(int rules_fd, struct diag *diag);
