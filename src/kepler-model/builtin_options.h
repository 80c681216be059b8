/* SPDX-License-Identifier: Apache-2.0 */
/* The options of train-builtin, of all kinds of models. */
#pragma once

#include "kepler-model/settings.h"

struct builtin_config {
	struct settings settings;
	char *write, *expect; /* files, "": none */
	char *date;
	bool table, refit;
};
