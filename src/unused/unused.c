// SPDX-License-Identifier: Apache-2.0
/*
 * Rows are few (what is reserved on one machine), so they are searched one by one. Reservations are
 * looked at once a minute; devices in each interval that has uses of them, because a reading of a
 * device has the time since the one before. A row that was not seen for two looks is forgotten.
 */
#include "unused/unused.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

struct unused_row {
	struct unused_finding finding;
	uint64_t key;      /* of the owner */
	uint64_t cpu_ns;   /* of the container, at the last look */
	uint64_t begin_ns; /* of that look */
	uint64_t seen_ns;
};

struct unused {
	pthread_mutex_t lock;
	struct unused_row rows[UNUSED_MAX];
	uint32_t count;
	uint32_t left_out; /* at the last look */
	uint64_t looked_ns;
};

int unused_new(struct unused **ret)
{
	struct unused *unused = calloc(1, sizeof(*unused));
	int r = unused ? pthread_mutex_init(&unused->lock, NULL) : ENOMEM;

	if (r) {
		free(unused);
		return -r;
	}
	*ret = unused;
	return 0;
}

void unused_free(struct unused *unused)
{
	if (!unused)
		return;
	(void)pthread_mutex_destroy(&unused->lock);
	free(unused);
}

static void copy_name(char ret[OWNER_NAME_MAX + 1], const char *text)
{
	(void)memccpy(ret, text, '\0', OWNER_NAME_MAX);
}

static struct unused_row *find_row(struct unused *unused, enum unused_kind kind, uint32_t device,
				   uint64_t key)
{
	for (uint32_t i = 0; i < unused->count; i++) {
		struct unused_row *row = &unused->rows[i];

		if (row->key == key && row->finding.kind == kind && row->finding.device == device)
			return row;
	}
	return NULL;
}

/* The row, made when new; NULL: there is no room. */
static struct unused_row *take_row(struct unused *unused, enum unused_kind kind, uint32_t device,
				   const struct ledger_container *container, uint64_t now_ns)
{
	uint64_t key = owner_names_id_hash(container->names);
	struct unused_row *row = find_row(unused, kind, device, key);

	if (!row) {
		if (unused->count == UNUSED_MAX) {
			unused->left_out++;
			return NULL;
		}
		row = &unused->rows[unused->count++];
		*row = (struct unused_row){
			.finding = { .kind = kind, .since_ns = now_ns, .device = device },
			.key = key,
		};
	}
	/* Names may come late, and change. */
	owner_text(container->names, true, row->finding.owner);
	copy_name(row->finding.namespace, container->names->text[LABEL_NAMESPACE]);
	copy_name(row->finding.pod, container->names->text[LABEL_POD_NAME]);
	row->seen_ns = now_ns;
	return row;
}

static void look_at_reservation(struct unused *unused, const struct ledger *ledger, uint32_t at,
				uint64_t now_ns)
{
	const struct ledger_container *container = ledger_container_at(ledger, at);
	uint64_t cpu_ns = ledger_values(ledger, LEVEL_CONTAINER, at)[COLUMN_CPU];
	uint64_t reserved_ns;
	struct unused_row *row = take_row(unused, UNUSED_CPU, 0, container, now_ns);

	if (!row)
		return;
	reserved_ns = muldiv_u64(now_ns - row->begin_ns, container->size_millicpu, 1000);
	if (row->begin_ns && (cpu_ns - row->cpu_ns > reserved_ns / UNUSED_WORK_SHARE ||
			      row->finding.size_millicpu != container->size_millicpu))
		row->finding.since_ns = now_ns;
	row->finding.size_millicpu = container->size_millicpu;
	row->cpu_ns = cpu_ns;
	row->begin_ns = now_ns;
}

static void look_at_reservations(struct unused *unused, const struct ledger *ledger,
				 uint64_t now_ns)
{
	uint32_t slots = ledger_slots(ledger, LEVEL_CONTAINER);

	for (uint32_t at = 0; at < slots; at++) {
		const struct ledger_container *container = ledger_container_at(ledger, at);

		if (container->row.used && container->size_millicpu && container->living &&
		    !container->replaced)
			look_at_reservation(unused, ledger, at, now_ns);
	}
}

