// SPDX-License-Identifier: Apache-2.0
/*
 * Definitions are kept until the interval that follows them, because rows are made between
 * ledger_begin() and ledger_close() only.
 */
#include "replay/replay_books.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define ROWS_MAX       RECORD_IDS_MAX
#define CONTAINERS_MAX 1048576

struct book_owner {
	const struct owner_names *names; /* a reference; NULL: not defined */
	uint32_t size_millicpu;
	bool waiting, has_pod_names;
	bool is_new;
	uint32_t row; /* LEDGER_NONE: none yet */
};

struct book_process {
	bool is_defined, is_new;
	uint32_t pid, owner;
	uint64_t start_ns;
	char comm[LEDGER_COMM_MAX];
	uint32_t row;
};

struct replay_books {
	struct books books;
	struct replay_zone zones[ZONES_MAX];
	size_t zone_count; /* that are defined; the books have those that were adopted */
	struct zone_progress state[ZONES_MAX]; /* of zones that had begun before */
	bool has_state[ZONES_MAX];
	struct idle_learner learner[ZONES_MAX];
	bool has_learner[ZONES_MAX];
	struct book_owner *owners;
	size_t owner_size;
	struct book_process *processes;
	size_t process_size;
	uint32_t *fresh; /* numbers as recorded_party_process(): definitions that wait */
	size_t fresh_count, fresh_size;
};

int replay_books_new(const struct config *config, struct replay_books **ret)
{
	const struct ledger_options options = {
		.max_processes = ROWS_MAX,
		.max_containers = CONTAINERS_MAX,
		.by_zone = config->metrics.per_package,
	};
	struct replay_books *books = calloc(1, sizeof(*books));
	int r = books ? books_open(&books->books, &options) : -ENOMEM;

	if (r < 0) {
		replay_books_free(books);
		return r;
	}
	books_configure(&books->books, &config->idle, &config->share, 0);
	books_compute(&books->books, &config->computed);
	*ret = books;
	return 0;
}

void replay_books_free(struct replay_books *books)
{
	if (!books)
		return;
	for (size_t i = 0; i < books->owner_size; i++)
		owner_names_unref(books->owners[i].names);
	free(books->owners);
	free(books->processes);
	free(books->fresh);
	books_release(&books->books);
	free(books);
}

void replay_books_next_file(struct replay_books *books)
{
	for (size_t i = 0; i < books->owner_size; i++) {
		owner_names_unref(books->owners[i].names);
		books->owners[i] = (struct book_owner){ .row = LEDGER_NONE };
	}
	for (size_t i = 0; i < books->process_size; i++)
		books->processes[i] = (struct book_process){ .row = LEDGER_NONE };
	books->fresh_count = 0;
}

/* ---- definitions ---- */

static int note_fresh(struct replay_books *books, uint32_t number)
{
	if (ARRAY_RESERVE(books->fresh, books->fresh_size, books->fresh_count + 1) < 0)
		return -ENOMEM;
	books->fresh[books->fresh_count++] = number;
	return 0;
}

static int take_zone(struct replay_books *books, const struct recorded_zone *zone,
		     struct diag *diag)
{
	struct replay_zone *kept = &books->zones[zone->index];

	if (zone->index < books->zone_count) {
		const struct zone *before = &kept->recorded.zone;

		if (before->kind == zone->zone.kind &&
		    strcmp(before->instance, zone->zone.instance) == 0 &&
		    strcmp(before->source, zone->source) == 0)
			return 0; /* reported again */
		return diag_set(diag, -EBADMSG,
				"zone %u differs from before; replay the recording of another run "
				"separately",
				zone->index);
	}
	if (zone->index > books->zone_count)
		return diag_set(diag, -EBADMSG, "zone %u comes before zone %zu", zone->index,
				books->zone_count);
	kept->recorded = *zone;
	kept->recorded.zone.source = kept->recorded.source;
	books->zone_count++;
	return 0;
}

static int take_idle(struct replay_books *books, const struct recorded_idle *idle,
		     struct diag *diag)
{
	struct idle_learner learner;

