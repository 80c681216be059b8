/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A law instead of a meter, for a laboratory: the watts of the machine as a formula of the CPU time
 * that the kernel accounts for. It tests an exporter whose numbers follow the same law, such as one
 * that reads simulated sensors; it says nothing about what a machine really draws.
 */
#pragma once

#include "truth/truth_meters.h"

struct truth_law {
	char zone[TRUTH_KIND_MAX];
	double idle_w; /* of the machine */
	double cpu_w;  /* in addition for each CPU that is busy */
};

/*
 * "zone=package,idle=20,cpu=10", in any order; what is missing is "package" and 0. 0, or -EINVAL
 * with a diagnosis.
 */
int truth_law_parse(const char *text, struct truth_law *ret, struct diag *diag);
int truth_search_law(const struct truth_options *options, struct truth *truth, struct diag *diag);
