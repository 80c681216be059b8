/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page at /api/v1/history: the energy of zones and of the largest owners over time, as JSON.
 * docs/history.md describes it. A key that is documented there keeps its name and meaning; new
 * ones may be added.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "history/history.h"
#include "net/server/http_handler.h"

#define HISTORY_PAGE_PATH "/api/v1/history"
#define HISTORY_PAGE_TYPE "application/json"

/*
 * Reads the arguments seconds=, step= and owners= of a request; those that are missing have their
 * defaults. 0, or -EINVAL with a diagnosis.
 */
int history_query_read(const struct http_request *request, struct history_window *ret,
		       struct diag *diag);
/*
 * Appends the page. @is_part: for a user that may not see the energy of others, without owners and
 * what is not charged to any, in steps of 1 mJ and 1 mW. 0, -ENODATA where nothing has been read
 * yet, or -ENOMEM.
 */
int history_page(struct history *history, const struct history_window *window, bool is_part,
		 struct strbuf *out);