	if (idle->zone >= books->zone_count || idle_learner_parse(idle->line, &learner) < 0)
		return diag_set(diag, -EBADMSG, "invalid idle power of zone %u", idle->zone);
	books->learner[idle->zone] = learner;
	books->has_learner[idle->zone] = true;
	return 0;
}

static int take_state(struct replay_books *books, const struct recorded_state *state,
		      struct diag *diag)
{
	if (state->zone >= books->zone_count)
		return diag_set(diag, -EBADMSG, "state of zone %u, which is not defined",
				state->zone);
	books->state[state->zone] = state->progress;
	books->has_state[state->zone] = !books->books.accountant.has_begun;
	return 0;
}

static int take_owner(struct replay_books *books, const struct recorded_owner *owner)
{
	struct owner_names names = owner->names;
	char id[OWNER_NAME_MAX + 1];
	size_t had = books->owner_size;
	const struct owner_names *interned;
	struct book_owner *kept;

	if (owner->is_other) { /* without an id it would be the system's processes */
		(void)snprintf(id, sizeof(id), "other/%.100s",
			       names.text[LABEL_NAMESPACE] ? names.text[LABEL_NAMESPACE] : "");
		names.text[LABEL_CONTAINER_ID] = id;
	}
	interned = owner_names_intern(ledger_names(books->books.ledger), &names);
	if (!interned ||
	    ARRAY_RESERVE(books->owners, books->owner_size, (size_t)owner->id + 1) < 0) {
		owner_names_unref(interned);
		return -ENOMEM;
	}
	memset(books->owners + had, 0, (books->owner_size - had) * sizeof(*books->owners));
	kept = &books->owners[owner->id];
	owner_names_unref(kept->names);
	*kept = (struct book_owner){ .names = interned,
				     .size_millicpu = owner->size_millicpu,
				     .waiting = owner->waiting,
				     .has_pod_names = owner->has_pod_names,
				     .is_new = true,
				     .row = LEDGER_NONE };
	return note_fresh(books, recorded_party_owner(owner->id));
}

static int take_process(struct replay_books *books, const struct recorded_process *process,
			struct diag *diag)
{
	size_t had = books->process_size;
	struct book_process *kept;

	if (process->owner >= books->owner_size || !books->owners[process->owner].names)
		return diag_set(diag, -EBADMSG, "process %u of owner %u, which is not defined",
				process->id, process->owner);
	if (ARRAY_RESERVE(books->processes, books->process_size, (size_t)process->id + 1) < 0)
		return -ENOMEM;
	memset(books->processes + had, 0, (books->process_size - had) * sizeof(*books->processes));
	kept = &books->processes[process->id];
	if (kept->is_defined && kept->row != LEDGER_NONE &&
	    (kept->pid != process->pid || kept->start_ns != process->start_ns))
		ledger_end_process(books->books.ledger, kept->row);
	*kept = (struct book_process){ .is_defined = true,
				       .is_new = true,
				       .pid = process->pid,
				       .owner = process->owner,
				       .start_ns = process->start_ns,
				       .row = LEDGER_NONE };
	memcpy(kept->comm, process->comm, sizeof(kept->comm));
	return note_fresh(books, recorded_party_process(process->id));
}

static uint32_t owner_row(struct replay_books *books, struct book_owner *owner)
{
	const struct ledger_owner is = { .names = owner->names,
					 .size_millicpu = owner->size_millicpu,
					 .waiting = owner->waiting,
					 .has_pod_names = owner->has_pod_names };

	if (owner->is_new)
		owner->row = ledger_container(books->books.ledger, &is);
	owner->is_new = false;
	return owner->row;
}

static uint32_t process_row(struct replay_books *books, struct book_process *process)
{
	if (process->is_new)
		process->row = ledger_process(books->books.ledger, process->pid, process->start_ns,
					      process->comm,
					      owner_row(books, &books->owners[process->owner]));
	process->is_new = false;
	return process->row;
}

