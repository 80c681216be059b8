/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a meter outside this program: lines of text, which any script can write. Pure.
 *
 *     kepler-meter 1
 *     # a plug between the machine and the mains
 *     zone=platform uw=215300000 time=1763912345.25 name=shelly-rack3
 *     zone=dram-0 uj=81234567
 *
 * The first line is the format and its version. Then each line is a zone, of key=value pairs in any
 * order; empty lines and lines that begin with # are ignored.
 *
 * - zone: a kind of zone, with a number if there are several. Each appears once.
 * - uj or uw, one of them: energy in µJ, as a counter that only rises and may restart at any value;
 *   or power in µW.
 * - time: the time of the value, in seconds since 1970 (UTC).
 * - window: the seconds up to that time over which a power is the mean. Without it the power is
 *   momentary.
 * - name: the name of the instrument, for people.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "energy/zone.h"
#include "meter/meter.h"

#define EXTERNAL_NAME_MAX 32 /* of letters, digits and "._-:/" */

struct external_record {
	/* All that the line says of it; path "": the line names no instrument; source NULL. */
	struct zone zone;
	enum sample_kind sample; /* SAMPLE_TOTAL or SAMPLE_POWER */
	uint64_t value;          /* µJ or µW */
	uint64_t time_ns;        /* since 1970; 0: it is not given */
	uint64_t window_ns;      /* only of SAMPLE_POWER; 0: momentary */
};

/* A text that is being read. */
struct external_text {
	const char *at, *end;
	unsigned line; /* of the last record, from 1 on */
};

/*
 * 0, -EBADMSG (it is cut: no newline at its end) or -EINVAL (another format, or a version that is
 * not known), with why.
 */
int external_text_begin(struct external_text *text, const char *start, size_t len,
			struct diag *diag);
/*
 * Returns 1 with the next record, 0 at the end, and -EINVAL with a diagnosis for an invalid line;
 * the next call continues after it.
 */
int external_text_next(struct external_text *text, struct external_record *ret, struct diag *diag);
