/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report on the noise of a machine's energy counters, and two of its forms: noise.json for
 * programs and noise.md for a ticket. It has no verdict, because nothing is compared. Numbers that
 * are not known are null, or a dash.
 */
#pragma once

#include <time.h>

#include "base/strbuf.h"
#include "judging/noise.h"
#include "judging/series.h"
#include "truth/machine_facts.h"

#define NOISE_REPORT_METERS 32

enum noise_phase { NOISE_IDLE, NOISE_LOAD, NOISE_PHASES };

/* One counter. */
struct noise_meter {
	char name[128];
	bool has[NOISE_PHASES]; /* else the phase did not run, or gave fewer than two readings */
	struct noise phases[NOISE_PHASES];
	struct series *course[NOISE_PHASES]; /* owned: power over time, in W */
};

struct noise_report {
	struct noise_meter meters[NOISE_REPORT_METERS];
	size_t count;
	char stalled[1024]; /* why the reading ended early, a sentence; "": it did not */
	const char *filter; /* a sentence on the processor's filter */
	const struct machine_facts *machine; /* borrowed, as the texts */
	const char *command, *version;
	time_t created;
};

/* "idle", "load". */
const char *noise_phase_name(enum noise_phase phase);
/* The meaning of one phase's numbers, in a sentence or two for a reader. */
void noise_summary(const struct noise *noise, char *buf, size_t size);

void noise_json_add(struct strbuf *out, const struct noise_report *report);
void noise_markdown_add(struct strbuf *out, const struct noise_report *report);
void noise_report_release(struct noise_report *report);