static void enter_fresh(struct replay_books *books)
{
	for (size_t i = 0; i < books->fresh_count; i++) {
		uint32_t id = recorded_party_id(books->fresh[i]);

		if (recorded_party_is_process(books->fresh[i]))
			(void)process_row(books, &books->processes[id]);
		else
			(void)owner_row(books, &books->owners[id]);
	}
	books->fresh_count = 0;
}

/* The party of a defined process or owner; false: it is not defined. */
static bool find_party(struct replay_books *books, uint32_t number, struct party *ret)
{
	uint32_t id = recorded_party_id(number), owner = id;

	ret->process = LEDGER_NONE;
	if (recorded_party_is_process(number)) {
		if (id >= books->process_size || !books->processes[id].is_defined)
			return false;
		ret->process = process_row(books, &books->processes[id]);
		owner = books->processes[id].owner;
	}
	if (owner >= books->owner_size || !books->owners[owner].names)
		return false;
	ret->container = owner_row(books, &books->owners[owner]);
	return true;
}

/* ---- zones ---- */

static int adopt_zones(struct replay_books *books)
{
	struct accountant *accountant = &books->books.accountant;
	int r = 0, chosen;

	while (r >= 0 && accountant->zone_count < books->zone_count) {
		struct recorded_zone *zone = &books->zones[accountant->zone_count].recorded;

		r = books_adopt(&books->books, &zone->zone, zone->found_ms);
	}
	chosen = books_choose_totals(&books->books);
	for (size_t z = 0; r >= 0 && z < accountant->zone_count; z++) {
		if (books->has_state[z])
			books_load(&books->books, z, &books->state[z]);
		books->has_state[z] = false;
		if (!books->has_learner[z])
			continue;
		books_restore(&books->books, z, &books->learner[z]);
		books->has_learner[z] = false;
	}
	return r < 0 ? r : chosen;
}

static void take_readings(struct replay_books *books, const struct recorded_interval *interval)
{
	books->books.span_count = 0;
	for (size_t z = 0; z < interval->reading_count; z++) {
		const struct recorded_reading *reading = &interval->readings[z];
		struct replay_zone *zone = &books->zones[z];

		books->books.status[z].state = reading->state;
		books->books.status[z].error = reading->error;
		zone->errors += reading->state != ZONE_UP;
		if (!reading->has_span)
			continue;
		books_put_span(&books->books, z, reading->span);
		zone->spans++;
		zone->read_uj += reading->span.energy_uj;
	}
}

/* ---- intervals ---- */

static int enter_parties(struct replay_books *books, const struct recorded_interval *interval,
			 struct diag *diag)
{
	struct parties *parties = &books->books.parties;
	int r;

	parties_begin(parties, interval->sockets);
	parties_know(parties, interval->signals);
	r = parties_reserve(parties, interval->party_count);
	for (size_t i = 0; r == 0 && i < interval->party_count; i++) {
		uint64_t socket_ns[PLACES_MAX];
		struct party party;

		if (!find_party(books, interval->parties[i], &party))
			return diag_set(diag, -EBADMSG, "party %zu of an interval is not defined",
					i);
		for (uint32_t place = 0; place < interval->sockets; place++)
			socket_ns[place] = interval->socket_ns[place][i];
		parties_add(parties, party.process, party.container, interval->cpu_ns[i],
			    interval->sockets ? socket_ns : NULL);
		for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
			if (interval->signals & SIGNAL_BIT(signal))
				parties_add_signal(parties, signal, interval->signal[signal][i]);
		}
	}
	return r;
}

static int enter_devices(struct replay_books *books, const struct recorded_interval *interval,
			 struct diag *diag)
{
	struct device_parties *devices = &books->books.devices;
	struct party party;
	int r = 0;

