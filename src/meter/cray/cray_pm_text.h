/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a file in /sys/cray/pm_counters: "251304 J 1700000000000000 us". Pure. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/*
 * Reads text[0..len), the result of a read: a negative @len is handed through. 0, -EBADMSG (cut: no
 * newline), -EINVAL (another form or unit) or -ERANGE. The time is of the controller's clock, and 0
 * where the text has none; both are set only on success.
 */
int cray_pm_energy_parse(const char *text, ssize_t len, uint64_t *ret_energy_uj,
			 uint64_t *ret_time_us);
