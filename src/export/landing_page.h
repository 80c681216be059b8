/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page at "/": for a person who opened the address in a browser. No script, nothing loaded from
 * elsewhere.
 */
#pragma once

#include "base/strbuf.h"
#include "snapshot/snapshot.h"

/* Appends the page for @snapshot (NULL: nothing has been read yet). 0 or -ENOMEM. */
int landing_page(const struct snapshot *snapshot, struct strbuf *out);
#define LANDING_PAGE_TYPE "text/html; charset=utf-8"
