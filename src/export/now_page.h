/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page at /api/v1/now: who draws how much of the node's power, as JSON, for scripts.
 * docs/now.md describes it. A key that is documented there keeps its name and meaning; new ones may
 * be added.
 */
#pragma once

#include "base/strbuf.h"
#include "snapshot/snapshot.h"

#define NOW_PAGE_PATH "/api/v1/now"
#define NOW_PAGE_TYPE "application/json"

/* Appends the page. 0, -ENODATA where nothing has been read yet (NULL), or -ENOMEM. */
int now_page(const struct snapshot *snapshot, struct strbuf *out);
