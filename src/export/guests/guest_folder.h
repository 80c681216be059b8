/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory for each guest in --passthrough.dir, to be shared with it by virtiofs or 9p:
 *
 *   UUID/energy                       the record as text (passthrough/passthrough_text.h)
 *   UUID/intel-rapl:0/energy_uj       the measured zones in the form of the kernel's powercap, with
 *   UUID/intel-rapl:0/name            dynamic and idle energy added; package first, then the
 *   UUID/intel-rapl:0/max_energy_…    others, intel-rapl:0:0 and so on
 *
 * Files are replaced, so a reader never sees a part of one. Directories have mode 0750 and files
 * 0640: they belong to this program, and to the group of the hypervisor's process if this program
 * is in that group, too.
 */
#pragma once

#include "export/guests/guest_stream.h"
#include "export/guests/guest_table.h"
#include "passthrough/passthrough_record.h"

struct guest_folder {
	const char *folder; /* borrowed; "": the channel is not used */
	struct guest_counts counts;
	struct guest_errors told;
};

void guest_folder_write(struct guest_folder *self, const struct guest *guest,
			const struct passthrough_record *record);
/* Removes the directory of a guest that has ended. */
void guest_folder_end(const struct guest_folder *self, const struct guest *guest);
