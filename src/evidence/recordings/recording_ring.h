/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recordings that a running Kepler keeps: a folder of files NAME.krec, which are in the order
 * of their times if they are sorted by name.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "evidence/series_pick.h"

/* True if @place, "FOLDER" or "FOLDER#WORDS", names a folder with a recording. */
bool recording_ring_is(const char *place);
/*
 * One series through all files of the folder. A file that was removed meanwhile, because it became
 * too old, is left out. 0, or -errno with a diagnosis.
 */
int recording_ring_read(const char *folder, struct series_pick *pick, struct diag *diag);
