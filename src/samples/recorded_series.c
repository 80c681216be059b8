// SPDX-License-Identifier: Apache-2.0
/*
 * Zones are read one after the other, in microseconds. The first reading of an interval ends a
 * step, and the others, which follow closely, count as read at that time, so that all zones have
 * the same steps. Their energy is unchanged. Activity is read next, so its time is the same as
 * well.
 */
#include "samples/recorded_series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/num.h"
#include "record/record_reader.h"

#define NEAR_PARTS   10                    /* of an interval: its tenth */
#define NEAR_NS      (100 * NSEC_PER_MSEC) /* where it has no length */
#define FEATURES_MAX (1 + SIGNAL_COUNT)

/* Features by their place: CPU time, then signals; NULL: power does not follow it. */
static const char *const feature_names[FEATURES_MAX] = {
	[0] = "bpf_cpu_time_ms",
	[1 + SIGNAL_CPU_CYCLES] = "cpu_cycles",
	[1 + SIGNAL_REF_CYCLES] = "cpu_ref_cycles",
	[1 + SIGNAL_INSTRUCTIONS] = "cpu_instructions",
	[1 + SIGNAL_CACHE_MISSES] = "cache_miss",
	[1 + SIGNAL_PAGE_CACHE_HITS] = "bpf_page_cache_hit",
	[1 + SIGNAL_NET_TX_IRQ] = "bpf_net_tx_irq",
	[1 + SIGNAL_NET_RX_IRQ] = "bpf_net_rx_irq",
	[1 + SIGNAL_BLOCK_IRQ] = "bpf_block_irq",
	[1 + SIGNAL_NET_BYTES] = "net_bytes",
	[1 + SIGNAL_BLOCK_BYTES] = "block_bytes",
	[1 + SIGNAL_MEMORY_TRAFFIC] = "memory_traffic_bytes",
};

struct recorded_zone_state {
	bool is_defined, has_span;
	enum zone_kind kind;
	char source[RECORD_SOURCE_MAX], instance[ZONE_INSTANCE_MAX];
	uint64_t energy_uj;    /* so far */
	uint64_t to_ns, at_ns; /* of the last span: its end, and what it counts as */
	unsigned part;         /* spans without a hole before */
};

struct recorded_owner_state {
	bool is_touched;
	/* Labels of its container: id, pod, name, namespace. */
	char names[4][OWNER_NAME_MAX + 1];
	uint64_t amounts[FEATURES_MAX], fresh[FEATURES_MAX];
};

struct recorded_reading_pass {
	const struct series_sink *sink;
	const struct extract_options *options;
	bool only_steps;
	struct recorded_zone_state zones[ZONES_MAX];
	struct recorded_owner_state *owners; /* each set of names once */
	size_t owner_count, owner_size;
	struct map by_names;
	uint32_t *owner_ids; /* ids of owners → places in owners */
	size_t id_count, id_size;
	uint32_t *process_owners;
	size_t process_count, process_size;
	uint64_t time_ns; /* the end of the step before */
	bool has_time;
	uint64_t steal_ns; /* so far */
	int64_t offset_us; /* of 1970 to the monotonic clock */
};

static int put_point(const struct recorded_reading_pass *pass, uint64_t time_ns, double value)
{
	const struct series_point point = {
		.time_us = pass->offset_us + (int64_t)(time_ns / NSEC_PER_USEC),
		.value = value,
		.text = "",
	};

	return pass->sink->point(pass->sink->userdata, &point);
}

static int put_zone_labels(const struct recorded_reading_pass *pass,
			   const struct recorded_zone_state *zone)
{
	char name[64], part[16];
	const struct series_labels labels = {
		.name = { "__name__", "source", "package", "mode", "part" },
		.value = { name, zone->source, zone->instance, "dynamic", part },
		.count = 5,
	};

	(void)snprintf(name, sizeof(name), "kepler_node_%s_joules_total",
		       zone_kind_name(zone->kind));
	(void)snprintf(part, sizeof(part), "%u", zone->part);
	return pass->sink->series(pass->sink->userdata, &labels);
}

