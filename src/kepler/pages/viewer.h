/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view that a peer of the local socket may have. The kernel reports its user; nothing that the
 * peer sends counts.
 *
 * Root, the user of this program and members of the group of --local.group see everything. What all
 * others see is --local.everyone: nothing; their own processes and the machine's total; or
 * everything, too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/config.h"
#include "net/server/http_handler.h"

struct power_row;

enum sight { SIGHT_NONE, SIGHT_OWN, SIGHT_ALL };

struct viewing {
	enum local_everyone everyone;
	uid_t own;   /* of this program */
	gid_t group; /* (gid_t)-1: none */
	int proc_fd; /* the host's /proc: which user a process belongs to */
};

struct viewer {
	enum sight sight;
	bool is_trusted; /* root, the user of this program, or a member of the group */
	uid_t uid;       /* with SIGHT_OWN */
	int proc_fd;     /* with SIGHT_OWN */
};

/*
 * Users that see a part are answered once per second each, and VIEWERS_MAX of them at most: each
 * answer looks up the processes of its rows, and no user may keep the exporter busy with that.
 */
#define VIEWERS_MAX 16

struct viewer_times {
	struct {
		uid_t uid;
		uint64_t due_ns; /* when it may be answered again; over: the place is free */
	} last[VIEWERS_MAX];
};

/*
 * Takes note of an answer to @uid at @now_ns. False: it is too early for one. The time of one
 * answer may be early by VIEWER_EARLY_NS, because intervals of a second are not exact; over many,
 * there is no more than one a second.
 */
#define VIEWER_EARLY_NS (50ULL * 1000000ULL)
bool viewer_take_turn(struct viewer_times *times, uid_t uid, uint64_t now_ns);

/* The peer of a request. Where @viewing is NULL it sees everything. */
struct viewer viewer_of(const struct viewing *viewing, const struct http_request *request);
/* As viewer_of() for a @user; NULL: it is not known. Pure. */
struct viewer viewer_of_user(const struct viewing *viewing, const struct http_peer_user *user);
/*
 * Is this process one of the @viewer's (struct viewer): does the process that has this pid now have
 * that start time, and that real user? For now_query.shows.
 */
bool viewer_owns(const void *viewer, const struct power_row *process);
