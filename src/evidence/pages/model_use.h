/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which model estimates which zone of a Kepler, by its own metrics: kepler_zone_info names the
 * place of the model (the name of its file, "model.url", or a built-in model), and
 * kepler_node_model_info the model. A Kepler that cannot use a model estimates with its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "evidence/pages/energy_metric.h"
#include "evidence/pages/page.h"

#define MODEL_USES_MAX 32
#define MODEL_NAME_MAX 128

/* A zone has several if its model changed. */
struct model_use {
	char zone[ENERGY_ZONE_MAX];
	char place[MODEL_NAME_MAX];
};

struct model_uses {
	struct model_use items[MODEL_USES_MAX];
	size_t count;
	bool is_refused; /* a page reports that a model cannot be used */
};

/* For each series of a page. */
void model_uses_take(struct model_uses *uses, const struct page_series *series);
/* The place of a model other than @place that has estimated the zone; NULL: there was none. */
const char *model_uses_other(const struct model_uses *uses, const char *zone, const char *place);
