// SPDX-License-Identifier: Apache-2.0
#include "evidence/recordings/recording_series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "evidence/recordings/recording_input.h"

#define ZONES_MAX      1034
#define IDS_MAX        (1U << 22)
#define PARTIES_MAX    262144
#define ZONE_ESTIMATED 1
#define TEXT_MAX       256
#define SLACK          0.1 /* of a span: by which it may begin later than the one before ended */
#define SLACK_S        0.01
#define S_PER_NS       1e-9
#define S_PER_MS       1e-3
#define J_PER_UJ       1e-6

enum record { RECORD_ZONE = 3, RECORD_OWNER = 5, RECORD_PROCESS = 6, RECORD_INTERVAL = 7 };
enum section { SECTION_TIME = 1, SECTION_ZONES = 4, SECTION_PARTIES = 5, SECTION_CPU = 6 };
enum span { SPAN_IS = 1, SPAN_KNOWN = 2, SPAN_MEAN = 4, SPAN_IDLE = 8, SPAN_FIRST = 16 };

struct recorded_zone {
	bool is_mine;
	double last_s; /* end of its last span; NAN: none in this file */
};

struct recording_series {
	struct series_pick *pick;
	bool is_of_kind; /* the words are a kind of zones */
	struct recorded_zone zones[ZONES_MAX];
	size_t zone_count;
	bool has_owner; /* the owner that is followed exists now */
	uint32_t owner;
	char container[TEXT_MAX]; /* its key; "": none has been found yet */
	uint32_t *process_owners; /* the owner of each, by id */
	bool mine[PARTIES_MAX];   /* parties of the interval */
	size_t party_count;
	double end_s, length_s; /* of the interval */
	double total;           /* J, or s of CPU time */
};

struct recording_series *recording_series_new(struct series_pick *pick)
{
	static const char *const kinds[] = { "package", "core",     "uncore", "dram",
					     "psys",    "platform", "gpu",    "other" };
	struct recording_series *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return NULL;
	recording->pick = pick;
	recording->process_owners = calloc(IDS_MAX, sizeof(*recording->process_owners));
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && pick->words; i++)
		recording->is_of_kind |= strcmp(pick->words, kinds[i]) == 0;
	if (!recording->process_owners) {
		recording_series_free(recording);
		return NULL;
	}
	return recording;
}

void recording_series_free(struct recording_series *recording)
{
	if (!recording)
		return;
	free(recording->process_owners);
	free(recording);
}

/* A series that there is: 1 if it is the one to read, which may have begun before; 0; -ENOMEM. */
static int offer(struct recording_series *recording, const char *name, const char *query)
{
	struct series_pick *pick = recording->pick;

	if (pick->series && strcmp(pick->series->query, query) == 0)
		return 1;
	return series_pick_begin(pick, name, query);
}

static int define_zone(struct recording_series *recording, struct record_bytes *from)
{
	char kind[32], instance[64], source[64], path[96], query[TEXT_MAX + 128];
	uint64_t index = record_bytes_number(from);

	record_bytes_text(from, kind, sizeof(kind));
	record_bytes_text(from, instance, sizeof(instance));
	(void)record_bytes_number(from); /* domain */
	(void)record_bytes_number(from);
	uint64_t flags = record_bytes_number(from);
	(void)record_bytes_number(from); /* rank */
	record_bytes_text(from, source, sizeof(source));
	record_bytes_text(from, path, sizeof(path));
	if (from->is_wrong || index != recording->zone_count || index >= ZONES_MAX)
		return -EBADMSG;
	bool is_estimated = flags & ZONE_ESTIMATED;
	struct recorded_zone *zone = &recording->zones[recording->zone_count++];

	*zone = (struct recorded_zone){ .last_s = NAN };
	if (recording->is_of_kind && (is_estimated || strcmp(kind, recording->pick->words) != 0))
		return 0;
	if (recording->is_of_kind)
		(void)snprintf(query, sizeof(query), "%s_joules_total{source=\"%s\"}", kind,
			       source);
	else
		(void)snprintf(query, sizeof(query),
			       "%s_joules_total{zone=\"%s\",source=\"%s\",path=\"%s\"%s}", kind,
			       instance, source, path,
			       is_estimated ? ",quality=\"estimated\"" : "");
	int r = offer(recording, kind, query);
	zone->is_mine = r > 0;
	return r < 0 ? r : 0;
}

