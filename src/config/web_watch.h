/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices that the file of --web.config-file, or a certificate or key that it names, has changed,
 * and reads it again, off the loop's thread: it may be on a mount that hangs.
 *
 * A file is read once it has stayed the same from one look to the next, so that none is read while
 * it is being written. What cannot be used is reported once and tried again at each look, since a
 * missing certificate may come; meanwhile the earlier one stays in force.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/offload.h"
#include "config/config.h"
#include "net/web/web_files.h"
#include "net/web/web_security.h"

#define WEB_WATCH_EVERY_NS (2ULL * 1000000000)

struct web_watch_job;

/* All zero but the pool at first. Belongs to one thread. */
struct web_watch {
	struct offload *pool;      /* borrowed; NULL: nothing is watched */
	struct web_files files;    /* as they were at the last look; none: nothing to watch */
	struct web_watch_job *job; /* under way, or NULL */
	uint64_t looked_ns;
	bool settles; /* they had changed at the last look */
	bool failed;  /* the last reading */
	struct diag told;
};

enum web_watch_outcome {
	WEB_WATCH_NOTHING,
	WEB_WATCH_LOADED, /* *ret_security is the caller's */
	WEB_WATCH_FAILED, /* the diagnosis has the reason, which is new */
};

/* From now on @security is in force, which has the files; NULL: nothing is watched. */
void web_watch_follow(struct web_watch *watch, const struct web_security *security);
/* In each turn of the loop: looks, when that is due. */
void web_watch_turn(struct web_watch *watch, const struct config *config, uint64_t now_ns);
/* @base came from the pool; *ret_mine: it is the watch's, and gone. */
enum web_watch_outcome web_watch_take(struct web_watch *watch, struct offload_job *base,
				      bool *ret_mine, struct web_security **ret_security,
				      struct diag *diag);
/* Before the pool is freed. */
void web_watch_close(struct web_watch *watch);
