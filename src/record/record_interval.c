// SPDX-License-Identifier: Apache-2.0
/*
 * An interval is a list of sections, each with a tag and a length; unknown tags are skipped. Rules
 * that concern several sections are checked when all were read.
 */
#include "record/record_interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/record_format.h"

void interval_lists_release(struct interval_lists *lists)
{
	free(lists->readings);
	free(lists->parties);
	free(lists->cpu.amounts);
	for (size_t i = 0; i < RECORD_PLACES_MAX; i++)
		free(lists->socket[i].amounts);
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		free(lists->signal[i].amounts);
	free(lists->uses);
	free(lists->nameless);
	free(lists->allocations);
	free(lists->ended);
}

static bool reserve_column(struct record_cursor *from, struct record_column *column, size_t count)
{
	if (ARRAY_RESERVE(column->amounts, column->size, count + 1) == 0)
		return true;
	record_fail_memory(from);
	return false;
}

static void decode_time(struct record_cursor *from, struct recorded_interval *ret)
{
	ret->time_ns = record_take_varint(from);
	ret->boottime_ns = record_take_varint(from);
	ret->realtime_ms = record_take_signed(from);
	ret->length_ns = record_take_varint(from);
	ret->asleep_ns = record_take_varint(from);
	ret->utilisation = record_take_double(from);
	ret->settle_ns = record_take_varint(from);
	if (!isfinite(ret->utilisation) || ret->utilisation < 0 || ret->utilisation > 1)
		record_fail(from, "a utilisation that is not in 0 to 1");
	if (ret->length_ns > ret->time_ns || ret->asleep_ns > ret->boottime_ns)
		record_fail(from, "an interval that began before the machine");
}

static void decode_work(struct record_cursor *from, struct recorded_interval *ret)
{
	ret->work.busy_ns = record_take_varint(from);
	ret->work.dropped_ns = record_take_varint(from);
	ret->work.unseen_ns = record_take_varint(from);
}

static void decode_steal(struct record_cursor *from, struct recorded_interval *ret)
{
	ret->has_steal = true;
	ret->steal_ns = record_take_varint(from);
	ret->stolen_ns = record_take_varint(from);
	if (ret->stolen_ns > ret->steal_ns)
		record_fail(from, "more stolen of run time than was stolen");
}

static void decode_places(struct record_cursor *from, struct recorded_interval *ret)
{
	ret->places.count = record_take_up_to(from, PLACES_MAX, "more than 16 packages");
	for (uint32_t place = 0; place < ret->places.count; place++) {
		ret->places.package[place] =
			record_take_up_to(from, UINT32_MAX, "a package's number");
		ret->places.cpus[place] = record_take_up_to(from, UINT32_MAX, "too many CPUs");
	}
}

static void decode_span(struct record_cursor *from, uint32_t flags, uint64_t time_ns,
			struct energy_span *ret)
{
	uint64_t length_ns;

	ret->known = flags & READING_IS_KNOWN;
	ret->to_ns = time_ns - (uint64_t)record_take_signed(from);
	if (!(flags & READING_IS_FIRST)) {
		length_ns = record_take_varint(from);
		if (!length_ns || length_ns >= ret->to_ns)
			record_fail(from, "a span that does not end after it begins");
		ret->from_ns = ret->to_ns - length_ns;
	} else if (ret->known) {
		record_fail(from, "a first reading with an energy");
	}
	if (flags & READING_IS_MEAN) {
		length_ns = record_take_varint(from);
		if (length_ns >= ret->to_ns || ret->to_ns - length_ns >= ret->from_ns)
			record_fail(from, "a mean of less than its span");
		ret->since_ns = ret->to_ns - length_ns;
	}
	if (ret->known)
		ret->energy_uj = record_take_varint(from);
	if (flags & READING_HAS_IDLE)
		ret->idle_uj = record_take_varint(from);
	if (ret->idle_uj > ret->energy_uj)
		record_fail(from, "more idle energy than energy");
	if (!ret->to_ns || ret->to_ns > INT64_MAX)
		record_fail(from, "a reading out of time");
}

static void decode_readings(struct interval_lists *lists, struct record_cursor *from,
			    struct recorded_interval *ret)
{
	uint32_t count = record_take_up_to(from, ZONES_MAX, "more than 1,034 zones");

