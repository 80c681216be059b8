/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learned idle power over restarts: what of the engine goes into the state file, and back.
 *
 * A line belongs to a zone of a machine of the same CPU; anything else in the file is ignored.
 */
#pragma once

#include "base/diag.h"
#include "host/host.h"
#include "kepler/interval.h"

/* Takes what is there; a missing or unreadable file is a fresh start. */
void idle_state_restore(const char *state_dir, const struct host_info *host,
			struct interval_engine *engine);
/*
 * 0 or -errno with a diagnosis; nothing is written when @state_dir is "" or nothing was learned
 * from.
 */
int idle_state_save(const char *state_dir, const struct host_info *host,
		    const struct interval_engine *engine, struct diag *diag);
