/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A phase must be longer than planned if the 95 % interval of a zone's energy ratio includes the
 * bound, over the phase or, in the last phase, over the whole run; if it would
 * show whether the exporter's power follows, which all phases so far are too short for; and until
 * an exporter shows a load's series, which stand at 0 for as long as the exporter says
 * (kepler_exporter_settle_seconds): after the load, or at the end if they are of its processes.
 */
#pragma once

#include "kepler-validator/checks/observation.h"

/* The time by which all phases of a run of @duration_s may be longer together. */
double patience_s(double duration_s);
/* observation.needs_more: at the end of the current phase. */
bool patience_is_needed(struct observation *observation, char why[static PHASE_WHY_MAX]);
/*
 * Has the exporter shown nothing of the load of phase @index at this level, above that of
 * processes, from the beginning of the phase up to what it had charged in @now, while it holds back
 * energy of new series?
 */
bool patience_is_row_late(const struct observation *observation, size_t exporter, size_t index,
			  enum energy_level level, size_t zone, const struct load_charge *now);
/* Does its last page have a process of that load at 0, which may still be shown later? */
bool patience_are_processes_late(const struct observation *observation, size_t exporter,
				 size_t index, size_t zone);