static bool is_near(const struct recorded_interval *interval, uint64_t a_ns, uint64_t b_ns)
{
	uint64_t apart_ns = a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;

	return apart_ns < (interval->length_ns ? interval->length_ns / NEAR_PARTS : NEAR_NS);
}

/* The end of the step. */
static uint64_t end_of(const struct recorded_interval *interval)
{
	for (size_t i = 0; i < interval->reading_count; i++) {
		const struct recorded_reading *reading = &interval->readings[i];

		if (reading->has_span && is_near(interval, reading->span.to_ns, interval->time_ns))
			return reading->span.to_ns;
	}
	return interval->time_ns;
}

/* A span: two points; the first is not repeated if the span before ends there. */
static int put_span(struct recorded_reading_pass *pass, struct recorded_zone_state *zone,
		    const struct energy_span *span, const struct recorded_interval *interval)
{
	uint64_t end_ns = end_of(interval), from_ns = span->from_ns;
	uint64_t at_ns = is_near(interval, span->to_ns, end_ns) ? end_ns : span->to_ns;
	bool goes_on = zone->has_span && zone->to_ns == span->from_ns;
	double before = (double)zone->energy_uj / (double)UJ_PER_J;
	int r;

	if (goes_on)
		from_ns = zone->at_ns;
	else if (pass->has_time && is_near(interval, from_ns, pass->time_ns))
		from_ns = pass->time_ns;
	if (!goes_on)
		zone->part++;
	zone->energy_uj += span->energy_uj;
	zone->has_span = true;
	zone->to_ns = span->to_ns;
	zone->at_ns = at_ns;
	r = put_zone_labels(pass, zone);
	if (r == 0 && !goes_on)
		r = put_point(pass, from_ns, before);
	if (r == 0)
		r = put_point(pass, at_ns, (double)zone->energy_uj / (double)UJ_PER_J);
	return r;
}

static int put_zones(struct recorded_reading_pass *pass, const struct recorded_interval *interval)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < interval->reading_count; i++) {
		const struct recorded_reading *reading = &interval->readings[i];
		struct recorded_zone_state *zone = &pass->zones[i];

		if (!zone->is_defined)
			continue;
		if (pass->only_steps) {
			r = put_zone_labels(pass, zone);
			if (r == 0)
				r = put_point(pass, end_of(interval), 0);
		} else if (reading->has_span && reading->span.known &&
			   reading->span.from_ns < reading->span.to_ns) {
			r = put_span(pass, zone, &reading->span, interval);
		}
	}
	return r;
}

static double feature_value(size_t feature, uint64_t amount)
{
	return feature ? (double)amount : (double)amount / (double)NSEC_PER_MSEC;
}

static int put_owner(struct recorded_reading_pass *pass, struct recorded_owner_state *owner,
		     uint64_t time_ns)
{
	const char *level = pass->options->level == METRIC_NODE ? "node" : "container";
	int r = 0;

	for (size_t i = 0; r == 0 && i < FEATURES_MAX; i++) {
		char name[64];
		const struct series_labels labels = {
			.name = { "__name__", "container_id", "pod_name", "container_name",
				  "container_namespace" },
			.value = { name, owner->names[0], owner->names[1], owner->names[2],
				   owner->names[3] },
			.count = 5,
		};

		if (!feature_names[i] || !owner->fresh[i])
			continue;
		(void)snprintf(name, sizeof(name), "kepler_%s_%s_total", level, feature_names[i]);
		r = pass->sink->series(pass->sink->userdata, &labels);
		if (r == 0)
			r = put_point(pass, pass->time_ns, feature_value(i, owner->amounts[i]));
		owner->amounts[i] += owner->fresh[i];
		owner->fresh[i] = 0;
		if (r == 0)
			r = put_point(pass, time_ns, feature_value(i, owner->amounts[i]));
	}
	owner->is_touched = false;
	return r;
}

/* The owner of a party; NULL: not defined. */
static struct recorded_owner_state *owner_of(struct recorded_reading_pass *pass, uint32_t party)
{
	uint32_t id = recorded_party_id(party);

	if (recorded_party_is_process(party)) {
		if (id >= pass->process_count || pass->process_owners[id] == UINT32_MAX)
			return NULL;
		id = pass->process_owners[id];
	}
	if (id >= pass->id_count || pass->owner_ids[id] == MAP_NONE)
		return NULL;
	return &pass->owners[pass->owner_ids[id]];
}