	device_parties_begin(devices);
	for (size_t i = 0; i < interval->nameless_count; i++) {
		const struct recorded_nameless *nameless = &interval->nameless[i];

		device_parties_add_dropped(devices, nameless->device, nameless->dropped_ns);
		device_parties_add_unseen(devices, nameless->device, nameless->unseen_ns);
		device_parties_allocate_nameless(devices, nameless->device, nameless->allocated);
	}
	for (size_t i = 0; r == 0 && i < interval->use_count; i++) {
		const struct recorded_use *use = &interval->uses[i];

		if (!find_party(books, use->party, &party))
			return diag_set(diag, -EBADMSG, "a user of a device is not defined");
		r = device_parties_add(devices, use->device, party.process, party.container,
				       use->busy_ns, use->held);
	}
	for (size_t i = 0; r == 0 && i < interval->allocation_count; i++) {
		const struct recorded_allocation *its = &interval->allocations[i];

		if (!find_party(books, recorded_party_owner(its->owner), &party))
			return diag_set(diag, -EBADMSG, "a holder of a device is not defined");
		r = device_parties_allocate(devices, its->device, party.container, its->held);
	}
	return r;
}

static void end_processes(struct replay_books *books, const struct recorded_interval *interval)
{
	for (size_t i = 0; i < interval->ended_count; i++) {
		uint32_t row = replay_books_process(books, interval->ended[i]);

		if (row != LEDGER_NONE)
			ledger_end_process(books->books.ledger, row);
	}
}

static void note_uncounted(struct replay_books *books)
{
	for (size_t i = 0; i < books->books.span_count; i++) {
		const struct energy_span *span = &books->books.spans[i];
		uint32_t z = span->zone;
		uint64_t booked_uj = ledger_node_delta(books->books.ledger, z, MODE_DYNAMIC) +
				     ledger_node_delta(books->books.ledger, z, MODE_IDLE);

		if (booked_uj < span->energy_uj)
			books->zones[z].uncounted_uj += span->energy_uj - booked_uj;
	}
}

static int enter(struct replay_books *books, const struct recorded_interval *interval,
		 struct diag *diag)
{
	int r;

	if (interval->time_ns <= books->books.accountant.booked_ns)
		return diag_set(diag, -EBADMSG, "an interval that ends before the one before it");
	if (interval->reading_count != books->zone_count)
		return diag_set(diag, -EBADMSG, "an interval with %zu of %zu zones",
				interval->reading_count, books->zone_count);
	r = adopt_zones(books);
	if (r < 0)
		return r;
	books_begin(&books->books, interval->time_ns, interval->settle_ns);
	enter_fresh(books);
	r = enter_parties(books, interval, diag);
	return r < 0 ? r : enter_devices(books, interval, diag);
}

static int book(struct replay_books *books, const struct recorded_interval *interval,
		struct diag *diag)
{
	int r = enter(books, interval, diag);
	struct interval inputs;

	if (r < 0)
		return r;
	take_readings(books, interval);
	inputs = books_interval(&books->books, interval->time_ns);
	inputs.work = interval->work;
	inputs.places = interval->places;
	inputs.measured = (struct zone_activity){ interval->length_ns, interval->asleep_ns,
						  interval->utilisation };
	books_book(&books->books, &inputs, NULL);
	note_uncounted(books);
	end_processes(books, interval);
	ledger_close(books->books.ledger);
	return 1;
}

int replay_books_take(struct replay_books *books, const struct record *record, struct diag *diag)
{
	switch (record->type) {
	case RECORD_ZONE:
		return take_zone(books, &record->zone, diag);
	case RECORD_IDLE:
		return take_idle(books, &record->idle, diag);
	case RECORD_OWNER:
		return take_owner(books, &record->owner);
	case RECORD_PROCESS:
		return take_process(books, &record->process, diag);
	case RECORD_STATE:
		return take_state(books, &record->state, diag);
	case RECORD_INTERVAL:
		return book(books, &record->interval, diag);
	case RECORD_FACT:
	case RECORD_OPTION:
	case RECORD_END:
		break;
	}
	return 0;
}

const struct books *replay_books_kept(const struct replay_books *books)
{
	return &books->books;
}

const struct replay_zone *replay_books_zone(const struct replay_books *books, size_t index)
{
	return &books->zones[index];
}

uint32_t replay_books_process(const struct replay_books *books, uint32_t id)
{
	if (id >= books->process_size || !books->processes[id].is_defined)
		return LEDGER_NONE;
	return books->processes[id].row;
}
