// SPDX-License-Identifier: Apache-2.0
/*
 * A cursor that fails once and for all: after that every number is 0 and every text "", so that a
 * record is checked once, when all of it was read.
 */
#include "record/record_decode.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/record_encode.h"
#include "record/record_parts.h"

#define VARINT_BITS 64
#define TEXTS_MAX   (LABEL_KEY_COUNT + 2 * OWNER_EXTRA_MAX + 4)

struct column {
	uint64_t *amounts;
	size_t size;
};

struct record_decoder {
	/* Texts of the record that was decoded last, terminated. */
	char text[TEXTS_MAX][RECORD_TEXT_MAX + 1];
	size_t texts;
	struct label extra[OWNER_EXTRA_MAX];
	struct recorded_reading *readings;
	size_t reading_size;
	uint32_t *parties;
	size_t party_size;
	struct column cpu, socket[RECORD_PLACES_MAX], signal[SIGNAL_COUNT];
	struct recorded_use *uses;
	size_t use_size;
	struct recorded_nameless *nameless;
	size_t nameless_size;
	struct recorded_allocation *allocations;
	size_t allocation_size;
	uint32_t *ended;
	size_t ended_size;
};

struct cursor {
	const uint8_t *at, *end;
	const char *wrong; /* NULL: nothing is */
	int error;
};

int record_decoder_new(struct record_decoder **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void record_decoder_free(struct record_decoder *decoder)
{
	if (!decoder)
		return;
	free(decoder->readings);
	free(decoder->parties);
	free(decoder->cpu.amounts);
	for (size_t i = 0; i < RECORD_PLACES_MAX; i++)
		free(decoder->socket[i].amounts);
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		free(decoder->signal[i].amounts);
	free(decoder->uses);
	free(decoder->nameless);
	free(decoder->allocations);
	free(decoder->ended);
	free(decoder);
}

/* ---- a cursor ---- */

static void fail(struct cursor *from, const char *wrong)
{
	if (!from->wrong) {
		from->wrong = wrong;
		from->error = -EBADMSG;
	}
	from->at = from->end;
}

static void fail_memory(struct cursor *from)
{
	fail(from, "out of memory");
	from->error = -ENOMEM;
}

static uint64_t take_varint(struct cursor *from)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < VARINT_BITS; shift += 7) {
		uint8_t byte;

		if (from->at == from->end)
			break;
		byte = *from->at++;
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	fail(from, "a number that is cut off, or has more than 64 bits");
	return 0;
}

/* At most @max. */
static uint32_t take_up_to(struct cursor *from, uint32_t max, const char *wrong)
{
	uint64_t value = take_varint(from);

	if (value <= max)
		return (uint32_t)value;
	fail(from, wrong);
	return 0;
}

