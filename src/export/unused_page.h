/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page at /api/v1/findings: what is held and not used (unused/unused.h), as JSON.
 * docs/findings.md describes it. A key that is documented there keeps its name and meaning; new
 * ones may be added.
 */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "net/server/http_handler.h"
#include "snapshot/snapshot.h"
#include "unused/unused.h"

#define UNUSED_PAGE_PATH "/api/v1/findings"
#define UNUSED_PAGE_TYPE "application/json"

/* Reads the argument seconds=, by default 600. 0, or -EINVAL with a diagnosis. */
int unused_query_read(const struct http_request *request, uint64_t *ret_least_ns,
		      struct diag *diag);
/*
 * Appends the page at @now_ns (CLOCK_BOOTTIME). 0, -ENODATA where nothing has been read yet (NULL),
 * or -ENOMEM.
 */
int unused_page(struct unused *unused, const struct snapshot *snapshot, uint64_t least_ns,
		uint64_t now_ns, struct strbuf *out);
