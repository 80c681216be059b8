/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of a power_picture in words, for the live table, the landing page and `kepler doctor`.
 * All numbers of a text have as many decimals as the total, and parts are rounded so that those
 * that are printed make the sum that is printed.
 */
#pragma once

#include "base/strbuf.h"
#include "snapshot/power_picture.h"

/* "198.0 W", "3.34 W ± 2.2 W, estimated", "not known". */
void power_text_total(const struct power_picture *picture, struct strbuf *out);
/* "package 92.1 · dram 9.0 · other 96.9"; nothing while the total is not known. */
void power_text_parts(const struct power_picture *picture, struct strbuf *out);
/*
 * "processes 171.6 · unattributed 0.4 · idle 26.0", idle if it is known, "idle ≤ 26.0
 * (provisional)" if a part of it is a bound; appended in the same way.
 */
void power_text_uses(const struct power_picture *picture, struct strbuf *out);
