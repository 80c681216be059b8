// SPDX-License-Identifier: Apache-2.0
/*
 * A counter that is lower than before has wrapped if its range is known. Energy is not known, so
 * that the series has a gap, where a counter without a range went back, where it would take more
 * power than there is, and where a counter was read so late that it may have wrapped twice. Gauges
 * are integrated between two readings as a trapezium, which is what sampling gives.
 */
#include "truth/truth.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "truth/meter_list.h"
#include "truth/meter_search.h"
#include "truth/meters/gpu_meter.h"
#include "truth/meters/ipmi_meter.h"
#include "truth/meters/law_meter.h"
#include "truth/meters/msr_meter.h"
#include "truth/meters/perf_meter.h"
#include "truth/meters/redfish_meter.h"

/* A package draws up to 1 kW today, a machine of eight packages up to 10 kW. */
#define PART_WATTS_MAX    2000.0
#define MACHINE_WATTS_MAX 20000.0
#define WRAP_WATTS_MAX    1000.0 /* of a counter that wraps */

#define SLOW_S            0.1 /* half of the time that a reading takes */
#define SLOW_MOST         3   /* of them in a row have no sample */

struct source_row {
	const char *name;
	double error;
};

static const struct source_row sources[] = {
	[TRUTH_AUTO] = { "auto", NAN },
	[TRUTH_NONE] = { "none", NAN },
	[TRUTH_RAPL_SYSFS] = { "rapl-sysfs", 0.01 },
	[TRUTH_PERF] = { "perf", 0.01 },
	[TRUTH_MSR] = { "msr", 0.01 },
	[TRUTH_HWMON] = { "hwmon", 0.03 },
	[TRUTH_ACPI] = { "acpi", 0.05 },
	[TRUTH_REDFISH] = { "redfish", 0.05 },
	[TRUTH_IPMI] = { "ipmi", 0.05 },
	[TRUTH_FILE] = { "pdu-file", 0.02 },
	[TRUTH_LAW] = { "law", 0.01 },
};

const char *truth_source_name(enum truth_source source)
{
	return sources[source].name;
}

/* 0, even without a meter; or -errno with a diagnosis. */
static int search(const struct truth_options *options, enum truth_source source,
		  struct truth *truth, struct diag *diag)
{
	int r = 0;

	switch (source) {
	case TRUTH_RAPL_SYSFS:
		search_rapl_sysfs(options->sysfs, truth);
		break;
	case TRUTH_PERF:
		truth_search_perf(options->sysfs, truth);
		break;
	case TRUTH_MSR:
		truth_search_msr(options, truth);
		break;
	case TRUTH_HWMON:
	case TRUTH_ACPI:
		search_hwmon(options->sysfs, source == TRUTH_ACPI, truth);
		break;
	case TRUTH_REDFISH:
		r = truth_search_redfish(&options->redfish, truth, diag);
		break;
	case TRUTH_IPMI:
		truth_search_ipmi(options->devices, truth);
		break;
	case TRUTH_FILE:
		search_file(options->file, truth);
		break;
	case TRUTH_LAW:
		r = truth_search_law(options, truth, diag);
		break;
	case TRUTH_AUTO:
	case TRUTH_NONE:
		break;
	}
	truth->source = truth->meter_count > 0 ? source : TRUTH_NONE;
	return r;
}

static struct truth_zone *find_zone(struct truth *truth, const char *kind)
{
	for (size_t i = 0; i < truth->zone_count; i++)
		if (strcmp(truth->zones[i].kind, kind) == 0)
			return &truth->zones[i];
	return NULL;
}

/* The names of all meters of the zone. */
static void name_meters(const struct truth *truth, struct truth_zone *zone)
{
	char *query = zone->series->query;
	size_t len = 0, size = sizeof(zone->series->query);

	for (size_t i = 0; i < truth->meter_count && len < size; i++)
		if (strcmp(truth->meters[i].kind, zone->kind) == 0)
			len += (size_t)snprintf(query + len, size - len, "%s%s", len ? ", " : "",
						truth->meters[i].path);
}

static int add_zone(struct truth *truth, const struct truth_meter *meter)
{
	if (find_zone(truth, meter->kind))
		return 0;
	if (truth->zone_count == TRUTH_ZONES_MAX) {
		truth->left_out++;
		return 0;
	}
	struct truth_zone *zone = &truth->zones[truth->zone_count];

	zone->series = series_new(meter->kind, "W");
	if (!zone->series)
		return -ENOMEM;
	memcpy(zone->kind, meter->kind, sizeof(zone->kind));
	bool is_gpu = strcmp(meter->kind, TRUTH_GPU) == 0;
	zone->series->error = is_gpu ? TRUTH_GPU_ERROR : truth->error;
	(void)snprintf(zone->series->source, sizeof(zone->series->source), "%s",
		       is_gpu ? TRUTH_GPU : truth_source_name(truth->source));
	name_meters(truth, zone);
	truth->zone_count++;
	return 0;
}

