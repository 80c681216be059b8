/* SPDX-License-Identifier: Apache-2.0 */
/* The check of one exporter, and how each of its results begins. */
#pragma once

#include "judging/result.h"
#include "kepler-validator/checks/check_bounds.h"
#include "kepler-validator/checks/observation.h"

struct checking {
	struct observation *observation;
	struct exporter *exporter;
	const struct check_bounds *bounds;
	struct result_list *results;
	/* The validator's own Kepler: only its estimates of the node are judged. NULL: another. */
	const struct model_exporter *model;
};

/* A result "GROUP/NAME" of this exporter, without a threshold; NULL without memory. */
struct result *checking_begin(const struct checking *checking, enum result_kind kind,
			      const char *group, const char *name);
/*
 * Adds what must hold exactly: fail if the fault has been seen, not applicable if nothing was
 * checked (@of is 0). 0, -ENOMEM or -ENOSPC.
 */
int checking_fault(const struct checking *checking, enum result_kind kind, const char *name,
		   const struct exporter_fault *fault, uint64_t of, const char *what);
