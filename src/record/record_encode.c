// SPDX-License-Identifier: Apache-2.0
/*
 * The length of a record stands before its body, as a varint: the body is written behind room for
 * the longest one that fits a block, and moved back.
 */
#include "record/record_encode.h"

#include <string.h>

#include "record/record_format.h"

#define VARINT_MAX 10
#define FRAME_MAX  5 /* bytes of a varint of 32 bits */

static void add_varint(struct strbuf *out, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];
	size_t len = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[len++] = (uint8_t)(value & 0x7f) | 0x80;
	bytes[len++] = (uint8_t)value;
	strbuf_add(out, bytes, len);
}

static void add_signed(struct strbuf *out, int64_t value)
{
	add_varint(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void add_text(struct strbuf *out, const char *text)
{
	size_t len = strlen(text);

	if (len > RECORD_TEXT_MAX)
		len = RECORD_TEXT_MAX;
	add_varint(out, len);
	strbuf_add(out, text, len);
}

static void add_double(struct strbuf *out, double value)
{
	uint8_t bytes[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(bits >> (8 * i));
	strbuf_add(out, bytes, sizeof(bytes));
}

/* Where the body begins. */
static size_t begin(struct strbuf *out, uint32_t tag)
{
	static const uint8_t room[FRAME_MAX];

	add_varint(out, tag);
	strbuf_add(out, room, sizeof(room));
	return out->len;
}

static void end(struct strbuf *out, size_t body)
{
	size_t len = out->len - body;
	char frame[FRAME_MAX];
	size_t frame_len = 0;

	if (strbuf_error(out) < 0)
		return;
	for (size_t left = len; left > 0x7f; left >>= 7)
		frame[frame_len++] = (char)((left & 0x7f) | 0x80);
	frame[frame_len] = (char)(len >> (7 * frame_len));
	frame_len++;
	memmove(out->data + body - FRAME_MAX + frame_len, out->data + body, len);
	memcpy(out->data + body - FRAME_MAX, frame, frame_len);
	out->len -= FRAME_MAX - frame_len;
}

void record_encode_pair(struct strbuf *out, enum record_type type, const char *name,
			const char *value)
{
	size_t body = begin(out, type);

	add_text(out, name);
	add_text(out, value);
	end(out, body);
}

void record_encode_zone(struct strbuf *out, const struct recorded_zone *recorded)
{
	const struct zone *zone = &recorded->zone;
	size_t body = begin(out, RECORD_ZONE);

	add_varint(out, recorded->index);
	add_text(out, zone_kind_name(zone->kind));
	add_text(out, zone->instance);
	add_varint(out, zone->domain.kind);
	add_varint(out, zone->domain.number);
	add_varint(out, (zone->quality == QUALITY_ESTIMATED ? ZONE_FLAG_ESTIMATED : 0U) |
				(zone->scope == SCOPE_VM_DYNAMIC ? ZONE_FLAG_VM_DYNAMIC : 0U) |
				(zone->knows_idle ? ZONE_FLAG_KNOWS_IDLE : 0U) |
				(zone->is_remote ? ZONE_FLAG_REMOTE : 0U) |
				(zone->is_unverified ? ZONE_FLAG_UNVERIFIED : 0U) |
				(zone->has_gpus ? ZONE_FLAG_HAS_GPUS : 0U));
	add_varint(out, zone->rank);
	add_text(out, zone->source);
	add_text(out, zone->path);
	add_signed(out, recorded->found_ms);
	end(out, body);
}

void record_encode_idle(struct strbuf *out, uint32_t zone, const char *line)
{
	size_t body = begin(out, RECORD_IDLE);

	add_varint(out, zone);
	add_text(out, line);
	end(out, body);
}

static bool has_text(const struct owner_names *names, enum label_key key)
{
	return names->text[key] && names->text[key][0];
}

void record_encode_owner(struct strbuf *out, const struct recorded_owner *owner)
{
	const struct owner_names *names = &owner->names;
	size_t body = begin(out, RECORD_OWNER);
	uint32_t count = 0;

	for (enum label_key key = 0; key < LABEL_KEY_COUNT; key++)
		count += has_text(names, key);
	add_varint(out, owner->id);
	add_varint(out, (owner->waiting ? OWNER_FLAG_WAITING : 0U) |
				(owner->has_pod_names ? OWNER_FLAG_POD_NAMES : 0U) |
				(owner->is_other ? OWNER_FLAG_OTHER : 0U));
	add_varint(out, owner->size_millicpu);
	add_varint(out, count);
	for (enum label_key key = 0; key < LABEL_KEY_COUNT; key++) {
		if (!has_text(names, key))
			continue;
		add_text(out, label_info[key].name);
		add_text(out, names->text[key]);
	}
	add_varint(out, names->extra_count);
	for (size_t i = 0; i < names->extra_count; i++) {
		add_text(out, names->extra[i].name);
		add_text(out, names->extra[i].value);
	}
	end(out, body);
}

void record_encode_process(struct strbuf *out, const struct recorded_process *process)
{
	size_t body = begin(out, RECORD_PROCESS);

	add_varint(out, process->id);
	add_varint(out, process->pid);
	add_varint(out, process->start_ns);
	add_text(out, process->comm);
	add_varint(out, process->owner);
	end(out, body);
}

void record_encode_state(struct strbuf *out, const struct recorded_state *state)
{
	const struct zone_progress *progress = &state->progress;
	size_t body = begin(out, RECORD_STATE);

	add_varint(out, state->zone);
	add_varint(out, (progress->has_span ? STATE_FLAG_SPAN : 0U) |
				(progress->late ? STATE_FLAG_LATE : 0U) |
				(progress->has_begun ? STATE_FLAG_BEGUN : 0U) |
				(progress->held ? STATE_FLAG_HELD : 0U) |
				(progress->was_read ? STATE_FLAG_READ : 0U) |
				(progress->is_due ? STATE_FLAG_DUE : 0U) |
				(progress->is_ready ? STATE_FLAG_READY : 0U) |
				(progress->rank_begun ? STATE_FLAG_RANK_BEGUN : 0U));
	add_varint(out, progress->standing);
	add_varint(out, progress->count_from_ns);
	add_varint(out, progress->split_from_ns);
	end(out, body);
}

void record_encode_end(struct strbuf *out, const struct recorded_end *last)
{
	size_t body = begin(out, RECORD_END);

	add_varint(out, last->intervals);
	add_varint(out, last->lost);
	end(out, body);
}

/* ---- intervals ---- */

static void add_time(struct strbuf *out, const struct recorded_interval *interval)
{
	size_t body = begin(out, SECTION_TIME);

	add_varint(out, interval->time_ns);
	add_varint(out, interval->boottime_ns);
	add_signed(out, interval->realtime_ms);
	add_varint(out, interval->length_ns);
	add_varint(out, interval->asleep_ns);
	add_double(out, interval->utilisation);
	add_varint(out, interval->settle_ns);
	end(out, body);
}

static void add_work(struct strbuf *out, const struct recorded_interval *interval)
{
	size_t body = begin(out, SECTION_WORK);

	add_varint(out, interval->work.busy_ns);
	add_varint(out, interval->work.dropped_ns);
	add_varint(out, interval->work.unseen_ns);
	end(out, body);
	if (!interval->places.count)
		return;
	body = begin(out, SECTION_PLACES);
	add_varint(out, interval->places.count);
	for (uint32_t place = 0; place < interval->places.count; place++) {
		add_varint(out, interval->places.package[place]);
		add_varint(out, interval->places.cpus[place]);
	}
	end(out, body);
}

static void add_reading(struct strbuf *out, const struct recorded_reading *reading,
			uint64_t time_ns)
{
	const struct energy_span *span = &reading->span;
	uint32_t flags = 0;

	add_varint(out, reading->state);
	add_signed(out, reading->error);
	if (reading->has_span)
		flags = READING_HAS_SPAN | (span->known ? READING_IS_KNOWN : 0U) |
			(span->since_ns ? READING_IS_MEAN : 0U) |
			(span->idle_uj ? READING_HAS_IDLE : 0U) |
			(span->from_ns ? 0U : READING_IS_FIRST);
	add_varint(out, flags);
	if (!reading->has_span)
		return;
	add_signed(out, (int64_t)(time_ns - span->to_ns));
	if (span->from_ns)
		add_varint(out, span->to_ns - span->from_ns);
	if (span->since_ns)
		add_varint(out, span->to_ns - span->since_ns);
	if (span->known)
		add_varint(out, span->energy_uj);
	if (span->idle_uj)
		add_varint(out, span->idle_uj);
}

static void add_readings(struct strbuf *out, const struct recorded_interval *interval)
{
	size_t body = begin(out, SECTION_ZONES);

	add_varint(out, interval->reading_count);
	for (size_t z = 0; z < interval->reading_count; z++)
		add_reading(out, &interval->readings[z], interval->time_ns);
	end(out, body);
}

static void add_column(struct strbuf *out, const uint64_t *amounts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_varint(out, amounts[i]);
}

static void add_parties(struct strbuf *out, const struct recorded_interval *interval)
{
	size_t body = begin(out, SECTION_PARTIES);
	int64_t last = 0;

	add_varint(out, interval->party_count);
	for (size_t i = 0; i < interval->party_count; i++) {
		add_signed(out, (int64_t)interval->parties[i] - last);
		last = interval->parties[i];
	}
	end(out, body);
	body = begin(out, SECTION_CPU);
	add_column(out, interval->cpu_ns, interval->party_count);
	end(out, body);
	for (uint32_t place = 0; place < interval->sockets; place++) {
		body = begin(out, SECTION_SOCKET);
		add_varint(out, place);
		add_column(out, interval->socket_ns[place], interval->party_count);
		end(out, body);
	}
	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
		if (!(interval->signals & SIGNAL_BIT(signal)))
			continue;
		body = begin(out, SECTION_SIGNAL);
		add_text(out, signal_name(signal));
		add_column(out, interval->signal[signal], interval->party_count);
		end(out, body);
	}
}

static void add_uses(struct strbuf *out, const struct recorded_interval *interval)
{
	size_t body = begin(out, SECTION_USES);

	add_varint(out, interval->use_count);
	for (size_t i = 0; i < interval->use_count; i++) {
		const struct recorded_use *use = &interval->uses[i];

		add_varint(out, use->device);
		add_varint(out, use->party);
		add_varint(out, use->busy_ns);
		add_varint(out, use->held);
	}
	end(out, body);
}

static void add_nameless(struct strbuf *out, const struct recorded_interval *interval)
{
	size_t body = begin(out, SECTION_NAMELESS);

	add_varint(out, interval->nameless_count);
	for (size_t i = 0; i < interval->nameless_count; i++) {
		const struct recorded_nameless *nameless = &interval->nameless[i];

		add_varint(out, nameless->device);
		add_varint(out, nameless->dropped_ns);
		add_varint(out, nameless->unseen_ns);
		add_varint(out, nameless->allocated);
	}
	end(out, body);
}

static void add_allocations(struct strbuf *out, const struct recorded_interval *interval)
{
	size_t body = begin(out, SECTION_ALLOCATED);

	add_varint(out, interval->allocation_count);
	for (size_t i = 0; i < interval->allocation_count; i++) {
		add_varint(out, interval->allocations[i].device);
		add_varint(out, interval->allocations[i].owner);
		add_varint(out, interval->allocations[i].held);
	}
	end(out, body);
}

static void add_ended(struct strbuf *out, const struct recorded_interval *interval)
{
	size_t body = begin(out, SECTION_ENDED);

	add_varint(out, interval->ended_count);
	for (size_t i = 0; i < interval->ended_count; i++)
		add_varint(out, interval->ended[i]);
	end(out, body);
}

static void add_steal(struct strbuf *out, const struct recorded_interval *interval)
{
	size_t body = begin(out, SECTION_STEAL);

	add_varint(out, interval->steal_ns);
	add_varint(out, interval->stolen_ns);
	end(out, body);
}

void record_encode_interval(struct strbuf *out, const struct recorded_interval *interval)
{
	size_t body = begin(out, RECORD_INTERVAL);

	add_time(out, interval);
	add_work(out, interval);
	add_readings(out, interval);
	if (interval->party_count || interval->sockets || interval->signals)
		add_parties(out, interval);
	if (interval->use_count)
		add_uses(out, interval);
	if (interval->nameless_count)
		add_nameless(out, interval);
	if (interval->allocation_count)
		add_allocations(out, interval);
	if (interval->ended_count)
		add_ended(out, interval);
	if (interval->has_steal)
		add_steal(out, interval);
	end(out, body);
}
