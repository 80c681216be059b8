// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/gpu_checks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "kepler-validator/checks/comparison.h"
#include "kepler-validator/checks/truth_checks.h"

/* Does @shown have the energy of the device, while both last? */
static bool has_energy_of(const struct truth_device *device, const struct series *shown,
			  double max_error)
{
	const struct series *truth = device->zone.series;
	double start_s = fmax(series_start_s(truth), series_start_s(shown));
	double end_s = fmin(series_end_s(truth), series_end_s(shown));

	if (!(end_s > start_s))
		return false;
	double actual = series_amount(truth, start_s, end_s).amount;
	double predicted = series_amount(shown, start_s, end_s).amount;
	return actual > 0 && fabs(predicted / actual - 1) <= max_error;
}

/* The energy of another GPU under this one's name is the likelier reason than a wrong scale. */
static void name_other(const struct truth *truth, size_t index, const struct series *shown,
		       struct result *result)
{
	char reason[RESULT_REASON_MAX];

	if (result->verdict != VERDICT_FAIL)
		return;
	for (size_t i = 0; i < truth->device_count; i++) {
		const struct truth_meter *other = &truth->meters[truth->devices[i].meter];

		if (i == index ||
		    !has_energy_of(&truth->devices[i], shown,
				   result->threshold.max_error + result->threshold.truth_error))
			continue;
		(void)snprintf(reason, sizeof(reason), "%s", result->reason);
		result_set_verdict(result, VERDICT_FAIL,
				   "The energy is that of another GPU, %u (%s). %.250s",
				   other->device_index, other->uuid, reason);
		return;
	}
}

static int check_gpu(const struct checking *checking, size_t index)
{
	const struct truth *truth = &checking->observation->truth;
	const struct truth_device *device = &truth->devices[index];
	const struct truth_meter *meter = &truth->meters[device->meter];
	const struct gpu_rows *rows = &checking->exporter->gpus;
	const struct gpu_row *row = gpu_rows_find(rows, meter->uuid, meter->device_index);
	char name[16];

	(void)snprintf(name, sizeof(name), "%u", meter->device_index);
	struct result *result = checking_begin(checking, RESULT_ACCURACY, "node/gpu", name);
	if (!result)
		return -ENOMEM;
	result->threshold.max_error = checking->bounds->max_error;
	result->threshold.max_lag_s = checking->bounds->max_lag_s;
	result->threshold.truth_error = fmax(0, device->zone.series->error);
	if (row && row->series) {
		int r = comparison_judge(checking, result, &device->zone, row->series);

		if (r == 0)
			name_other(truth, index, row->series, result);
		return r;
	}
	if (rows->are_incomplete)
		result_set_verdict(result, VERDICT_NOT_APPLICABLE,
				   "The exporter does not name the GPU of each series, so only "
				   "their sum is judged.");
	else
		result_set_verdict(result, VERDICT_FAIL,
				   "The machine has the GPU %u (%s), but the exporter has no "
				   "energy of it.",
				   meter->device_index, meter->uuid);
	truth_doubt_apply(&device->zone, result);
	return result_list_add(checking->results, result);
}

int check_gpus(const struct checking *checking)
{
	struct exporter_zone *zone = exporter_find_zone(checking->exporter, "gpu");
	const struct truth *truth = &checking->observation->truth;
	int r = 0;

	if (!zone || !zone->sums[ENERGY_NODE].series)
		return 0;
	for (size_t i = 0; i < truth->device_count && r == 0; i++)
		r = check_gpu(checking, i);
	return r;
}