static int put_owners(struct recorded_reading_pass *pass, const struct recorded_interval *interval)
{
	int r = 0;

	for (size_t i = 0; i < interval->party_count; i++) {
		struct recorded_owner_state *owner = owner_of(pass, interval->parties[i]);

		if (!owner)
			continue;
		owner->is_touched = true;
		owner->fresh[0] += interval->cpu_ns[i];
		for (size_t s = 0; s < SIGNAL_COUNT; s++) {
			if (interval->signals & SIGNAL_BIT(s))
				owner->fresh[1 + s] += interval->signal[s][i];
		}
	}
	for (size_t i = 0; r == 0 && i < pass->owner_count; i++) {
		if (pass->owners[i].is_touched)
			r = put_owner(pass, &pass->owners[i], end_of(interval));
	}
	return r;
}

/* Series of the node, at any level. */
static int put_steal(struct recorded_reading_pass *pass, const struct recorded_interval *interval)
{
	const struct series_labels labels = {
		.name = { "__name__" },
		.value = { "kepler_node_cpu_steal_seconds_total" },
		.count = 1,
	};
	int r = pass->sink->series(pass->sink->userdata, &labels);

	if (r == 0)
		r = put_point(pass, pass->time_ns, (double)pass->steal_ns / (double)NSEC_PER_SEC);
	pass->steal_ns += interval->steal_ns;
	if (r == 0)
		r = put_point(pass, end_of(interval),
			      (double)pass->steal_ns / (double)NSEC_PER_SEC);
	return r;
}

static int take_interval(struct recorded_reading_pass *pass,
			 const struct recorded_interval *interval)
{
	int r;

	if (!pass->has_time)
		pass->offset_us =
			interval->realtime_ms * 1000 - (int64_t)(interval->time_ns / NSEC_PER_USEC);
	r = put_zones(pass, interval);
	if (r == 0 && !pass->only_steps && pass->has_time && end_of(interval) > pass->time_ns) {
		r = put_owners(pass, interval);
		if (r == 0 && interval->has_steal)
			r = put_steal(pass, interval);
	}
	pass->time_ns = end_of(interval);
	pass->has_time = true;
	return r;
}

/* The place of an owner with these names, which may be new; MAP_NONE without memory. */
static uint32_t find_names(struct recorded_reading_pass *pass,
			   const struct recorded_owner_state *state)
{
	const char *bytes = (const char *)state->names;
	const struct map_key key = { hash64_bytes(HASH64_START, bytes, sizeof(state->names)),
				     hash64_bytes(~HASH64_START, bytes, sizeof(state->names)) };
	uint32_t place = map_find(&pass->by_names, key);

	if (place != MAP_NONE)
		return place;
	if (ARRAY_RESERVE(pass->owners, pass->owner_size, pass->owner_count + 1) < 0 ||
	    map_put(&pass->by_names, key, (uint32_t)pass->owner_count) < 0)
		return MAP_NONE;
	pass->owners[pass->owner_count] = *state;
	return (uint32_t)pass->owner_count++;
}

static int take_owner(struct recorded_reading_pass *pass, const struct recorded_owner *owner)
{
	static const enum label_key keys[] = { LABEL_CONTAINER_ID, LABEL_POD_NAME,
					       LABEL_CONTAINER_NAME, LABEL_NAMESPACE };
	struct recorded_owner_state state;

	if (owner->id >= RECORD_IDS_MAX ||
	    ARRAY_RESERVE(pass->owner_ids, pass->id_size, owner->id + 1) < 0)
		return -ENOMEM;
	for (; pass->id_count <= owner->id; pass->id_count++)
		pass->owner_ids[pass->id_count] = MAP_NONE;
	memset(&state, 0, sizeof(state));
	/* At the level of the node all owners are one. */
	for (size_t i = 0; pass->options->level != METRIC_NODE && i < ARRAY_SIZE(keys); i++) {
		const char *text = owner->names.text[keys[i]];

		(void)snprintf(state.names[i], sizeof(state.names[i]), "%s", text ? text : "");
	}
	pass->owner_ids[owner->id] = find_names(pass, &state);
	return pass->owner_ids[owner->id] == MAP_NONE ? -ENOMEM : 0;
}

