// SPDX-License-Identifier: Apache-2.0
/*
 * A counter that is lower than before has wrapped if its range is known; without a range, or with
 * more in it than its range allows, it was reset, and the energy between is not known. Gauges are
 * integrated between two readings as a trapezium, which is what sampling gives.
 */
#include "truth/truth.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "truth/meter_search.h"

struct source_row {
	const char *name;
	double error;
};

static const struct source_row sources[] = {
	[TRUTH_AUTO] = { "auto", NAN },
	[TRUTH_NONE] = { "none", NAN },
	[TRUTH_RAPL_SYSFS] = { "rapl-sysfs", 0.01 },
	[TRUTH_HWMON] = { "hwmon", 0.03 },
	[TRUTH_ACPI] = { "acpi", 0.05 },
	[TRUTH_FILE] = { "file", 0.02 },
};

const char *truth_source_name(enum truth_source source)
{
	return sources[source].name;
}

static void search(const struct truth_options *options, enum truth_source source,
		   struct truth *truth)
{
	switch (source) {
	case TRUTH_RAPL_SYSFS:
		search_rapl_sysfs(options->sysfs, truth);
		break;
	case TRUTH_HWMON:
	case TRUTH_ACPI:
		search_hwmon(options->sysfs, source == TRUTH_ACPI, truth);
		break;
	case TRUTH_FILE:
		search_file(options->file, truth);
		break;
	case TRUTH_AUTO:
	case TRUTH_NONE:
		break;
	}
	truth->source = truth->meter_count > 0 ? source : TRUTH_NONE;
}

static struct truth_zone *find_zone(struct truth *truth, const char *kind)
{
	for (size_t i = 0; i < truth->zone_count; i++)
		if (strcmp(truth->zones[i].kind, kind) == 0)
			return &truth->zones[i];
	return NULL;
}

static int add_zone(struct truth *truth, const struct truth_meter *meter)
{
	if (find_zone(truth, meter->kind) || truth->zone_count == TRUTH_ZONES_MAX)
		return 0;
	struct truth_zone *zone = &truth->zones[truth->zone_count];

	zone->series = series_new(meter->kind, "W");
	if (!zone->series)
		return -ENOMEM;
	memcpy(zone->kind, meter->kind, sizeof(zone->kind));
	zone->series->error = truth->error;
	(void)snprintf(zone->series->source, sizeof(zone->series->source), "%s",
		       truth_source_name(truth->source));
	(void)snprintf(zone->series->query, sizeof(zone->series->query), "%s", meter->path);
	truth->zone_count++;
	return 0;
}

int truth_open(const struct truth_options *options, struct truth *ret, struct diag *diag)
{
	static const enum truth_source automatic[] = { TRUTH_RAPL_SYSFS, TRUTH_ACPI };

	*ret = (struct truth){ .source = TRUTH_NONE, .error = NAN };
	if (options->source != TRUTH_AUTO)
		search(options, options->source, ret);
	for (size_t i = 0; i < ARRAY_SIZE(automatic) && options->source == TRUTH_AUTO; i++)
		if (ret->source == TRUTH_NONE)
			search(options, automatic[i], ret);
	if (ret->source == TRUTH_NONE && options->source != TRUTH_AUTO &&
	    options->source != TRUTH_NONE)
		return diag_set(diag, -ENOENT, "truth: this machine has no meter of %s below %s",
				truth_source_name(options->source),
				options->source == TRUTH_FILE ? options->file : options->sysfs);
	ret->error = sources[ret->source].error;
	for (size_t i = 0; i < ret->meter_count; i++)
		if (add_zone(ret, &ret->meters[i]) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
	return 0;
}

static void count_energy(struct truth_meter *meter, uint64_t raw)
{
	if (meter->has_last && raw >= meter->last_raw) {
		meter->joules += meter->unit * (double)(raw - meter->last_raw);
	} else if (meter->has_last && meter->range >= meter->last_raw) {
		meter->joules += meter->unit * (double)(meter->range - meter->last_raw + 1 + raw);
		meter->wraps++;
	} else if (meter->has_last) {
		meter->failures++;
	}
	meter->last_raw = raw;
	meter->has_last = true;
}

static bool read_meter(struct truth_meter *meter, double span_s)
{
	char text[64];
	ssize_t len = read_file_at(AT_FDCWD, meter->path, text, sizeof(text));
	uint64_t raw;
	double value;

	if (len <= 0)
		return false;
	if (!meter->is_power) {
		if (parse_u64(text, (size_t)len, &raw) < 0)
			return false;
		count_energy(meter, raw);
		return true;
	}
	text[strcspn(text, "\n")] = '\0';
	if (parse_double(text, &value) < 0)
		return false;
	value *= meter->unit;
	if (meter->has_last)
		meter->joules += span_s * (meter->last + value) / 2;
	meter->last = value;
	meter->has_last = true;
	return true;
}

/* A zone's energy so far; false: one of its meters was not read now. */
static bool zone_energy(const struct truth *truth, const struct truth_zone *zone,
			const bool *is_read, double *ret_j)
{
	*ret_j = 0;
	for (size_t i = 0; i < truth->meter_count; i++) {
		if (strcmp(truth->meters[i].kind, zone->kind) != 0)
			continue;
		if (!is_read[i])
			return false;
		*ret_j += truth->meters[i].joules;
	}
	return true;
}

int truth_read(struct truth *truth, double now_s)
{
	bool is_read[TRUTH_METERS_MAX];
	double joules;
	int r = 0;

	for (size_t i = 0; i < truth->meter_count; i++) {
		struct truth_meter *meter = &truth->meters[i];

		is_read[i] = read_meter(meter, now_s - truth->last_s);
		if (is_read[i])
			continue;
		meter->failures++;
		truth->skipped++;
		(void)snprintf(truth->failure, sizeof(truth->failure), "%s: it cannot be read",
			       meter->path);
	}
	for (size_t i = 0; i < truth->zone_count && r == 0; i++)
		if (zone_energy(truth, &truth->zones[i], is_read, &joules))
			r = series_add_counter(truth->zones[i].series, now_s, joules);
	truth->last_s = now_s;
	truth->readings++;
	return r;
}

void truth_close(struct truth *truth)
{
	for (size_t i = 0; i < truth->zone_count; i++)
		series_free(truth->zones[i].series);
	*truth = (struct truth){ 0 };
}
