/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page at /api/v1/now: the power of each row, as JSON, for scripts and for the
 * commands of this program. docs/now.md describes it. A key that is documented there keeps its name
 * and meaning; new ones may be added.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "net/server/http_handler.h"
#include "snapshot/snapshot.h"

struct user_names;

#define NOW_PAGE_PATH   "/api/v1/now"
#define NOW_PAGE_TYPE   "application/json"

#define NOW_FOLLOW_MAX  60 /* seconds */
#define NOW_FOLLOW_TYPE "application/x-ndjson"

enum now_sort { NOW_BY_WATTS, NOW_BY_JOULES, NOW_BY_CPU, NOW_BY_NAME };

struct now_query {
	unsigned view;            /* of the rows: attribution/view_info.h */
	enum now_sort sort;       /* the largest first; by name the first in the alphabet */
	uint32_t limit;           /* rows, without the last one, "other"; 1 to POWER_ROWS_MAX */
	uint32_t follow_s;        /* 0, or how long answers for new intervals are to follow */
	struct user_names *users; /* for the view of users; NULL: they have no names */
	/*
	 * NULL: everything is shown. Otherwise only the processes that it is true for, with
	 * @userdata, the node's total and its zones; nothing from which the power of the other
	 * processes follows, and no value finer than 1 mW or 1 mJ.
	 */
	bool (*shows)(const void *userdata, const struct power_row *process);
	const void *userdata;
};

/*
 * Reads the arguments level=, sort=, limit= and follow= of a request; those that are missing have
 * their defaults: process, watts, 64, 0. 0, or -EINVAL with a diagnosis.
 */
int now_query_read(const struct http_request *request, struct now_query *ret, struct diag *diag);
/*
 * Requests at @now_ns (CLOCK_MONOTONIC) what the snapshots to come must have for it, where that is
 * more than they have at a glance.
 */
void now_query_want(const struct now_query *query, struct snapshot_holder *holder, uint64_t now_ns);
/*
 * Appends the page, with @query.follow_s on one line. 0, -ENODATA where nothing has been read yet
 * (NULL), or -ENOMEM.
 */
int now_page(const struct snapshot *snapshot, const struct now_query *query, struct strbuf *out);
