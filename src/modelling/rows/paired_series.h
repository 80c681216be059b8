/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual machine's series from both sides, as if one exporter had them: its activity, which the
 * exporter inside has counted, and its dynamic energy, which the exporter on its host has charged.
 * The guest's own energy, which is an estimate, is left out.
 *
 * Times are taken from the collections. Energy that a series of the virtual machine has under the
 * classic or the current name is taken as the node's of the same zone.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "samples/series_reader.h"

struct paired_series {
	const char *guest, *host; /* files of collected series */
	const char *vm;           /* its name or id on the host */
	/* Found: joules above idle in all zones together, from the first point to the last. */
	double vm_j, host_j;
	struct strbuf others; /* names of other virtual machines, separated by commas */
};

/*
 * An extract_source_fn of struct paired_series. With a diagnosis -ENODATA: the host's series have
 * no such virtual machine.
 */
int paired_series_read(void *userdata, const struct series_sink *sink, struct diag *diag);
/*
 * After a reading: 0, or -EINVAL with a diagnosis if the host's other work drew so much that the
 * rows do not show the load that shaped the power.
 */
int paired_series_check(const struct paired_series *series, struct diag *diag);
void paired_series_release(struct paired_series *series);
