/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trial/load_kind.h"

/* The work that a load has done. */
struct load_result {
	uint64_t units;                  /* of work, as load_kind.unit names them */
	double stage_cpu_s[LOAD_STAGES]; /* of a pipeline */
	uint64_t processes;              /* short ones that have ended */
	double wanted_units;             /* that it should have done; 0: as many as it could */
	double cpu_s;                    /* as the kernel says of all of its processes */
	double other_cpu_s;              /* the neighbour's */
	double wanted_s;  /* @cpu_s + @other_cpu_s on a machine that does nothing else */
	char outcome[96]; /* of a command: "exited with status 0 after 12.0 s" */
	bool has_failed;  /* the command has */
};