	if (ARRAY_RESERVE(lists->readings, lists->reading_size, count + 1) < 0) {
		record_fail_memory(from);
		return;
	}
	memset(lists->readings, 0, count * sizeof(*lists->readings));
	for (uint32_t z = 0; z < count && !from->wrong; z++) {
		struct recorded_reading *reading = &lists->readings[z];
		uint32_t flags;
		int64_t error;

		reading->state =
			record_take_up_to(from, ZONE_REFUSED, "an unknown state of a zone");
		error = record_take_signed(from);
		if (error < -4095 || error > 0)
			record_fail(from, "an invalid error number");
		reading->error = (int)error;
		flags = record_take_up_to(from, UINT32_MAX, "unknown flags");
		reading->has_span = flags & READING_HAS_SPAN;
		reading->span.zone = z;
		if (reading->has_span)
			decode_span(from, flags, ret->time_ns, &reading->span);
	}
	ret->readings = lists->readings;
	ret->reading_count = count;
}

static void decode_parties(struct interval_lists *lists, struct record_cursor *from,
			   struct recorded_interval *ret)
{
	size_t count = record_take_count(from);
	int64_t last = 0;

	if (ARRAY_RESERVE(lists->parties, lists->party_size, count + 1) < 0) {
		record_fail_memory(from);
		return;
	}
	for (size_t i = 0; i < count && !from->wrong; i++) {
		int64_t step = record_take_signed(from);

		if (step < -(int64_t)(2 * RECORD_IDS_MAX) || step > (int64_t)(2 * RECORD_IDS_MAX) ||
		    last + step < 0 || last + step >= (int64_t)(2 * RECORD_IDS_MAX)) {
			record_fail(from, "an id beyond 2^22");
			break;
		}
		last += step;
		lists->parties[i] = (uint32_t)last;
	}
	ret->parties = lists->parties;
	ret->party_count = count;
}

/* One amount a party; their sum fits 64 bits. */
static const uint64_t *decode_column(struct record_cursor *from, struct record_column *column,
				     size_t count)
{
	uint64_t sum = 0;

	if (!reserve_column(from, column, count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		column->amounts[i] = record_take_varint(from);
		if (__builtin_add_overflow(sum, column->amounts[i], &sum))
			record_fail(from, "amounts with a sum beyond 64 bits");
	}
	return column->amounts;
}

static void decode_socket(struct interval_lists *lists, struct record_cursor *from,
			  struct recorded_interval *ret)
{
	uint32_t place = record_take_up_to(from, RECORD_PLACES_MAX - 1, "more than 16 packages");

	if (from->wrong)
		return;
	if (place != ret->sockets) {
		record_fail(from, "packages that are not in order");
		return;
	}
	ret->socket_ns[place] = decode_column(from, &lists->socket[place], ret->party_count);
	ret->sockets++;
}

static void decode_signal(struct interval_lists *lists, struct record_cursor *from,
			  struct recorded_interval *ret)
{
	char name[64];

	record_take_text(from, name, sizeof(name));
	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
		if (strcmp(signal_name(signal), name) != 0)
			continue;
		ret->signal[signal] = decode_column(from, &lists->signal[signal], ret->party_count);
		ret->signals |= SIGNAL_BIT(signal);
	}
}

static void decode_uses(struct interval_lists *lists, struct record_cursor *from,
			struct recorded_interval *ret)
{
	size_t count = record_take_count(from);

	if (ARRAY_RESERVE(lists->uses, lists->use_size, count + 1) < 0) {
		record_fail_memory(from);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct recorded_use *use = &lists->uses[i];

		use->device = record_take_device(from);
		use->party = record_take_up_to(from, 2 * RECORD_IDS_MAX - 1, "an id beyond 2^22");
		use->busy_ns = record_take_varint(from);
		use->held = record_take_up_to(from, UINT32_MAX, "a part beyond 32 bits");
	}
	ret->uses = lists->uses;
	ret->use_count = count;
}

static void decode_nameless(struct interval_lists *lists, struct record_cursor *from,
			    struct recorded_interval *ret)
{
	size_t count = record_take_count(from);

	if (ARRAY_RESERVE(lists->nameless, lists->nameless_size, count + 1) < 0) {
		record_fail_memory(from);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct recorded_nameless *nameless = &lists->nameless[i];

		nameless->device = record_take_device(from);
		nameless->dropped_ns = record_take_varint(from);
		nameless->unseen_ns = record_take_varint(from);
		nameless->allocated = record_take_varint(from);
	}
	ret->nameless = lists->nameless;
	ret->nameless_count = count;
}

