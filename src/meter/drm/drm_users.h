/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes use the boards of the source "drm", and for how long: by the fdinfo of their open
 * device files (gpu/drm_fdinfo.h).
 *
 * Open files are searched for with each reading, or as seldom as is needed for searches to take
 * 0.4 per cent of a CPU, at least once in 30 s. The files found are read with each reading of
 * their board. A file that is copied, inherited or passed on is one client, and counts once:
 *
 * - A client of a render node belongs to the process that was seen with it first, as long as that
 *   process has it: one that is sent a descriptor later does not get the energy. If several are
 *   seen at once and all are in one control group, it belongs to the one with the lowest pid, whose
 *   children only inherit it; otherwise to no process, because the opener is not known. When the
 *   process ends, another of the same control group takes its place, if there is one.
 * - A client of a primary node (cardN) belongs to no process: a session manager opens it for others
 *   and keeps it, and the kernel does not report which of them uses it.
 *
 * There are limits for each process (OPEN_DEVICES_PROCESS_MAX descriptors) and for all of them. A
 * file that is read already stays, however many descriptors are beyond the limits.
 *
 * Used by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/work.h"
#include "meter/drm/device_files.h"

struct drm_users;

/* The result of the last search and the readings since. */
struct drm_users_state {
	int error;       /* of the search: 0 or -errno */
	uint64_t denied; /* files that may not be read */
	uint64_t hidden; /* processes whose files cannot be seen */
	uint64_t beyond; /* files beyond the limits: not read, their use is not known */
	bool is_short_of_descriptors; /* some of these are beyond the limit of open files */
	uint64_t speaking;            /* files whose driver says what they use */
	uint64_t silent;              /* files whose driver does not */
};

/* Takes a reference to @files. @wants_holders: also what has a board open without using it. */
int drm_users_new(struct device_files *files, bool wants_holders, struct drm_users **ret);
void drm_users_free(struct drm_users *users);
/* The boards are looked for again: none has a device file until drm_users_add_node(). */
void drm_users_forget_nodes(struct drm_users *users);
/* A device file of @board (< DEVICES_DRM); one of too many is left out. */
void drm_users_add_node(struct drm_users *users, uint32_t minor, uint32_t board);
/*
 * Reads what has used @board, which has @device as its number and @address on PCI, since it was
 * read last; its first reading finds nothing. For how long that is, in ns; 0: it is the first.
 */
uint64_t drm_users_read(struct drm_users *users, uint32_t board, uint32_t device,
			const char *address, uint64_t now_ns);
/* The board was busy for @busy_ns in all: the rest beyond known processes belongs to none. */
void drm_users_add_rest(struct drm_users *users, uint32_t device, uint64_t busy_ns);
/* Nothing was read: it used nothing. */
void drm_users_clear(struct drm_users *users);
/* The uses of the last drm_users_read(); valid until the next. */
const struct device_use *drm_users_uses(const struct drm_users *users, size_t *ret_count);
struct drm_users_state drm_users_state(const struct drm_users *users);
