// SPDX-License-Identifier: Apache-2.0
#include "export/guests/guest_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/text/ascii.h"

void guest_table_init(struct guest_table *table, const char *passwd)
{
	*table = (struct guest_table){ 0 };
	vm_users_read(passwd, &table->users);
}

void guest_table_release(struct guest_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->guests[i]);
	free(table->guests);
	free(table->by_slot);
	*table = (struct guest_table){ 0 };
}

/* ---- rows ---- */

/* "firecracker/web" as "firecracker-web"; "" if the id has other characters, or is too long. */
static void set_key(struct guest *guest)
{
	size_t len = strlen(guest->id);

	if (len >= sizeof(guest->key) || guest->id[0] == '.')
		return;
	for (size_t i = 0; i < len; i++) {
		char c = guest->id[i] == '/' ? '-' : guest->id[i];

		if (!ascii_is_alnum(c) && !strchr("-_.@", c)) {
			guest->key[0] = '\0';
			return;
		}
		guest->key[i] = c;
	}
}

static bool has_key(const struct guest_table *table, const char *key)
{
	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->guests[i]->key, key) == 0)
			return true;
	}
	return false;
}

/* 0 is never an epoch: whatever reads records may use it for "none". */
static uint64_t new_epoch(void)
{
	uint64_t epoch = 0;

	while (epoch == 0) {
		if (getrandom(&epoch, sizeof(epoch), GRND_NONBLOCK) != (ssize_t)sizeof(epoch))
			return 0;
	}
	return epoch;
}

static int reserve_slot(struct guest_table *table, uint32_t slot)
{
	size_t before = table->slots;
	int r = ARRAY_RESERVE(table->by_slot, table->slots, (size_t)slot + 1);

	for (size_t i = before; r == 0 && i < table->slots; i++)
		table->by_slot[i] = NULL;
	return r;
}

static struct guest *add(struct guest_table *table, const struct series_labels *labels,
			 const char *id)
{
	uint64_t epoch = new_epoch();
	struct guest *guest;

	if (table->count == GUESTS_MAX || !epoch || reserve_slot(table, labels->slot) < 0 ||
	    ARRAY_RESERVE(table->guests, table->size, table->count + 1) < 0)
		return NULL;
	guest = calloc(1, sizeof(*guest));
	if (!guest)
		return NULL;
	guest->serial = labels->serial;
	guest->slot = labels->slot;
	guest->epoch = epoch;
	(void)snprintf(guest->id, sizeof(guest->id), "%s", id);
	set_key(guest);
	if (guest->key[0] && has_key(table, guest->key))
		guest->key[0] = '\0';
	table->guests[table->count++] = guest;
	table->starts++;
	return guest;
}

static struct guest *find_row(const struct guest_table *table, const struct series_labels *labels)
{
	struct guest *guest = labels->slot < table->slots ? table->by_slot[labels->slot] : NULL;

	return guest && guest->serial == labels->serial ? guest : NULL;
}

static void drop_unlisted(struct guest_table *table, guest_end_fn *end, void *userdata)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		struct guest *guest = table->guests[i];

		if (guest->is_listed) {
			table->guests[kept++] = guest;
			continue;
		}
		end(userdata, guest);
		table->by_slot[guest->slot] = NULL;
		free(guest);
	}
	table->count = kept;
}

/* The row of VMs that have none of their own has no id. */
static const char *id_of(const struct snapshot_row *row)
{
	const char *id = row->labels->names->text[LABEL_VM_ID];

	return id && id[0] ? id : NULL;
}

/* A machine that has ended, and starts again while its row is kept, has another process. */
static void list(struct guest_table *table, struct guest *guest, const struct snapshot_row *row,
		 size_t index)
{
	guest->is_listed = true;
	guest->row = (uint32_t)index;
	if (row->ended)
		guest->process = (struct guest_process){ 0 };
	else if (guest->has_ended)
		table->starts++;
	guest->has_ended = row->ended;
}

static void list_known(struct guest_table *table, const struct snapshot_table *rows)
{
	for (size_t i = 0; i < table->count; i++)
		table->guests[i]->is_listed = false;
	for (size_t i = 0; i < rows->count; i++) {
		struct guest *guest = find_row(table, rows->rows[i].labels);

		if (!guest || !id_of(&rows->rows[i]))
			continue;
		list(table, guest, &rows->rows[i], i);
	}
}

bool guest_table_update(struct guest_table *table, const struct snapshot *snapshot,
			guest_end_fn *end, void *userdata)
{
	const struct snapshot_table *rows = &snapshot->level[LEVEL_VM];
	bool wants_scan = false;

	list_known(table, rows);
	drop_unlisted(table, end, userdata); /* first, so that slots and keys can be used again */
	for (size_t i = 0; i < rows->count; i++) {
		const struct series_labels *labels = rows->rows[i].labels;
		const char *id = id_of(&rows->rows[i]);
		struct guest *guest = find_row(table, labels);

		if (!id)
			continue;
		if (!guest) {
			guest = add(table, labels, id);
			if (!guest) {
				table->overflows++;
				continue;
			}
			list(table, guest, &rows->rows[i], i);
			table->by_slot[labels->slot] = guest;
		}
		wants_scan |= guest->process.pid == 0 && !guest->has_ended;
	}
	return wants_scan;
}

