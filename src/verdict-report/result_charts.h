/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pictures of one result: both series over time, one over the other with the fitted line, the
 * differences over time, and the error of each phase. A series of any length becomes a few hundred
 * points: each is the mean of its part of the time.
 */
#pragma once

#include "base/strbuf.h"
#include "judging/result.h"

/* Nothing for a result that compares no series. 0 or -ENOMEM. */
int result_charts_add(struct strbuf *out, const struct result *result);
