/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record in the form of vhostmd's metrics (https://github.com/vhostmd/vhostmd, README), for
 * programs in guests that read those: EnergyConsumedPackage and so on, in joules, cumulative in the
 * host's epoch, dynamic and idle energy together; EnergyEstimatedPackage where the host estimates.
 * Pure.
 */
#pragma once

#include "base/strbuf.h"
#include "passthrough/passthrough_record.h"

/* The document, which ends with a newline. NULL: no record yet, and so no metrics. */
void passthrough_xml_write(const struct passthrough_record *record, struct strbuf *out);
