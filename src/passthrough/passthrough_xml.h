/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record in the form of vhostmd's metrics (https://github.com/vhostmd/vhostmd, README), for
 * programs in guests that read those: EnergyConsumedPackage and so on, in joules, cumulative in the
 * host's epoch, dynamic and idle energy together; EnergyEstimatedPackage where the host estimates.
 * EnergyEpoch and EnergySequence are the record's, and TotalCPUTime is vhostmd's own name.
 * Pure.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "passthrough/passthrough_record.h"

#define PASSTHROUGH_XML_ACTION_MAX 2048 /* vhostmd/metric.c */

/*
 * The metrics of energy, each with a newline, as an action of vhostmd of the type xml has to print
 * them: without the document, in fewer than PASSTHROUGH_XML_ACTION_MAX bytes, and without the
 * metrics that vhostmd has itself, because a client refuses a name that is there twice.
 */
void passthrough_xml_write_energies(const struct passthrough_record *record, struct strbuf *out);
/* The document, which ends with a newline. NULL: no record yet, and so no metrics. */
void passthrough_xml_write(const struct passthrough_record *record, struct strbuf *out);
/*
 * Reads a document of Kepler's, or of vhostmd with metrics of these names. Metrics of the host, of
 * other names and in other units are ignored. 0, or -errno with @diag: -EBADMSG it is another
 * document, or contradicts itself, -ENODATA it has no energy. *ret only on success; all that the
 * document does not have is 0, such as @epoch and @sequence of another program, and energy is
 * dynamic.
 */
int passthrough_xml_read(const char *text, size_t len, struct passthrough_record *ret,
			 struct diag *diag);
