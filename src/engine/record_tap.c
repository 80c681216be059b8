// SPDX-License-Identifier: Apache-2.0
#include "engine/record_tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "config/replay_options.h"
#include "options/version.h"
#include "record/record_encode.h"

/* The definition of a row in the file; names NULL: none yet. */
struct written_owner {
	const struct owner_names *names; /* a reference */
	uint32_t size_millicpu;
	bool waiting, has_pod_names;
};

struct written_process {
	bool is_written;
	uint32_t pid, container;
	uint64_t start_ns;
	char comm[LEDGER_COMM_MAX];
};

int record_tap_init(struct record_tap *tap, struct record_store *store, const struct config *config,
		    bool anonymize, bool is_ring)
{
	*tap = (struct record_tap){
		.store = store, .config = config, .anonymize = anonymize, .is_ring = is_ring
	};
	return anonymize ? record_mask_init(&tap->mask) : 0;
}

static void forget_all(struct record_tap *tap)
{
	for (size_t row = 0; row < tap->owner_size; row++)
		owner_names_unref(tap->owners[row].names);
	if (tap->owner_size)
		memset(tap->owners, 0, tap->owner_size * sizeof(*tap->owners));
	if (tap->process_size)
		memset(tap->processes, 0, tap->process_size * sizeof(*tap->processes));
	tap->zones_written = 0;
}

void record_tap_release(struct record_tap *tap)
{
	forget_all(tap);
	strbuf_release(&tap->records);
	free(tap->owners);
	free(tap->processes);
	free(tap->readings);
	free(tap->parties);
	free(tap->uses);
	free(tap->allocations);
	free(tap->ended);
	*tap = (struct record_tap){ 0 };
}

void record_tap_reconfigure(struct record_tap *tap, const struct config *config)
{
	tap->config = config;
	tap->is_due = true;
}

void record_tap_restored(struct record_tap *tap, size_t zone)
{
	tap->restored[zone] = true;
}

/* ---- definitions ---- */

static void write_options(struct record_tap *tap)
{
	char cpus[16];

	record_encode_pair(&tap->records, RECORD_FACT, "program", "kepler " KEPLER_VERSION);
	(void)snprintf(cpus, sizeof(cpus), "%u", tap->cpus);
	if (tap->cpus)
		record_encode_pair(&tap->records, RECORD_FACT, "cpus", cpus);
	if (tap->mask.on)
		record_encode_pair(&tap->records, RECORD_FACT, "anonymized", "true");
	replay_options_tell(tap->config, &tap->records);
}

static void write_learner(struct record_tap *tap, const struct accountant *accountant, size_t z)
{
	char line[IDLE_LINE_MAX];

	tap->restored[z] = false;
	if (accountant->zones[z].learner.time_ns &&
	    idle_learner_format(&accountant->zones[z].learner, line, sizeof(line)) > 0)
		record_encode_idle(&tap->records, (uint32_t)z, line);
}

static void write_zone(struct record_tap *tap, const struct accountant *accountant, size_t z,
		       int64_t birth_offset_ms)
{
	struct recorded_zone zone = { .index = (uint32_t)z,
				      .zone = *accountant->zones[z].zone,
				      .found_ms = accountant->zones[z].born_ms + birth_offset_ms };

	record_mask_zone(&tap->mask, &zone);
	record_encode_zone(&tap->records, &zone);
	write_learner(tap, accountant, z);
}

static void write_zones(struct record_tap *tap, const struct books *books, bool is_complete,
			int64_t birth_offset_ms)
{
	const struct accountant *accountant = &books->accountant;

	for (; tap->zones_written < accountant->zone_count; tap->zones_written++)
		write_zone(tap, accountant, tap->zones_written, birth_offset_ms);
	for (size_t z = 0; z < accountant->zone_count; z++) {
		if (tap->restored[z])
			write_learner(tap, accountant, z);
		if (is_complete && accountant->has_begun && accountant->zones[z].has_span)
			record_encode_state(
				&tap->records,
				&(struct recorded_state){ (uint32_t)z, books_save(books, z) });
	}
}

/* 0 or -ENOMEM. */
static int write_owner(struct record_tap *tap, const struct ledger *ledger, uint32_t row)
{
	const struct ledger_container *container = ledger_container_at(ledger, row);
	size_t had = tap->owner_size;
	struct masked_owner masked;
	struct recorded_owner owner = {
		.id = row,
		.waiting = container->waiting,
		.has_pod_names = container->has_pod_names,
		.is_other = container->is_other,
		.size_millicpu = container->size_millicpu,
		.names = *container->names,
	};
	struct written_owner *written;

	if (ARRAY_RESERVE(tap->owners, tap->owner_size, (size_t)row + 1) < 0)
		return -ENOMEM;
	memset(tap->owners + had, 0, (tap->owner_size - had) * sizeof(*tap->owners));
	written = &tap->owners[row];
	if (written->names == container->names &&
	    written->size_millicpu == container->size_millicpu &&
	    written->waiting == container->waiting &&
	    written->has_pod_names == container->has_pod_names)
		return 0;
	owner_names_unref(written->names);
	*written =
		(struct written_owner){ owner_names_ref(container->names), container->size_millicpu,
					container->waiting, container->has_pod_names };
	record_mask_owner(&tap->mask, &owner, &masked);
	record_encode_owner(&tap->records, &owner);
	return 0;
}

