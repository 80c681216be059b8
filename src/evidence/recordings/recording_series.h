/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One series from recordings: what a meter of the recorded machine read, or how much CPU time an
 * owner used. Both are inputs of the recorder's accounting, so nothing that it has computed is
 * judged by itself; a recording has no energy of a process or an owner.
 *
 * Series are named by their labels, like "package_joules_total{zone="0",source="rapl-sysfs",
 * path="…"}" and "cpu_seconds_total{container_id="…",container_name="…",…}". Where the words are
 * the name of a kind, such as "package", the series is the sum of all measured zones of this kind
 * that one source has. Times are of the recorded machine's wall clock.
 *
 * Energy that was not known, and intervals that are missing, leave their time uncovered. An owner
 * is followed from the interval on in which its names contain the words.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "evidence/series_pick.h"
#include "evidence/text_input.h"

struct recording_series;

/* The recordings are read in the order of their times; @pick lives longer. NULL without memory. */
struct recording_series *recording_series_new(struct series_pick *pick);
void recording_series_free(struct recording_series *recording);
/*
 * Adds the samples of one recording. Where the file is cut off or damaged, those before are added,
 * and the source of the series says so. 0, or -errno with a diagnosis.
 */
int recording_series_read(struct recording_series *recording, struct text_input *input,
			  struct diag *diag);
