// SPDX-License-Identifier: Apache-2.0
/* A range of one moment, because its answer has the form that series_reader.h reads. */
#include "units/unit_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macro.h"
#include "net/http_url.h"
#include "samples/series_reader.h"
#include "units/unit_page.h"

uint64_t unit_pod_hash(const char *namespace_, const char *pod)
{
	return hash64_text(hash64_byte(hash64_text(HASH64_START, namespace_), 0), pod);
}

int unit_answer_url(const struct unit_rule *rule, int64_t now_s, char *buf, size_t size)
{
	char query[3 * UNIT_QUERY_MAX + 1];
	size_t site_len = strlen(rule->url);
	int len;

	if (http_url_escape(rule->query, query, sizeof(query)) < 0)
		return -ENOSPC;
	while (site_len > 0 && rule->url[site_len - 1] == '/')
		site_len--;
	len = snprintf(buf, size,
		       "%.*s/api/v1/query_range?query=%s&start=%" PRId64 "&end=%" PRId64 "&step=1",
		       (int)site_len, rule->url, query, now_s, now_s);
	return len < 0 || (size_t)len >= size ? -ENOSPC : 0;
}

struct reading {
	uint32_t unit;
	const struct unit_pods *pods;
	struct unit_targets *targets;
	struct unit_target *target; /* of the series; NULL: it is left out */
	uint64_t key;
	bool has_pod; /* any series has said its pod */
	int error;
};

static int compare_hashes(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static bool is_here(const struct unit_pods *pods, uint64_t hash)
{
	return pods->count &&
	       bsearch(&hash, pods->hashes, pods->count, sizeof(hash), compare_hashes);
}

static int take_series(void *userdata, const struct series_labels *labels)
{
	struct reading *reading = userdata;
	const char *namespace_ = series_label(labels, "namespace");
	const char *pod = series_label(labels, "pod");
	bool was_present;

	reading->target = NULL;
	reading->has_pod |= *namespace_ && *pod;
	if (!*namespace_ || !*pod || !is_here(reading->pods, unit_pod_hash(namespace_, pod)))
		return 0;
	reading->key = HASH64_START;
	for (size_t i = 0; i < labels->count; i++) {
		reading->key = hash64_text(reading->key, labels->name[i]);
		reading->key = hash64_byte(reading->key, 0);
		reading->key = hash64_text(reading->key, labels->value[i]);
		reading->key = hash64_byte(reading->key, 0);
	}
	reading->target = unit_targets_put(reading->targets, reading->unit, namespace_, pod);
	was_present = reading->target && reading->target->is_read;
	if (reading->target && !was_present) {
		unit_series_begin(&reading->target->series);
		reading->target->is_read = true; /* until the end: its reading has begun */
	}
	return 0;
}

static int take_point(void *userdata, const struct series_point *point)
{
	struct reading *reading = userdata;

	if (reading->target)
		reading->error =
			unit_series_add(&reading->target->series, reading->key, point->value);
	return reading->error;
}

/* Ends the readings of the unit, or takes them back. */
static void end_readings(struct unit_targets *targets, uint32_t unit, bool has_succeeded)
{
	for (size_t i = 0; i < targets->count; i++) {
		struct unit_target *target = &targets->targets[i];

		if (target->unit != unit || !target->is_read)
			continue;
		if (!has_succeeded || unit_target_end(target) < 0)
			target->is_read = false;
	}
}

int unit_answer_read(const char *text, size_t len, uint32_t unit, const struct unit_pods *pods,
		     struct unit_targets *targets, struct diag *diag)
{
	struct reading reading = { .unit = unit, .pods = pods, .targets = targets };
	const struct series_sink sink = { take_series, take_point, &reading };
	struct series_answer answer = { .is_success = false };
	int r = series_read_text(text, len, &sink, &answer, diag);

	if (reading.error < 0)
		r = unit_series_fault(reading.error, diag);
	else if (r == 0 && !answer.is_success)
		r = diag_set(diag, -EPROTO, "the answer is no success: %s",
			     answer.error[0] ? answer.error : "it is not a Prometheus");
	else if (r == 0 && !reading.has_pod)
		r = diag_set(diag, -ENODATA,
			     "no series of the answer has the labels namespace and pod");
	end_readings(targets, unit, r == 0);
	return r;
}
