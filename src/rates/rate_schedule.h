/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value that depends on the hour and the day of the week, as a tariff states it. Pure.
 *
 *	"mon-fri 07:00-20:00 0.34; sat,sun 0.24; 0.21"
 *
 * Entries are separated by ";". Each has days, a time of day, both or neither, and a value; the
 * first entry that applies counts. A day is mon to sun, a range of days may pass Sunday. A time
 * ends before its second bound; "22:00-06:00" passes midnight, and its part after midnight belongs
 * to the day on which it began. Where no entry applies, the value is not known.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define RATE_SCHEDULE_MAX  32 /* entries */
#define RATE_MINUTES_A_DAY 1440

struct rate_entry {
	uint8_t days;                 /* bit 0: Monday */
	uint16_t from_min, until_min; /* of the day; equal: all day */
	double value;
};

struct rate_schedule {
	struct rate_entry entries[RATE_SCHEDULE_MAX];
	size_t count;
};

/* 0, or -EINVAL with a diagnosis that names the entry. */
int rate_schedule_parse(const char *text, struct rate_schedule *ret, struct diag *diag);
/* The value in local time; NAN: none. @weekday: 0 is Monday. */
double rate_schedule_at(const struct rate_schedule *schedule, unsigned weekday, unsigned minute);