/* ---- processes ---- */

struct guest *guest_table_find_id(const struct guest_table *table, const char *id)
{
	for (size_t i = 0; i < table->count; i++) {
		if (strcmp(table->guests[i]->id, id) == 0)
			return table->guests[i];
	}
	return NULL;
}

/* By the row of the process, which its owner's names are on. */
static struct guest *stated_guest(const struct guest_table *table, const struct snapshot *snapshot,
				  const struct guest_process *process, bool *ret_is_stated)
{
	const struct snapshot_table *rows = &snapshot->level[LEVEL_PROCESS];

	*ret_is_stated = false;
	for (size_t i = 0; i < rows->count; i++) {
		const struct series_labels *labels = rows->rows[i].labels;

		if (labels->pid != process->pid || rows->rows[i].ended)
			continue;
		*ret_is_stated = true;
		return labels->names->text[LABEL_VM_ID]
			       ? guest_table_find_id(table, labels->names->text[LABEL_VM_ID])
			       : NULL;
	}
	return NULL;
}

/* By the row of its container. */
static struct guest *contained_guest(const struct guest_table *table,
				     const struct snapshot *snapshot,
				     const struct guest_process *process)
{
	const struct snapshot_table *rows = &snapshot->level[LEVEL_CONTAINER];

	for (size_t i = 0; i < rows->count; i++) {
		const char *const *text = rows->rows[i].labels->names->text;

		if (!rows->rows[i].ended && text[LABEL_CONTAINER_ID] &&
		    strcmp(text[LABEL_CONTAINER_ID], process->container) == 0)
			return text[LABEL_VM_ID] ? guest_table_find_id(table, text[LABEL_VM_ID])
						 : NULL;
	}
	return NULL;
}

static struct guest *claimed_guest(const struct guest_table *table, const struct snapshot *snapshot,
				   const struct guest_process *process)
{
	bool is_trusted = vm_users_have(&table->users, process->uid);
	char id[OWNER_NAME_MAX + 1];
	struct guest *guest;
	char user[16] = "";

	if (process->container[0])
		return contained_guest(table, snapshot, process);
	if (!process->uuid[0])
		return NULL;
	if (!is_trusted)
		(void)snprintf(user, sizeof(user), "@%u", process->uid);
	(void)snprintf(id, sizeof(id), "%s%s-%u", process->uuid, user, process->pid);
	guest = guest_table_find_id(table, id);
	if (guest)
		return guest;
	(void)snprintf(id, sizeof(id), "%s%s", process->uuid, user);
	return guest_table_find_id(table, id);
}

static void pair_stated(struct guest_table *table, const struct snapshot *snapshot,
			const struct guest_process *processes, size_t count)
{
	bool is_stated;

	for (size_t i = 0; i < count; i++) {
		struct guest *guest = stated_guest(table, snapshot, &processes[i], &is_stated);

		if (guest)
			guest->process = processes[i];
	}
}

/* A guest that several processes claim gets none of them: later snapshots state which one it is. */
static void pair_claimed(struct guest_table *table, const struct snapshot *snapshot,
			 const struct guest_process *processes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_stated;
		struct guest *guest;

		(void)stated_guest(table, snapshot, &processes[i], &is_stated);
		guest = is_stated ? NULL : claimed_guest(table, snapshot, &processes[i]);
		if (!guest || guest->process.pid)
			continue;
		guest->is_contested |= guest->claimant != NULL;
		guest->claimant = &processes[i];
	}
	for (size_t i = 0; i < table->count; i++) {
		struct guest *guest = table->guests[i];

		if (guest->claimant && !guest->is_contested)
			guest->process = *guest->claimant;
		guest->claimant = NULL;
	}
}

void guest_table_pair(struct guest_table *table, const struct snapshot *snapshot,
		      const struct guest_process *processes, size_t count)
{
	const struct guest_process none = { 0 };

	for (size_t i = 0; i < table->count; i++) {
		table->guests[i]->process = none;
		table->guests[i]->is_contested = false;
	}
	pair_stated(table, snapshot, processes, count);
	pair_claimed(table, snapshot, processes, count);
}

/*
 * Any process can have any address on its command line. It is believed of those that libvirt knows
 * or whose user runs virtual machines.
 */
static bool has_certain_cid(const struct guest_table *table, const struct guest_process *process)
{
	return process->is_known_to_libvirt ||
	       (!process->container[0] && vm_users_have(&table->users, process->uid));
}

struct guest *guest_table_find_cid(const struct guest_table *table, uint32_t cid)
{
	struct guest *certain = NULL, *contained = NULL;
	size_t certain_count = 0, contained_count = 0;

	for (size_t i = 0; i < table->count; i++) {
		struct guest *guest = table->guests[i];

		if (!guest->process.pid || guest->process.vsock_cid != cid)
			continue;
		if (has_certain_cid(table, &guest->process)) {
			certain = guest;
			certain_count++;
		} else if (guest->process.container[0]) {
			contained = guest;
			contained_count++;
		}
	}
	if (certain_count)
		return certain_count == 1 ? certain : NULL;
	return contained_count == 1 ? contained : NULL;
}
