/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes what clients of /api/v1/stat ask for to the loop, and its answers to the clients.
 *
 * A client is a process that asks for the tree of what it starts. The server's thread enters a
 * request and returns; the loop serves it, and the client asks again. Neither side waits. A tree
 * ends when its client says so or has ended. At most STAT_CLIENTS_MAX clients are served, up to
 * STAT_CLIENTS_OF_USERS of users that are not trusted, and STAT_CLIENTS_OF_USER of each of these.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attribution/layout.h"
#include "base/strbuf.h"
#include "stat/process_trees.h"

#define STAT_CLIENTS_MAX      TREES_MAX
#define STAT_CLIENTS_OF_USERS 12
#define STAT_CLIENTS_OF_USER  4

struct rates;
struct stat_desk;

/* 0 or -errno. */
int stat_desk_new(struct stat_desk **ret);
/* Both sides have ended. */
void stat_desk_free(struct stat_desk *desk);

/* ---- the server's threads ---- */

struct stat_client {
	struct tree_id process;
	uid_t uid;
	bool is_trusted; /* may ask for an interval at any time, and sees each microjoule */
};

/*
 * 0: the tree has begun; -EAGAIN: ask again; -ENOSPC: too many clients; -EOPNOTSUPP: after
 * stat_desk_refuse().
 */
int stat_desk_begin(struct stat_desk *desk, const struct stat_client *client);
/*
 * A reading that begins after the request: 0, with the page added to @ret; -EAGAIN: ask again;
 * -ENOENT: the client has no tree, or -ENOMEM.
 */
int stat_desk_read(struct stat_desk *desk, const struct stat_client *client, struct strbuf *ret);
void stat_desk_end(struct stat_desk *desk, const struct stat_client *client);
/* Ends the trees of clients for which @is_gone is true. */
void stat_desk_sweep(struct stat_desk *desk,
		     bool (*is_gone)(const void *userdata, const struct tree_id *client),
		     const void *userdata);

/* ---- the loop ---- */

/*
 * Opens the descriptor that wakes the loop, after all parts that need one have theirs. If none is
 * left, requests are served at the end of each interval.
 */
void stat_desk_open(struct stat_desk *desk);
/* Readable when stat_desk_turn() is due; -1: there is none. */
int stat_desk_fd(const struct stat_desk *desk);
/* From now on no tree begins: the reader of activity does not know parents. */
void stat_desk_refuse(struct stat_desk *desk);
/* For struct interval_peers. */
struct process_trees *stat_desk_trees(const struct stat_desk *desk);
/*
 * Begins and ends trees, at @now_ns of CLOCK_BOOTTIME. Returns true if an interval is wanted at
 * once.
 */
bool stat_desk_turn(struct stat_desk *desk, uint64_t now_ns);
/* An interval begins, which answers what has been asked so far ... */
void stat_desk_take(struct stat_desk *desk);
/* ... and has been booked. @layout: the ledger's; @rates: NULL: none is configured. */
void stat_desk_give(struct stat_desk *desk, const struct layout *layout, struct rates *rates);