static int take_process(struct recorded_reading_pass *pass, const struct recorded_process *process)
{
	if (process->id >= RECORD_IDS_MAX ||
	    ARRAY_RESERVE(pass->process_owners, pass->process_size, process->id + 1) < 0)
		return -ENOMEM;
	for (; pass->process_count <= process->id; pass->process_count++)
		pass->process_owners[pass->process_count] = UINT32_MAX;
	pass->process_owners[process->id] = process->owner;
	return 0;
}

static void take_zone(struct recorded_reading_pass *pass, const struct recorded_zone *zone)
{
	struct recorded_zone_state *state;

	if (zone->index >= ZONES_MAX)
		return;
	state = &pass->zones[zone->index];
	*state = (struct recorded_zone_state){ .is_defined = true,
					       .kind = zone->zone.kind,
					       .part = state->part };
	(void)snprintf(state->source, sizeof(state->source), "%s", zone->source);
	(void)snprintf(state->instance, sizeof(state->instance), "%s", zone->zone.instance);
}

static int take_record(struct recorded_reading_pass *pass, const struct record *record)
{
	switch (record->type) {
	case RECORD_ZONE:
		take_zone(pass, &record->zone);
		return 0;
	case RECORD_OWNER:
		return pass->only_steps ? 0 : take_owner(pass, &record->owner);
	case RECORD_PROCESS:
		return pass->only_steps ? 0 : take_process(pass, &record->process);
	case RECORD_INTERVAL:
		return take_interval(pass, &record->interval);
	case RECORD_FACT:
	case RECORD_OPTION:
	case RECORD_IDLE:
	case RECORD_END:
	case RECORD_STATE:
		break;
	}
	return 0;
}

struct recorded_file {
	const char *path;
	const struct extract_options *options;
	unsigned passes;
};

static int read_records(struct recorded_reading_pass *pass, const char *path, struct diag *diag)
{
	CLEANUP_FREE struct record *record = calloc(1, sizeof(*record));
	struct record_reader *reader = NULL;
	struct diag why = { "" };
	int r = record ? record_reader_open(path, &reader, &why) : -ENOMEM;
	int got = 0;

	if (r < 0)
		return diag_set(diag, r, "%s", why.text);
	while (r == 0 && (got = record_reader_next(reader, record, &why)) > 0)
		r = take_record(pass, record);
	record_reader_close(reader);
	if (got < 0)
		return diag_set(diag, got, "%s", why.text);
	return r;
}

static int read_file(void *userdata, const struct series_sink *sink, struct diag *diag)
{
	struct recorded_file *file = userdata;
	struct recorded_reading_pass *pass = calloc(1, sizeof(*pass));
	int r;

	if (!pass)
		return -ENOMEM;
	pass->sink = sink;
	pass->options = file->options;
	pass->only_steps = file->passes++ == 0;
	map_init(&pass->by_names, RECORD_IDS_MAX);
	r = read_records(pass, file->path, diag);
	map_release(&pass->by_names);
	free(pass->owners);
	free(pass->owner_ids);
	free(pass->process_owners);
	free(pass);
	return r;
}

bool recorded_series_is(const char *path)
{
	char begin[sizeof(RECORD_MAGIC)] = "";
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(begin, 1, sizeof(RECORD_MAGIC) - 1, file) : 0;

	if (file)
		(void)fclose(file);
	return len == sizeof(RECORD_MAGIC) - 1 && memcmp(begin, RECORD_MAGIC, len) == 0;
}

int extraction_of_recording(const struct extract_options *options, const char *path,
			    struct extraction *ret, struct diag *diag)
{
	struct recorded_file file = { .path = path, .options = options };
	int r;

	if (options->level != METRIC_CONTAINER && options->level != METRIC_NODE)
		return diag_set(diag, -EINVAL,
				"%s: rows of a recording have only the levels container and "
				"node",
				path);
	r = extraction_run(options, read_file, &file, ret, diag);
	/* The form of a recording repeats points, and leaves gaps: these are not faults. */
	if (r == 0)
		ret->faults = (struct points_faults){ 0 };
	return r;
}
