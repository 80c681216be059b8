/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page at "/", for a person who opened the address in a browser: live power, history and
 * drill-down (src/export/web/), and without a script a page of the present power. Nothing is loaded
 * from elsewhere; it needs LANDING_PAGE_POLICY.
 */
#pragma once

#include "base/strbuf.h"
#include "export/web_page.h"
#include "snapshot/snapshot.h"

/* Appends the page for @snapshot (NULL: nothing has been read yet). 0 or -ENOMEM. */
int landing_page(const struct snapshot *snapshot, struct strbuf *out);
#define LANDING_PAGE_TYPE   "text/html; charset=utf-8"
#define LANDING_PAGE_POLICY web_page_policy
