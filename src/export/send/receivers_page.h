/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page at /api/v1/receivers: what was sent to each receiver of pushed data, what was lost, and
 * why, as JSON. It is what `kepler doctor` reads; docs/remote-write.md describes it. A key that is
 * documented there keeps its name and meaning; new ones may be added.
 */
#pragma once

#include <stdint.h>

#include "base/strbuf.h"
#include "export/send/send_board.h"

#define RECEIVERS_PAGE_PATH "/api/v1/receivers"
#define RECEIVERS_PAGE_TYPE "application/json"
#define RECEIVERS_PAGE_MAX  (32 * 1024) /* bytes */

/* Appends the page at @now_ms (realtime). 0 or -ENOMEM. */
int receivers_page(struct send_board *board, int64_t now_ms, struct strbuf *out);