/* Its owner as well. */
static int write_process(struct record_tap *tap, const struct ledger *ledger, uint32_t row)
{
	const struct ledger_process *process = ledger_process_at(ledger, row);
	size_t had = tap->process_size;
	struct recorded_process recorded = { .id = row,
					     .pid = process->pid,
					     .start_ns = process->start_ns,
					     .owner = process->container };
	struct written_process *written;
	int r = write_owner(tap, ledger, process->container);

	if (r < 0 || ARRAY_RESERVE(tap->processes, tap->process_size, (size_t)row + 1) < 0)
		return -ENOMEM;
	memset(tap->processes + had, 0, (tap->process_size - had) * sizeof(*tap->processes));
	written = &tap->processes[row];
	if (written->is_written && written->pid == process->pid &&
	    written->start_ns == process->start_ns && written->container == process->container &&
	    strcmp(written->comm, process->comm) == 0)
		return 0;
	*written = (struct written_process){ .is_written = true,
					     .pid = process->pid,
					     .container = process->container,
					     .start_ns = process->start_ns };
	memcpy(written->comm, process->comm, sizeof(written->comm));
	memcpy(recorded.comm, process->comm, sizeof(recorded.comm));
	record_mask_process(&tap->mask, &recorded);
	record_encode_process(&tap->records, &recorded);
	return 0;
}

static int tell_party(struct record_tap *tap, const struct ledger *ledger,
		      const struct party *party)
{
	return party->process != LEDGER_NONE ? write_process(tap, ledger, party->process)
					     : write_owner(tap, ledger, party->container);
}

/* All that is there. */
static int tell_rows(struct record_tap *tap, const struct ledger *ledger)
{
	int r = 0;

	for (uint32_t row = 0; r == 0 && row < ledger_slots(ledger, LEVEL_CONTAINER); row++) {
		const struct ledger_container *container = ledger_container_at(ledger, row);

		if (container->row.used && !container->replaced)
			r = write_owner(tap, ledger, row);
	}
	for (uint32_t row = 0; r == 0 && row < ledger_slots(ledger, LEVEL_PROCESS); row++) {
		const struct ledger_process *process = ledger_process_at(ledger, row);

		if (process->row.used && !process->row.ended)
			r = write_process(tap, ledger, row);
	}
	return r;
}

/* The additions and changes of this interval. */
static int tell_touched(struct record_tap *tap, const struct ledger *ledger)
{
	const uint32_t *touched;
	size_t count;
	int r = 0;

	touched = ledger_touched(ledger, LEVEL_CONTAINER, &count);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (ledger_container_at(ledger, touched[i])->row.used)
			r = write_owner(tap, ledger, touched[i]);
	}
	touched = ledger_touched(ledger, LEVEL_PROCESS, &count);
	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct ledger_process *process = ledger_process_at(ledger, touched[i]);

		if (process->row.used && !process->row.ended)
			r = write_process(tap, ledger, touched[i]);
	}
	return r;
}

/* ---- an interval ---- */

static uint32_t number_of(const struct party *party)
{
	return party->process != LEDGER_NONE ? recorded_party_process(party->process)
					     : recorded_party_owner(party->container);
}

static int describe_parties(struct record_tap *tap, const struct ledger *ledger,
			    const struct parties *parties, struct recorded_interval *ret)
{
	if (ARRAY_RESERVE(tap->parties, tap->party_size, parties->count + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < parties->count; i++) {
		if (tell_party(tap, ledger, &parties->party[i]) < 0)
			return -ENOMEM;
		tap->parties[i] = number_of(&parties->party[i]);
	}
	ret->parties = tap->parties;
	ret->party_count = parties->count;
	ret->cpu_ns = parties->cpu_ns;
	ret->sockets = parties->sockets;
	for (uint32_t place = 0; place < parties->sockets; place++)
		ret->socket_ns[place] = parties->socket_ns[place];
	ret->signals = parties->signals;
	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++)
		ret->signal[signal] = parties->signal[signal];
	return 0;
}