static void decode_allocations(struct interval_lists *lists, struct record_cursor *from,
			       struct recorded_interval *ret)
{
	size_t count = record_take_count(from);

	if (ARRAY_RESERVE(lists->allocations, lists->allocation_size, count + 1) < 0) {
		record_fail_memory(from);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		lists->allocations[i].device = record_take_device(from);
		lists->allocations[i].owner = record_take_id(from);
		lists->allocations[i].held = record_take_varint(from);
	}
	ret->allocations = lists->allocations;
	ret->allocation_count = count;
}

static void decode_ended(struct interval_lists *lists, struct record_cursor *from,
			 struct recorded_interval *ret)
{
	size_t count = record_take_count(from);

	if (ARRAY_RESERVE(lists->ended, lists->ended_size, count + 1) < 0) {
		record_fail_memory(from);
		return;
	}
	for (size_t i = 0; i < count; i++)
		lists->ended[i] = record_take_id(from);
	ret->ended = lists->ended;
	ret->ended_count = count;
}

static void decode_section(struct interval_lists *lists, uint64_t tag, struct record_cursor *from,
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
		decode_readings(lists, from, ret);
		break;
	case SECTION_PARTIES:
		decode_parties(lists, from, ret);
		break;
	case SECTION_CPU:
		ret->cpu_ns = decode_column(from, &lists->cpu, ret->party_count);
		break;
	case SECTION_SOCKET:
		decode_socket(lists, from, ret);
		break;
	case SECTION_SIGNAL:
		decode_signal(lists, from, ret);
		break;
	case SECTION_USES:
		decode_uses(lists, from, ret);
		break;
	case SECTION_NAMELESS:
		decode_nameless(lists, from, ret);
		break;
	case SECTION_ALLOCATED:
		decode_allocations(lists, from, ret);
		break;
	case SECTION_ENDED:
		decode_ended(lists, from, ret);
		break;
	case SECTION_STEAL:
		decode_steal(from, ret);
		break;
	default:
		break;
	}
}

/* Refuses an interval with more run time in packages than in all. */
static void check_sockets(struct record_cursor *from, const struct recorded_interval *interval)
{
	for (size_t i = 0; interval->cpu_ns && i < interval->party_count; i++) {
		uint64_t left_ns = interval->cpu_ns[i];

		for (uint32_t place = 0; place < interval->sockets; place++) {
			uint64_t part_ns = interval->socket_ns[place][i];

			if (part_ns > left_ns) {
				record_fail(from, "more run time in packages than in all");
				return;
			}
			left_ns -= part_ns;
		}
	}
}

void record_interval_decode(struct interval_lists *lists, struct record_cursor *from,
			    struct recorded_interval *ret)
{
	uint32_t seen = 0;

	memset(ret, 0, sizeof(*ret));
	while (from->at < from->end && !from->wrong) {
		uint64_t tag = record_take_varint(from);
		struct record_cursor section = record_take_part(from);
		bool repeats = tag == SECTION_SOCKET || tag == SECTION_SIGNAL;

		if (from->wrong)
			return;
		if (!seen && tag != SECTION_TIME)
			record_fail(from, "an interval that does not begin with its time");
		else if (tag <= SECTION_STEAL && !repeats && seen >> tag & 1)
			record_fail(from, "a section that is there twice");
		else if (tag > SECTION_PARTIES && tag <= SECTION_SIGNAL &&
			 !(seen >> SECTION_PARTIES & 1))
			record_fail(from, "amounts of parties before the parties");
		if (from->wrong)
			return;
		seen |= tag <= SECTION_STEAL ? 1U << tag : 0;
		decode_section(lists, tag, &section, ret);
		if (section.wrong) {
			record_fail(from, section.wrong);
			from->error = section.error;
		}
	}
	if (!seen)
		record_fail(from, "an interval that does not begin with its time");
	if (ret->party_count && !ret->cpu_ns)
		record_fail(from, "parties without their run time");
	if (ret->stolen_ns > ret->work.busy_ns)
		record_fail(from, "more time stolen of run time than ran");
	check_sockets(from, ret);
}
