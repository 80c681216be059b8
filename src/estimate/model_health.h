/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the files of --model.file, and of --model.url, as metrics. */
#pragma once

#include "base/health.h"

struct model_files_health {
	bool is_up;              /* each file is used as it is on disk, or another one was chosen */
	uint64_t taken, refused; /* files that changed */
};
extern const struct health_part model_files_health_part; /* of a struct model_sources */

struct model_url_health {
	bool is_up, is_newer; /* is_newer: the last model is not used, because it does not fit */
	uint64_t requests, failures, refused;
	double age_s; /* since the last good response; NaN before the first */
};
extern const struct health_part model_url_health_part; /* of a struct model_sources */
