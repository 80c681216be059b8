/* SPDX-License-Identifier: Apache-2.0 */
/* Times and durations as people write them on a command line. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/* "2026-11-24T13:00:00Z" (UTC, also without the Z), or seconds since 1970: 0 or -EINVAL. */
int time_parse(const char *text, int64_t *ret_us);
/* "300" (seconds) or "5m": 0 or -EINVAL. */
int seconds_parse(const char *text, int64_t *ret_us);
/* "2026-11-24T13:00:00Z", of whole seconds; @ret has 21 bytes or more. */
void time_format(int64_t time_us, char *ret, size_t size);
/*
 * "startTimeUTC" and "endTimeUTC" of a log of "stress", or of the file that the model server writes
 * when it queries: 0 or -EINVAL with a diagnosis.
 */
int times_of_log(const char *path, int64_t *ret_start_us, int64_t *ret_end_us, struct diag *diag);