/* A device whose kind has no zone is left out with it. */
static int add_device(struct truth *truth, size_t meter_index)
{
	const struct truth_meter *meter = &truth->meters[meter_index];
	char name[TRUTH_KIND_MAX + TRUTH_UUID_MAX + 32];

	if (!meter->is_device || !find_zone(truth, meter->kind))
		return 0;
	if (truth->device_count == TRUTH_DEVICES_MAX) {
		truth->left_out++;
		return 0;
	}
	struct truth_device *device = &truth->devices[truth->device_count];

	(void)snprintf(name, sizeof(name), "%s %u %s", meter->kind, meter->device_index,
		       meter->uuid);
	*device =
		(struct truth_device){ .meter = meter_index, .zone.series = series_new(name, "W") };
	if (!device->zone.series)
		return -ENOMEM;
	const struct series *sum = find_zone(truth, meter->kind)->series;
	memcpy(device->zone.kind, meter->kind, sizeof(device->zone.kind));
	memcpy(device->zone.series->source, sum->source, sizeof(sum->source));
	memcpy(device->zone.series->query, meter->path, sizeof(meter->path));
	device->zone.series->error = sum->error;
	truth->device_count++;
	return 0;
}

static const char *place_of(const struct truth_options *options)
{
	return options->source == TRUTH_FILE   ? options->file
	       : options->source == TRUTH_MSR  ? "/dev/cpu"
	       : options->source == TRUTH_IPMI ? "/dev/ipmi0"
					       : options->sysfs;
}