static int describe_uses(struct record_tap *tap, const struct ledger *ledger,
			 const struct device_parties *devices, struct recorded_interval *ret)
{
	if (ARRAY_RESERVE(tap->uses, tap->use_size, devices->count + 1) < 0 ||
	    ARRAY_RESERVE(tap->allocations, tap->allocation_size, devices->allocation_count + 1) <
		    0)
		return -ENOMEM;
	for (size_t i = 0; i < devices->count; i++) {
		const struct device_entry *entry = &devices->entries[i];

		if (tell_party(tap, ledger, &entry->party) < 0)
			return -ENOMEM;
		tap->uses[i] = (struct recorded_use){ entry->device, number_of(&entry->party),
						      entry->busy_ns, entry->held };
	}
	for (size_t i = 0; i < devices->allocation_count; i++) {
		const struct device_allocation *its = &devices->allocations[i];

		if (write_owner(tap, ledger, its->container) < 0)
			return -ENOMEM;
		tap->allocations[i] =
			(struct recorded_allocation){ its->device, its->container, its->held };
	}
	ret->uses = tap->uses;
	ret->use_count = devices->count;
	ret->allocations = tap->allocations;
	ret->allocation_count = devices->allocation_count;
	ret->nameless = tap->nameless;
	for (uint32_t device = 0; device < DEVICES_MAX; device++) {
		const struct recorded_nameless nameless = { device, devices->dropped_ns[device],
							    devices->unseen_ns[device],
							    devices->nameless[device] };

		if (nameless.dropped_ns || nameless.unseen_ns || nameless.allocated)
			tap->nameless[ret->nameless_count++] = nameless;
	}
	return 0;
}

static int describe_readings(struct record_tap *tap, const struct books *books,
			     struct recorded_interval *ret)
{
	size_t count = books->accountant.zone_count;

	if (ARRAY_RESERVE(tap->readings, tap->reading_size, count + 1) < 0)
		return -ENOMEM;
	for (size_t z = 0; z < count; z++)
		tap->readings[z] = (struct recorded_reading){ .state = books->status[z].state,
							      .error = books->status[z].error };
	for (size_t i = 0; i < books->span_count; i++) {
		struct recorded_reading *reading = &tap->readings[books->spans[i].zone];

		reading->has_span = true;
		reading->span = books->spans[i];
	}
	ret->readings = tap->readings;
	ret->reading_count = count;
	return 0;
}

static int describe_ended(struct record_tap *tap, const struct ledger *ledger,
			  const struct activity *activity, struct recorded_interval *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < activity->count; i++) {
		const struct activity_sample *sample = &activity->samples[i];
		uint32_t row;

		if (!(sample->flags & ACTIVITY_ENDED))
			continue;
		row = ledger_find_process(ledger, sample->key.pid, sample->key.start_ns);
		if (row == LEDGER_NONE)
			continue;
		if (ARRAY_RESERVE(tap->ended, tap->ended_size, count + 1) < 0 ||
		    write_process(tap, ledger, row) < 0)
			return -ENOMEM;
		tap->ended[count++] = row;
	}
	ret->ended = tap->ended;
	ret->ended_count = count;
	return 0;
}

static int tell(struct record_tap *tap, const struct books *books, const struct interval *interval,
		const struct record_moment *moment, bool is_complete)
{
	const struct ledger *ledger = books->ledger;
	struct recorded_interval recorded = {
		.time_ns = interval->time_ns,
		.boottime_ns = moment->boottime_ns,
		.realtime_ms = moment->realtime_ms,
		.length_ns = interval->measured.dt_ns,
		.asleep_ns = interval->measured.asleep_ns,
		.utilisation = interval->measured.utilisation,
		.settle_ns = books->accountant.settle_ns,
		.work = interval->work,
		.has_steal = moment->activity->has_steal,
		.steal_ns = moment->activity->steal_ns,
		.stolen_ns = moment->activity->stolen_ns,
		.places = interval->places,
	};
	int r;

	if (is_complete) {
		forget_all(tap);
		write_options(tap);
	}
	write_zones(tap, books, is_complete,
		    moment->realtime_ms - (int64_t)(moment->boottime_ns / NSEC_PER_MSEC));
	r = is_complete ? tell_rows(tap, ledger) : 0;
	if (r == 0)
		r = tell_touched(tap, ledger);
	if (r == 0)
		r = describe_readings(tap, books, &recorded);
	if (r == 0)
		r = describe_parties(tap, ledger, &books->parties, &recorded);
	if (r == 0)
		r = describe_uses(tap, ledger, &books->devices, &recorded);
	if (r == 0)
		r = describe_ended(tap, ledger, moment->activity, &recorded);
	if (r == 0)
		record_encode_interval(&tap->records, &recorded);
	return r;
}

void record_tap_tell(struct record_tap *tap, const struct books *books,
		     const struct interval *interval, const struct record_moment *moment)
{
	bool is_complete = tap->is_due || record_store_needs_definitions(tap->store);

	record_store_recycle(tap->store, &tap->records);
	if (is_complete && tap->anonymize && tap->is_ring)
		(void)record_mask_init(&tap->mask); /* a key of its own for each file */
	if (tell(tap, books, interval, moment, is_complete) < 0)
		tap->records.failed = true;
	tap->is_due = !record_store_put(tap->store, &tap->records, is_complete);
}
