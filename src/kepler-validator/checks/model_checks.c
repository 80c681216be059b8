// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/model_checks.h"

#include <errno.h>

bool model_has_zone(const struct exporter *exporter, const struct model_exporter *model,
		    const char *zone)
{
	return !model || !*model->place ||
	       !model_uses_other(&exporter->model_uses, zone, model->place);
}

static int add_other(const struct checking *checking, const char *zone, const char *other)
{
	struct result *result = checking_begin(checking, RESULT_ACCURACY, "node", zone);

	if (!result)
		return -ENOMEM;
	result_set_verdict(result, VERDICT_NOT_APPLICABLE,
			   "Kepler estimated this zone with another model, %s, so this model is "
			   "not judged by it.",
			   other);
	return result_list_add(checking->results, result);
}

static int add_refused(const struct checking *checking)
{
	struct result *result = checking_begin(checking, RESULT_CORRECTNESS, "node", "model");

	if (!result)
		return -ENOMEM;
	result->threshold.max_error = 0;
	result_set_verdict(result, VERDICT_FAIL,
			   "Kepler refused this model and estimated with its own instead, which is "
			   "not judged here. `kepler doctor` with --model.file or --model.url has "
			   "the reason.");
	return result_list_add(checking->results, result);
}

int check_model(const struct checking *checking)
{
	const struct model_uses *uses = &checking->exporter->model_uses;
	const struct truth *truth = &checking->observation->truth;
	const char *place = checking->model->place;
	bool has_zone = false;
	int r = 0;

	if (!*place)
		return 0;
	for (size_t i = 0; i < uses->count; i++)
		has_zone |= !model_uses_other(uses, uses->items[i].zone, place);
	if (uses->is_refused && !has_zone)
		return add_refused(checking);
	for (size_t i = 0; i < truth->zone_count && r == 0; i++) {
		const char *other = model_uses_other(uses, truth->zones[i].kind, place);

		r = other ? add_other(checking, truth->zones[i].kind, other) : 0;
	}
	return r;
}