int truth_open(const struct truth_options *options, struct truth *ret, struct diag *diag)
{
	static const enum truth_source automatic[] = { TRUTH_RAPL_SYSFS, TRUTH_PERF, TRUTH_MSR,
						       TRUTH_ACPI, TRUTH_IPMI };
	int r = 0;

	*ret = (struct truth){ .source = TRUTH_NONE, .error = NAN };
	if (options->source != TRUTH_AUTO)
		r = search(options, options->source, ret, diag);
	for (size_t i = 0; i < ARRAY_SIZE(automatic) && options->source == TRUTH_AUTO; i++)
		if (ret->source == TRUTH_NONE)
			(void)search(options, automatic[i], ret, diag);
	if (r < 0)
		return r;
	if (ret->source == TRUTH_NONE && options->source != TRUTH_AUTO &&
	    options->source != TRUTH_NONE)
		return diag_set(diag, -ENOENT,
				"truth: %s has no meter that can be read below %s%s%s",
				truth_source_name(options->source), place_of(options),
				ret->failure.text[0] ? ": " : "", ret->failure.text);
	ret->error = sources[ret->source].error;
	/* GPUs are added to any source: no other meter measures them. */
	ret->is_searching_gpus = true;
	if (options->nvml && options->source != TRUTH_NONE)
		truth_search_gpus(options->sysfs, options->nvml, ret);
	ret->failure.text[0] = '\0'; /* of reading it */
	for (size_t i = 0; i < ret->meter_count; i++)
		if (add_zone(ret, &ret->meters[i]) < 0 || add_device(ret, i) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
	return 0;
}

/* The result of a reading, which took from @before_s to @after_s. */
enum outcome { OUTCOME_READ, OUTCOME_NOT_DUE, OUTCOME_FAILED, OUTCOME_UNKNOWN_ENERGY };
struct reading {
	enum outcome outcome;
	double before_s, after_s;
};

static double watts_max(const struct truth_meter *meter)
{
	if (meter->watts_max > 0)
		return meter->watts_max;
	return strcmp(meter->kind, "psys") == 0 || strcmp(meter->kind, "platform") == 0
		       ? MACHINE_WATTS_MAX
		       : PART_WATTS_MAX;
}

static void count_still(struct truth_meter *meter, bool is_equal, double span_s)
{
	meter->still_now_s = is_equal ? meter->still_now_s + span_s : 0;
	if (meter->still_now_s > meter->still_s)
		meter->still_s = meter->still_now_s;
}

static enum outcome count_energy(struct truth_meter *meter, const struct truth_value *value,
				 double span_s)
{
	uint64_t raw = value->raw;
	bool is_lower = raw < meter->last_raw, has_range = meter->range >= meter->last_raw;
	uint64_t counts = is_lower && has_range ? meter->range - meter->last_raw + 1 + raw
						: raw - meter->last_raw;
	double joules = meter->unit * (double)counts;

	if (meter->range > 0 && span_s * WRAP_WATTS_MAX > meter->unit * (double)meter->range) {
		meter->late++;
		return OUTCOME_UNKNOWN_ENERGY;
	}
	if ((is_lower && !has_range) || joules > span_s * watts_max(meter)) {
		meter->resets++;
		return OUTCOME_UNKNOWN_ENERGY;
	}
	meter->joules += joules;
	meter->wraps += is_lower;
	count_still(meter, counts == 0 && !value->is_off, span_s);
	return OUTCOME_READ;
}

static enum outcome count_power(struct truth_meter *meter, double watts, double span_s)
{
	/* The energy used while it could not be read is not known. */
	if (meter->has_failed)
		return OUTCOME_UNKNOWN_ENERGY;
	meter->joules += span_s * (meter->last + watts) / 2;
	count_still(meter, watts >= meter->last && watts <= meter->last, span_s);
	return OUTCOME_READ;
}

static enum outcome take_value(struct truth_meter *meter, const struct truth_value *value,
			       double time_s)
{
	enum outcome outcome = OUTCOME_READ;
	double span_s = time_s - meter->last_s, watts = meter->unit * value->power;

	if (meter->has_last && meter->is_power)
		outcome = count_power(meter, watts, span_s);
	else if (meter->has_last)
		outcome = count_energy(meter, value, span_s);
	meter->last = watts;
	meter->last_raw = value->raw;
	meter->last_s = time_s;
	meter->has_last = true;
	meter->has_failed = false;
	return outcome;
}

static struct reading read_meter(struct truth_meter *meter, const struct truth_clock *clock,
				 struct diag *diag)
{
	struct truth_value value = { 0 };
	struct reading reading = { .before_s = clock->now_s(clock->state) };
	int r = meter->read(meter, reading.before_s, &value, diag);
	double watts = meter->unit * value.power;

	reading.after_s = clock->now_s(clock->state);
	if (r == 0 && meter->is_power && !(watts >= 0 && watts <= watts_max(meter)))
		r = diag_set(diag, -ERANGE, "%s: it reads %g W, which cannot be", meter->path,
			     watts);
	meter->failures += r < 0;
	meter->stalls += r == -ETIMEDOUT;
	meter->has_failed |= r < 0;
	if (r == 0)
		reading.outcome =
			take_value(meter, &value, (reading.before_s + reading.after_s) / 2);
	else
		reading.outcome = r < 0 ? OUTCOME_FAILED : OUTCOME_NOT_DUE;
	return reading;
}

/* @reading: of all meters of the zone, which have counted @joules. */
static int add_sample(struct truth_zone *zone, const struct reading *reading, bool has_power,
		      double joules)
{
	double error_s = (reading->after_s - reading->before_s) / 2;

	if (reading->outcome == OUTCOME_FAILED || reading->outcome == OUTCOME_NOT_DUE)
		return 0;
	if (reading->outcome == OUTCOME_UNKNOWN_ENERGY)
		zone->series->has_last = false; /* the next window begins here */
	else if (!has_power && error_s > SLOW_S && zone->slow++ < SLOW_MOST)
		return 0;
	zone->slow = 0;
	zone->time_error_s = fmax(zone->time_error_s, error_s);
	return series_add_counter(zone->series, reading->before_s + error_s, joules);
}

/* A sample of the zone, if all of its meters were read now. */
static int add_zone_sample(const struct truth *truth, struct truth_zone *zone,
			   const struct reading *readings)
{
	struct reading whole = { OUTCOME_READ, INFINITY, 0 };
	bool has_power = false;
	double joules = 0;

	for (size_t i = 0; i < truth->meter_count; i++) {
		const struct truth_meter *meter = &truth->meters[i];

		if (strcmp(meter->kind, zone->kind) != 0)
			continue;
		if (readings[i].outcome == OUTCOME_FAILED || readings[i].outcome == OUTCOME_NOT_DUE)
			return 0;
		if (readings[i].outcome == OUTCOME_UNKNOWN_ENERGY)
			whole.outcome = OUTCOME_UNKNOWN_ENERGY;
		whole.before_s = fmin(whole.before_s, readings[i].before_s);
		whole.after_s = fmax(whole.after_s, readings[i].after_s);
		has_power |= meter->is_power;
		joules += meter->joules;
	}
	return add_sample(zone, &whole, has_power, joules);
}

int truth_read(struct truth *truth, const struct truth_clock *clock)
{
	struct reading readings[TRUTH_METERS_MAX];
	int r = 0;

	for (size_t i = 0; i < truth->meter_count; i++) {
		readings[i] = read_meter(&truth->meters[i], clock, &truth->failure);
		truth->skipped += readings[i].outcome == OUTCOME_FAILED;
	}
	for (size_t i = 0; i < truth->zone_count && r == 0; i++)
		r = add_zone_sample(truth, &truth->zones[i], readings);
	for (size_t i = 0; i < truth->device_count && r == 0; i++) {
		struct truth_device *device = &truth->devices[i];
		const struct truth_meter *meter = &truth->meters[device->meter];

		r = add_sample(&device->zone, &readings[device->meter], meter->is_power,
			       meter->joules);
	}
	truth->readings++;
	return r;
}

void truth_close(struct truth *truth)
{
	for (size_t i = 0; i < truth->meter_count; i++)
		truth_meter_release(&truth->meters[i]);
	for (size_t i = 0; i < truth->zone_count; i++)
		series_free(truth->zones[i].series);
	for (size_t i = 0; i < truth->device_count; i++)
		series_free(truth->devices[i].zone.series);
	*truth = (struct truth){ 0 };
}