static int64_t take_signed(struct cursor *from)
{
	uint64_t value = take_varint(from);

	return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

static double take_double(struct cursor *from)
{
	uint64_t bits = 0;
	double value;

	if (from->end - from->at < 8) {
		fail(from, "a number that is cut off");
		return 0;
	}
	for (size_t i = 0; i < 8; i++)
		bits |= (uint64_t)from->at[i] << (8 * i);
	from->at += 8;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The part of the next @len bytes, which the cursor leaves behind. */
static struct cursor take_part(struct cursor *from)
{
	uint64_t len = take_varint(from);
	struct cursor part = { from->at, from->at, NULL, 0 };

	if (len > (uint64_t)(from->end - from->at)) {
		fail(from, "a length beyond the end");
		part.at = part.end = from->end;
		return part;
	}
	part.end = from->at + len;
	from->at = part.end;
	return part;
}

/* Into @buf of @size; longer ones, and bytes 0, are refused. */
static void take_text(struct cursor *from, char *buf, size_t size)
{
	struct cursor part = take_part(from);
	size_t len = (size_t)(part.end - part.at);

	if (len >= size || memchr(part.at, 0, len)) {
		fail(from, "a text that is too long, or has a byte 0");
		len = 0;
	}
	memcpy(buf, part.at, len);
	buf[len] = '\0';
}

static const char *keep_text(struct record_decoder *decoder, struct cursor *from)
{
	char *text;

	if (decoder->texts == TEXTS_MAX) {
		fail(from, "too many texts");
		return "";
	}
	text = decoder->text[decoder->texts++];
	take_text(from, text, RECORD_TEXT_MAX + 1);
	return text;
}

/* A list's length: each entry takes a byte at least. */
static size_t take_count(struct cursor *from)
{
	uint32_t count = take_up_to(from, RECORD_ENTRIES_MAX, "a list with too many entries");

	if (count <= (size_t)(from->end - from->at))
		return count;
	fail(from, "a list that is cut off");
	return 0;
}

static uint32_t take_id(struct cursor *from)
{
	return take_up_to(from, RECORD_IDS_MAX - 1, "an id beyond 2^22");
}

static uint32_t take_zone(struct cursor *from)
{
	return take_up_to(from, ZONES_MAX - 1, "a zone beyond the 1,031th");
}

static uint32_t take_device(struct cursor *from)
{
	return take_up_to(from, DEVICES_MAX - 1, "a device beyond the 128th");
}

/* ---- definitions ---- */

static void decode_pair(struct record_decoder *decoder, struct cursor *from,
			struct recorded_pair *ret)
{
	ret->name = keep_text(decoder, from);
	ret->value = keep_text(decoder, from);
}

static enum zone_kind take_kind(struct cursor *from)
{
	char name[32];

	take_text(from, name, sizeof(name));
	for (enum zone_kind kind = 0; kind < ZONE_KIND_COUNT; kind++) {
		if (strcmp(zone_kind_name(kind), name) == 0)
			return kind;
	}
	fail(from, "an unknown kind of zone");
	return ZONE_PACKAGE;
}

static void decode_zone(struct cursor *from, struct recorded_zone *ret)
{
	struct zone *zone = &ret->zone;
	uint32_t flags;

	memset(ret, 0, sizeof(*ret));
	ret->index = take_zone(from);
	zone->kind = take_kind(from);
	take_text(from, zone->instance, sizeof(zone->instance));
	zone->domain.kind = take_up_to(from, DOMAIN_PARTS, "an unknown domain");
	zone->domain.number =
		take_up_to(from, zone->domain.kind == DOMAIN_DEVICE ? DEVICES_MAX - 1 : UINT32_MAX,
			   "a device beyond the 128th");
	flags = take_up_to(from, UINT32_MAX, "unknown flags");
	zone->quality = flags & ZONE_FLAG_ESTIMATED ? QUALITY_ESTIMATED : QUALITY_MEASURED;
	zone->scope = flags & ZONE_FLAG_VM_DYNAMIC ? SCOPE_VM_DYNAMIC : SCOPE_NODE;
	zone->knows_idle = flags & ZONE_FLAG_KNOWS_IDLE;
	zone->is_remote = flags & ZONE_FLAG_REMOTE;
	zone->is_unverified = flags & ZONE_FLAG_UNVERIFIED;
	zone->has_gpus = flags & ZONE_FLAG_HAS_GPUS;
	zone->rank = (uint8_t)take_up_to(from, UINT8_MAX, "a rank beyond 255");
	take_text(from, ret->source, sizeof(ret->source));
	take_text(from, zone->path, sizeof(zone->path));
	ret->found_ms = take_signed(from);
	zone->source = ret->source;
}

static void decode_idle(struct record_decoder *decoder, struct cursor *from,
			struct recorded_idle *ret)
{
	ret->zone = take_zone(from);
	ret->line = keep_text(decoder, from);
}

static void decode_name(struct record_decoder *decoder, struct cursor *from,
			struct owner_names *names)
{
	size_t kept = decoder->texts;
	const char *name = keep_text(decoder, from);
	const char *text = keep_text(decoder, from);

	for (enum label_key key = 0; key < LABEL_KEY_COUNT; key++) {
		if (strcmp(label_info[key].name, name) != 0)
			continue;
		if (names->text[key])
			break; /* the second one of a key: ignored, as unknown ones are */
		names->text[key] = text;
		return;
	}
	decoder->texts = kept;
}

static void decode_owner(struct record_decoder *decoder, struct cursor *from,
			 struct recorded_owner *ret)
{
	uint32_t flags;
	size_t count;

	memset(ret, 0, sizeof(*ret));
	ret->id = take_id(from);
	flags = take_up_to(from, UINT32_MAX, "unknown flags");
	ret->waiting = flags & OWNER_FLAG_WAITING;
	ret->has_pod_names = flags & OWNER_FLAG_POD_NAMES;
	ret->is_other = flags & OWNER_FLAG_OTHER;
	ret->size_millicpu = take_up_to(from, UINT32_MAX, "a request of too many CPUs");
	count = take_count(from);
	for (size_t i = 0; i < count && !from->wrong; i++)
		decode_name(decoder, from, &ret->names);
	count = take_up_to(from, OWNER_EXTRA_MAX, "too many labels");
	for (size_t i = 0; i < count; i++) {
		decoder->extra[i].name = keep_text(decoder, from);
		decoder->extra[i].value = keep_text(decoder, from);
	}
	ret->names.extra = decoder->extra;
	ret->names.extra_count = count;
	if (!ret->names.text[LABEL_CONTAINER_ID] && !ret->is_other)
		fail(from, "an owner without a container_id");
}

static void decode_process(struct cursor *from, struct recorded_process *ret)
{
	ret->id = take_id(from);
	ret->pid = take_up_to(from, UINT32_MAX, "a pid beyond 32 bits");
	ret->start_ns = take_varint(from);
	take_text(from, ret->comm, sizeof(ret->comm));
	ret->owner = take_id(from);
}

static void decode_state(struct cursor *from, struct recorded_state *ret)
{
	uint32_t flags;

	ret->zone = take_zone(from);
	flags = take_up_to(from, UINT32_MAX, "unknown flags");
	ret->progress.has_span = flags & STATE_FLAG_SPAN;
	ret->progress.late = flags & STATE_FLAG_LATE;
	ret->progress.has_begun = flags & STATE_FLAG_BEGUN;
	ret->progress.held = flags & STATE_FLAG_HELD;
	ret->progress.was_read = flags & STATE_FLAG_READ;
	ret->progress.is_due = flags & STATE_FLAG_DUE;
	ret->progress.is_ready = flags & STATE_FLAG_READY;
	ret->progress.rank_begun = flags & STATE_FLAG_RANK_BEGUN;
	ret->progress.standing = take_up_to(from, STANDING_ENDED, "an unknown standing");
	ret->progress.count_from_ns = take_varint(from);
	ret->progress.split_from_ns = take_varint(from);
}

static void decode_end(struct cursor *from, struct recorded_end *ret)
{
	ret->intervals = take_varint(from);
	ret->lost = take_varint(from);
}

static bool reserve_column(struct cursor *from, struct column *column, size_t count)
{
	if (ARRAY_RESERVE(column->amounts, column->size, count + 1) == 0)
		return true;
	fail_memory(from);
	return false;
}

/* ---- intervals ---- */

static void decode_time(struct cursor *from, struct recorded_interval *ret)
{
	ret->time_ns = take_varint(from);
	ret->boottime_ns = take_varint(from);
	ret->realtime_ms = take_signed(from);
	ret->length_ns = take_varint(from);
	ret->asleep_ns = take_varint(from);
	ret->utilisation = take_double(from);
	ret->settle_ns = take_varint(from);
	if (!isfinite(ret->utilisation) || ret->utilisation < 0 || ret->utilisation > 1)
		fail(from, "a utilisation that is not in 0 to 1");
	if (ret->length_ns > ret->time_ns || ret->asleep_ns > ret->boottime_ns)
		fail(from, "an interval that began before the machine");
}

static void decode_work(struct cursor *from, struct recorded_interval *ret)
{
	ret->work.busy_ns = take_varint(from);
	ret->work.dropped_ns = take_varint(from);
	ret->work.unseen_ns = take_varint(from);
}

static void decode_steal(struct cursor *from, struct recorded_interval *ret)
{
	ret->has_steal = true;
	ret->steal_ns = take_varint(from);
	ret->stolen_ns = take_varint(from);
	if (ret->stolen_ns > ret->steal_ns)
		fail(from, "more stolen of run time than was stolen");
}

static void decode_places(struct cursor *from, struct recorded_interval *ret)
{
	ret->places.count = take_up_to(from, PLACES_MAX, "more than 16 packages");
	for (uint32_t place = 0; place < ret->places.count; place++) {
		ret->places.package[place] = take_up_to(from, UINT32_MAX, "a package's number");
		ret->places.cpus[place] = take_up_to(from, UINT32_MAX, "too many CPUs");
	}
}

static void decode_span(struct cursor *from, uint32_t flags, uint64_t time_ns,
			struct energy_span *ret)
{
	uint64_t length_ns;

	ret->known = flags & READING_IS_KNOWN;
	ret->to_ns = time_ns - (uint64_t)take_signed(from);
	if (!(flags & READING_IS_FIRST)) {
		length_ns = take_varint(from);
		if (!length_ns || length_ns >= ret->to_ns)
			fail(from, "a span that does not end after it begins");
		ret->from_ns = ret->to_ns - length_ns;
	} else if (ret->known) {
		fail(from, "a first reading with an energy");
	}
	if (flags & READING_IS_MEAN) {
		length_ns = take_varint(from);
		if (length_ns >= ret->to_ns || ret->to_ns - length_ns >= ret->from_ns)
			fail(from, "a mean of less than its span");
		ret->since_ns = ret->to_ns - length_ns;
	}
	if (ret->known)
		ret->energy_uj = take_varint(from);
	if (flags & READING_HAS_IDLE)
		ret->idle_uj = take_varint(from);
	if (ret->idle_uj > ret->energy_uj)
		fail(from, "more idle energy than energy");
	if (!ret->to_ns || ret->to_ns > INT64_MAX)
		fail(from, "a reading out of time");
}

static void decode_readings(struct record_decoder *decoder, struct cursor *from,
			    struct recorded_interval *ret)
{
	uint32_t count = take_up_to(from, ZONES_MAX, "more than 1,031 zones");

	if (ARRAY_RESERVE(decoder->readings, decoder->reading_size, count + 1) < 0) {
		fail_memory(from);
		return;
	}
	memset(decoder->readings, 0, count * sizeof(*decoder->readings));
	for (uint32_t z = 0; z < count && !from->wrong; z++) {
		struct recorded_reading *reading = &decoder->readings[z];
		uint32_t flags;
		int64_t error;

		reading->state = take_up_to(from, ZONE_REFUSED, "an unknown state of a zone");
		error = take_signed(from);
		if (error < -4095 || error > 0)
			fail(from, "an invalid error number");
		reading->error = (int)error;
		flags = take_up_to(from, UINT32_MAX, "unknown flags");
		reading->has_span = flags & READING_HAS_SPAN;
		reading->span.zone = z;
		if (reading->has_span)
			decode_span(from, flags, ret->time_ns, &reading->span);
	}
	ret->readings = decoder->readings;
	ret->reading_count = count;
}

static void decode_parties(struct record_decoder *decoder, struct cursor *from,
			   struct recorded_interval *ret)
{
	size_t count = take_count(from);
	int64_t last = 0;

	if (ARRAY_RESERVE(decoder->parties, decoder->party_size, count + 1) < 0) {
		fail_memory(from);
		return;
	}
	for (size_t i = 0; i < count && !from->wrong; i++) {
		int64_t step = take_signed(from);

		if (step < -(int64_t)(2 * RECORD_IDS_MAX) || step > (int64_t)(2 * RECORD_IDS_MAX) ||
		    last + step < 0 || last + step >= (int64_t)(2 * RECORD_IDS_MAX)) {
			fail(from, "an id beyond 2^22");
			break;
		}
		last += step;
		decoder->parties[i] = (uint32_t)last;
	}
	ret->parties = decoder->parties;
	ret->party_count = count;
}

/* One amount a party; their sum fits 64 bits. */
static const uint64_t *decode_column(struct cursor *from, struct column *column, size_t count)
{
	uint64_t sum = 0;

	if (!reserve_column(from, column, count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		column->amounts[i] = take_varint(from);
		if (__builtin_add_overflow(sum, column->amounts[i], &sum))
			fail(from, "amounts with a sum beyond 64 bits");
	}
	return column->amounts;
}

static void decode_socket(struct record_decoder *decoder, struct cursor *from,
			  struct recorded_interval *ret)
{
	uint32_t place = take_up_to(from, RECORD_PLACES_MAX - 1, "more than 16 packages");

	if (from->wrong)
		return;
	if (place != ret->sockets) {
		fail(from, "packages that are not in order");
		return;
	}
	ret->socket_ns[place] = decode_column(from, &decoder->socket[place], ret->party_count);
	ret->sockets++;
}

static void decode_signal(struct record_decoder *decoder, struct cursor *from,
			  struct recorded_interval *ret)
{
	char name[64];

	take_text(from, name, sizeof(name));
	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
		if (strcmp(signal_name(signal), name) != 0)
			continue;
		ret->signal[signal] =
			decode_column(from, &decoder->signal[signal], ret->party_count);
		ret->signals |= SIGNAL_BIT(signal);
	}
}

static void decode_uses(struct record_decoder *decoder, struct cursor *from,
			struct recorded_interval *ret)
{
	size_t count = take_count(from);

	if (ARRAY_RESERVE(decoder->uses, decoder->use_size, count + 1) < 0) {
		fail_memory(from);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct recorded_use *use = &decoder->uses[i];

		use->device = take_device(from);
		use->party = take_up_to(from, 2 * RECORD_IDS_MAX - 1, "an id beyond 2^22");
		use->busy_ns = take_varint(from);
		use->held = take_up_to(from, UINT32_MAX, "a part beyond 32 bits");
	}
	ret->uses = decoder->uses;
	ret->use_count = count;
}

static void decode_nameless(struct record_decoder *decoder, struct cursor *from,
			    struct recorded_interval *ret)
{
	size_t count = take_count(from);

	if (ARRAY_RESERVE(decoder->nameless, decoder->nameless_size, count + 1) < 0) {
		fail_memory(from);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct recorded_nameless *nameless = &decoder->nameless[i];

		nameless->device = take_device(from);
		nameless->dropped_ns = take_varint(from);
		nameless->unseen_ns = take_varint(from);
		nameless->allocated = take_varint(from);
	}
	ret->nameless = decoder->nameless;
	ret->nameless_count = count;
}

static void decode_allocations(struct record_decoder *decoder, struct cursor *from,
			       struct recorded_interval *ret)
{
	size_t count = take_count(from);

	if (ARRAY_RESERVE(decoder->allocations, decoder->allocation_size, count + 1) < 0) {
		fail_memory(from);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		decoder->allocations[i].device = take_device(from);
		decoder->allocations[i].owner = take_id(from);
		decoder->allocations[i].held = take_varint(from);
	}
	ret->allocations = decoder->allocations;
	ret->allocation_count = count;
}

static void decode_ended(struct record_decoder *decoder, struct cursor *from,
			 struct recorded_interval *ret)
{
	size_t count = take_count(from);

	if (ARRAY_RESERVE(decoder->ended, decoder->ended_size, count + 1) < 0) {
		fail_memory(from);
		return;
	}
	for (size_t i = 0; i < count; i++)
		decoder->ended[i] = take_id(from);
	ret->ended = decoder->ended;
	ret->ended_count = count;
}

static void decode_section(struct record_decoder *decoder, uint64_t tag, struct cursor *from,
			   struct recorded_interval *ret)
{
	switch (tag) {
	case SECTION_TIME:
		decode_time(from, ret);
		break;
	case SECTION_WORK:
		decode_work(from, ret);
		break;
	case SECTION_PLACES:
		decode_places(from, ret);
		break;
	case SECTION_ZONES:
		decode_readings(decoder, from, ret);
		break;
	case SECTION_PARTIES:
		decode_parties(decoder, from, ret);
		break;
	case SECTION_CPU:
		ret->cpu_ns = decode_column(from, &decoder->cpu, ret->party_count);
		break;
	case SECTION_SOCKET:
		decode_socket(decoder, from, ret);
		break;
	case SECTION_SIGNAL:
		decode_signal(decoder, from, ret);
		break;
	case SECTION_USES:
		decode_uses(decoder, from, ret);
		break;
	case SECTION_NAMELESS:
		decode_nameless(decoder, from, ret);
		break;
	case SECTION_ALLOCATED:
		decode_allocations(decoder, from, ret);
		break;
	case SECTION_ENDED:
		decode_ended(decoder, from, ret);
		break;
	case SECTION_STEAL:
		decode_steal(from, ret);
		break;
	default:
		break;
	}
}

/* Refuses an interval with more run time in packages than in all. */
static void check_sockets(struct cursor *from, const struct recorded_interval *interval)
{
	for (size_t i = 0; interval->cpu_ns && i < interval->party_count; i++) {
		uint64_t left_ns = interval->cpu_ns[i];

		for (uint32_t place = 0; place < interval->sockets; place++) {
			uint64_t part_ns = interval->socket_ns[place][i];

			if (part_ns > left_ns) {
				fail(from, "more run time in packages than in all");
				return;
			}
			left_ns -= part_ns;
		}
	}
}

static void decode_interval(struct record_decoder *decoder, struct cursor *from,
			    struct recorded_interval *ret)
{
	uint32_t seen = 0;

	memset(ret, 0, sizeof(*ret));
	while (from->at < from->end && !from->wrong) {
		uint64_t tag = take_varint(from);
		struct cursor section = take_part(from);
		bool repeats = tag == SECTION_SOCKET || tag == SECTION_SIGNAL;

		if (from->wrong)
			return;
		if (!seen && tag != SECTION_TIME)
			fail(from, "an interval that does not begin with its time");
		else if (tag <= SECTION_STEAL && !repeats && seen >> tag & 1)
			fail(from, "a section that is there twice");
		else if (tag > SECTION_PARTIES && tag <= SECTION_SIGNAL &&
			 !(seen >> SECTION_PARTIES & 1))
			fail(from, "amounts of parties before the parties");
		if (from->wrong)
			return;
		seen |= tag <= SECTION_STEAL ? 1U << tag : 0;
		decode_section(decoder, tag, &section, ret);
		if (section.wrong) {
			fail(from, section.wrong);
			from->error = section.error;
		}
	}
	if (!seen)
		fail(from, "an interval that does not begin with its time");
	if (ret->party_count && !ret->cpu_ns)
		fail(from, "parties without their run time");
	if (ret->stolen_ns > ret->work.busy_ns)
		fail(from, "more time stolen of run time than ran");
	check_sockets(from, ret);
}

/* ---- all ---- */

static void decode_body(struct record_decoder *decoder, struct cursor *from, struct record *ret)
{
	decoder->texts = 0;
	switch (ret->type) {
	case RECORD_FACT:
	case RECORD_OPTION:
		decode_pair(decoder, from, &ret->pair);
		break;
	case RECORD_ZONE:
		decode_zone(from, &ret->zone);
		break;
	case RECORD_IDLE:
		decode_idle(decoder, from, &ret->idle);
		break;
	case RECORD_OWNER:
		decode_owner(decoder, from, &ret->owner);
		break;
	case RECORD_PROCESS:
		decode_process(from, &ret->process);
		break;
	case RECORD_INTERVAL:
		decode_interval(decoder, from, &ret->interval);
		break;
	case RECORD_END:
		decode_end(from, &ret->end);
		break;
	case RECORD_STATE:
		decode_state(from, &ret->state);
		break;
	}
}

int record_decode(struct record_decoder *decoder, const uint8_t *bytes, size_t len, size_t *at,
		  struct record *ret, struct diag *diag)
{
	struct cursor all = { bytes + *at, bytes + len, NULL, 0 };

	while (all.at < all.end) {
		uint64_t type = take_varint(&all);
		struct cursor body = take_part(&all);

		if (!all.wrong && type >= RECORD_FACT && type <= RECORD_STATE) {
			ret->type = (enum record_type)type;
			decode_body(decoder, &body, ret);
			if (body.wrong)
				return diag_set(diag, body.error, "record of type %u: %s",
						(unsigned)type, body.wrong);
			*at = (size_t)(all.at - bytes);
			return 1;
		}
		if (all.wrong)
			return diag_set(diag, all.error, "%s", all.wrong);
	}
	*at = len;
	return 0;
}