static const struct ledger_container *holder_of(const struct ledger *ledger, uint32_t container)
{
	const struct ledger_container *row;

	if (container == LEDGER_NONE || container >= ledger_slots(ledger, LEVEL_CONTAINER))
		return NULL;
	row = ledger_container_at(ledger, container);
	return row->row.used ? row : NULL;
}

/*
 * Time of users that are not known may be any holder's: then none of the device is found unused.
 */
static void forgive_device(struct unused *unused, uint32_t device, uint64_t now_ns)
{
	for (uint32_t i = 0; i < unused->count; i++) {
		struct unused_finding *finding = &unused->rows[i].finding;

		if (finding->kind == UNUSED_GPU && finding->device == device)
			finding->since_ns = now_ns;
	}
}

/* First the holders, then the users: a container may be both, through several processes. */
static void look_at_devices(struct unused *unused, const struct books *books, uint64_t now_ns)
{
	const struct device_parties *devices = &books->devices;
	const struct ledger *ledger = books->ledger;

	for (size_t i = 0; i < devices->count; i++) {
		const struct device_entry *entry = &devices->entries[i];
		const struct ledger_container *holder = holder_of(ledger, entry->party.container);

		if (holder && entry->held)
			(void)take_row(unused, UNUSED_GPU, entry->device, holder, now_ns);
	}
	for (size_t i = 0; i < devices->allocation_count; i++) {
		const struct device_allocation *allocation = &devices->allocations[i];
		const struct ledger_container *holder = holder_of(ledger, allocation->container);

		if (holder)
			(void)take_row(unused, UNUSED_GPU, allocation->device, holder, now_ns);
	}
	for (size_t i = 0; i < devices->count; i++) {
		const struct device_entry *entry = &devices->entries[i];
		const struct ledger_container *user = holder_of(ledger, entry->party.container);
		struct unused_row *row = user && entry->busy_ns
						 ? find_row(unused, UNUSED_GPU, entry->device,
							    owner_names_id_hash(user->names))
						 : NULL;

		if (row)
			row->finding.since_ns = now_ns;
	}
	for (uint32_t device = 0; device < DEVICES_MAX; device++) {
		if (devices->unseen_ns[device] || devices->dropped_ns[device])
			forgive_device(unused, device, now_ns);
	}
}

static void forget_gone(struct unused *unused, uint64_t now_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < unused->count; i++) {
		if (now_ns - unused->rows[i].seen_ns <= 2 * UNUSED_LOOK_NS)
			unused->rows[kept++] = unused->rows[i];
	}
	unused->count = kept;
}

void unused_note(struct unused *unused, const struct books *books, uint64_t now_ns)
{
	bool is_due = !unused->looked_ns || now_ns - unused->looked_ns >= UNUSED_LOOK_NS;

	if (!is_due && !books->devices.count && !books->devices.allocation_count)
		return;
	(void)pthread_mutex_lock(&unused->lock);
	if (is_due) {
		unused->left_out = 0;
		unused->looked_ns = now_ns;
		look_at_reservations(unused, books->ledger, now_ns);
	}
	look_at_devices(unused, books, now_ns);
	if (is_due)
		forget_gone(unused, now_ns);
	(void)pthread_mutex_unlock(&unused->lock);
}

static int longest_first(const void *a, const void *b)
{
	const struct unused_finding *x = a, *y = b;

	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

size_t unused_read(struct unused *unused, uint64_t now_ns, uint64_t least_ns,
		   struct unused_finding *ret, size_t room, uint32_t *ret_left_out)
{
	size_t count = 0;

	(void)pthread_mutex_lock(&unused->lock);
	for (uint32_t i = 0; i < unused->count && count < room; i++) {
		if (now_ns - unused->rows[i].finding.since_ns >= least_ns)
			ret[count++] = unused->rows[i].finding;
	}
	*ret_left_out = unused->left_out;
	(void)pthread_mutex_unlock(&unused->lock);
	qsort(ret, count, sizeof(*ret), longest_first);
	return count;
}