/* The names of an owner as labels. */
static void read_names(struct record_bytes *from, char *container, char *query, size_t size)
{
	static const char *const shown[] = { "container_name", "container_namespace", "pod_name",
					     "vm_name" };
	char key[64], text[TEXT_MAX], labels[TEXT_MAX * 2] = "";
	uint64_t count = record_bytes_number(from);
	size_t len = 0;

	*container = '\0';
	for (uint64_t i = 0; i < count && !from->is_wrong; i++) {
		record_bytes_text(from, key, sizeof(key));
		record_bytes_text(from, text, sizeof(text));
		if (strcmp(key, "container_id") == 0)
			(void)snprintf(container, TEXT_MAX, "%s", text);
		for (size_t known = 0; known < ARRAY_SIZE(shown); known++)
			if (strcmp(key, shown[known]) == 0 && *text && len < sizeof(labels))
				len += (size_t)snprintf(labels + len, sizeof(labels) - len,
							",%s=\"%s\"", key, text);
	}
	(void)snprintf(query, size, "cpu_seconds_total{container_id=\"%s\"%s}", container, labels);
}

static int define_owner(struct recording_series *recording, struct record_bytes *from)
{
	char container[TEXT_MAX], query[SERIES_TEXT_MAX];
	uint64_t id = record_bytes_number(from);

	(void)record_bytes_number(from); /* flags */
	(void)record_bytes_number(from); /* requested CPUs */
	read_names(from, container, query, sizeof(query));
	if (from->is_wrong || id >= IDS_MAX)
		return -EBADMSG;
	if (recording->is_of_kind)
		return 0;
	bool is_mine = *container && strcmp(container, recording->container) == 0;
	if (!is_mine) {
		int r = series_pick_begin(recording->pick, container, query);
		if (r < 0)
			return r;
		is_mine = r > 0;
	}
	if (is_mine) {
		(void)snprintf(recording->container, sizeof(recording->container), "%s", container);
		recording->owner = (uint32_t)id;
	}
	if (is_mine || id == recording->owner)
		recording->has_owner = is_mine;
	return 0;
}

static int define_process(struct recording_series *recording, struct record_bytes *from)
{
	char comm[32];
	uint64_t id = record_bytes_number(from);

	(void)record_bytes_number(from); /* PID */
	(void)record_bytes_number(from); /* start */
	record_bytes_text(from, comm, sizeof(comm));
	uint64_t owner = record_bytes_number(from);
	if (from->is_wrong || id >= IDS_MAX || owner >= IDS_MAX)
		return -EBADMSG;
	recording->process_owners[id] = (uint32_t)owner;
	return 0;
}

static void read_time(struct recording_series *recording, struct record_bytes *from)
{
	(void)record_bytes_number(from); /* CLOCK_MONOTONIC */
	(void)record_bytes_number(from); /* CLOCK_BOOTTIME */
	recording->end_s = S_PER_MS * (double)record_bytes_signed(from);
	recording->length_s = S_PER_NS * (double)record_bytes_number(from);
}

/* The value of the series in an interval. */
struct share {
	double amount;
	double start_s, end_s;
	bool is_late;    /* a part of it was not read: its energy comes with a later interval */
	bool is_unknown; /* the amount of a part is not known */
	bool is_apart;   /* something is missing between the interval before and this one */
};

static bool is_apart(double start_s, double length_s, double before_s)
{
	return isnan(before_s) || start_s > before_s + SLACK * length_s + SLACK_S;
}

/* Where counting begins again, the wall clock may have been set back. */
static int add_sample(struct series *series, double time_s, double value)
{
	if (series->has_last || series->count == 0 || time_s >= series_end_s(series))
		return series_add_counter(series, time_s, value);
	series->samples++;
	series->dropped.out_of_order++;
	return 0;
}

static int add_share(struct recording_series *recording, const struct share *share)
{
	struct series *series = recording->pick->series;
	int r = 0;

	if (share->is_unknown || share->is_apart)
		series->has_last = false;
	if (share->is_apart && !share->is_unknown)
		r = add_sample(series, share->start_s, recording->total);
	recording->total += share->amount;
	return r < 0 || share->is_late ? r : add_sample(series, share->end_s, recording->total);
}

static void read_zone(struct recording_series *recording, size_t index, struct record_bytes *from,
		      struct share *share)
{
	struct recorded_zone *zone = &recording->zones[index];
	const struct series *series = recording->pick->series;

	(void)record_bytes_number(from); /* state */
	(void)record_bytes_signed(from); /* error */
	uint64_t flags = record_bytes_number(from);
	share->is_late |= zone->is_mine && !(flags & SPAN_IS);
	if (!(flags & SPAN_IS))
		return;
	double end_s = recording->end_s - S_PER_NS * (double)record_bytes_signed(from);
	double length_s = flags & SPAN_FIRST ? 0 : S_PER_NS * (double)record_bytes_number(from);
	if (flags & SPAN_MEAN)
		(void)record_bytes_number(from);
	double joules = flags & SPAN_KNOWN ? J_PER_UJ * (double)record_bytes_number(from) : 0;
	if (flags & SPAN_IDLE)
		(void)record_bytes_number(from);
	if (!zone->is_mine)
		return;
	double before_s = !isnan(zone->last_s) ? zone->last_s
			  : series->has_last   ? series->last_s
					       : (double)NAN;

