/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the configuration, and the file of tokens that it names, off the loop's thread: either may
 * be on a mount that hangs.
 *
 * One reading is under way at a time. Requests that come meanwhile are merged into one more reading
 * after it. A reading that takes longer than RELOAD_LIMIT_NS is reported as failed, so its result
 * is not used; it blocks the next one until it ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/health.h"
#include "base/offload.h"
#include "config/config.h"

#define RELOAD_LIMIT_NS       (5ULL * 1000000000)
#define RELOAD_FIRST_LIMIT_NS (5ULL * 1000000000)

struct reload_job;

struct reload_health {
	uint64_t success, failure, merged;
	bool last_succeeded; /* true before the first */
};
extern const struct health_part reload_health_part; /* of a struct reload */

/* All zero but the first two at first. Belongs to one thread. */
struct reload {
	struct offload *pool; /* borrowed */
	const struct option_args
		*args;          /* borrowed, with what it points to: for the process' life */
	struct reload_job *job; /* under way, or NULL */
	uint64_t began_ns;
	bool given_up; /* it was reported as failed */
	bool again;    /* asked for while it is under way */
	struct reload_health counts;
};

enum reload_outcome {
	RELOAD_NOTHING, /* nothing is new */
	RELOAD_BEGUN,
	RELOAD_MERGED, /* into the next one */
	RELOAD_LOADED, /* *ret_config is a configuration, now the caller's */
	RELOAD_FAILED, /* the diagnosis has the reason */
};

/* Requests that the configuration is read: BEGUN, MERGED or FAILED. */
enum reload_outcome reload_ask(struct reload *reload, uint64_t now_ns, struct diag *diag);
/*
 * @base came from the pool: NOTHING for a foreign job, or when its result is no longer wanted; else
 * LOADED or FAILED. Call reload_turn() after it.
 */
enum reload_outcome reload_take(struct reload *reload, struct offload_job *base,
				struct config **ret_config, struct diag *diag);
/*
 * In each turn of the loop: FAILED once when the reading under way takes too long, BEGUN when one
 * that was merged begins now, else NOTHING.
 */
enum reload_outcome reload_turn(struct reload *reload, uint64_t now_ns, struct diag *diag);
/* When reload_turn() has something to do by itself; UINT64_MAX: never. */
uint64_t reload_due_ns(const struct reload *reload);
/* Counts the end of a reload: whether the configuration that was read, if any, is in force. */
void reload_count(struct reload *reload, bool success);
/* Before the pool is freed. */
void reload_close(struct reload *reload);

/*
 * The start: reads the configuration on a thread that has ended when this returns, unless it hangs,
 * or on the calling one where there can be no other. The configuration, which is the caller's; or
 * NULL with a diagnosis, after @limit_ns at the latest.
 */
struct config *reload_first(const struct option_args *args, uint64_t limit_ns, struct diag *diag);