	share->amount += joules;
	share->is_unknown |= !(flags & SPAN_KNOWN) || flags & SPAN_FIRST;
	share->is_apart |= is_apart(end_s - length_s, length_s, before_s);
	share->start_s = fmax(share->start_s, end_s - length_s);
	share->end_s = fmax(share->end_s, end_s);
	zone->last_s = end_s;
}

static int read_zones(struct recording_series *recording, struct record_bytes *from)
{
	struct share share = { .start_s = -HUGE_VAL, .end_s = -HUGE_VAL };
	uint64_t count = record_bytes_number(from);

	if (count > recording->zone_count)
		return -EBADMSG;
	for (size_t i = 0; i < count && !from->is_wrong; i++)
		read_zone(recording, i, from, &share);
	if (from->is_wrong)
		return -EBADMSG;
	return isinf(share.end_s) ? 0 : add_share(recording, &share);
}

static int read_parties(struct recording_series *recording, struct record_bytes *from)
{
	uint64_t count = record_bytes_number(from), party = 0;

	if (count > PARTIES_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		party += (uint64_t)record_bytes_signed(from);
		if (party / 2 >= IDS_MAX)
			return -EBADMSG;
		uint64_t owner = party % 2 ? party / 2 : recording->process_owners[party / 2];
		recording->mine[i] = owner == recording->owner;
	}
	recording->party_count = count;
	return from->is_wrong ? -EBADMSG : 0;
}

static int read_cpu(struct recording_series *recording, struct record_bytes *from, double *ret_s)
{
	for (size_t i = 0; i < recording->party_count; i++) {
		uint64_t ns = record_bytes_number(from);

		*ret_s += recording->mine[i] ? S_PER_NS * (double)ns : 0;
	}
	return from->is_wrong ? -EBADMSG : 0;
}

/* CPU time is known of each interval: 0 where the owner is not among those that ran. */
static int add_cpu(struct recording_series *recording, double cpu_s)
{
	const struct series *series = recording->pick->series;
	double start_s = recording->end_s - recording->length_s;
	const struct share share = {
		.amount = cpu_s,
		.start_s = start_s,
		.end_s = recording->end_s,
		.is_apart = is_apart(start_s, recording->length_s,
				     series->has_last ? series->last_s : (double)NAN),
	};

	return recording->length_s > 0 ? add_share(recording, &share) : 0;
}

static int read_interval(struct recording_series *recording, struct record_bytes *from)
{
	double cpu_s = 0;
	int r = 0;

	recording->party_count = 0;
	while (from->at < from->end && r == 0) {
		uint64_t tag = record_bytes_number(from);
		struct record_bytes section = record_bytes_part(from);

		if (from->is_wrong)
			return -EBADMSG;
		if (tag == SECTION_TIME)
			read_time(recording, &section);
		else if (tag == SECTION_ZONES && recording->pick->series)
			r = read_zones(recording, &section);
		else if (tag == SECTION_PARTIES && recording->has_owner)
			r = read_parties(recording, &section);
		else if (tag == SECTION_CPU && recording->has_owner)
			r = read_cpu(recording, &section, &cpu_s);
	}
	return r == 0 && recording->has_owner ? add_cpu(recording, cpu_s) : r;
}

static int read_record(struct recording_series *recording, uint64_t type, struct record_bytes *body)
{
	switch (type) {
	case RECORD_ZONE:
		return define_zone(recording, body);
	case RECORD_OWNER:
		return define_owner(recording, body);
	case RECORD_PROCESS:
		return define_process(recording, body);
	case RECORD_INTERVAL:
		return read_interval(recording, body);
	default:
		return 0;
	}
}

static int refuse(const struct text_input *input, uint64_t block, int error, struct diag *diag)
{
	if (error == -EBADMSG)
		return diag_set(diag, error,
				"%s: block %llu has a record that docs/record-format.md does not "
				"permit",
				input->name, (unsigned long long)block);
	if (error == -ENOSPC)
		return diag_set(diag, error, "%s: there are gaps between most of its samples",
				input->name);
	return diag_set(diag, error, "out of memory");
}

static void note_end(struct series *series, const struct recording_input *input)
{
	size_t len = strlen(series->source);

	(void)snprintf(series->source + len, sizeof(series->source) - len,
		       " (%s after %llu blocks)", input->end, (unsigned long long)input->blocks);
}

int recording_series_read(struct recording_series *recording, struct text_input *input,
			  struct diag *diag)
{
	CLEANUP(recording_input_release) struct recording_input file = { NULL };
	struct record_bytes body;
	uint64_t type;
	int r = recording_input_open(input, &file, diag);

	recording->zone_count = 0;
	recording->has_owner = false;
	recording->owner = IDS_MAX;
	while (r == 0 && (r = recording_input_next(&file, &type, &body, diag)) > 0) {
		r = read_record(recording, type, &body);
		if (r < 0)
			return refuse(input, file.blocks, r, diag);
	}
	if (r == 0 && file.end && recording->pick->series)
		note_end(recording->pick->series, &file);
	return r;
}
