/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual machines that have a row in the newest snapshot, each with its process, and what its
 * guest is sent: a guest.
 *
 * A row and a process are paired by the machine's id, by the rules by which the row got that id
 * (workload/vm_owners.h): the UUID of a process of root or of a manager of machines is the id; of
 * another user's it has the suffix "@UID", and of a second claimant "-PID". The process level of
 * the snapshot, where it has the process, states the pair, and is decisive. A process in a
 * container, as KubeVirt's are, is paired by that or by the row of the container, which has the
 * machine's id, and never by its UUID alone. So no process is ever given the energy of
 * a machine that another one claims to be.
 *
 * A guest lives as long as the series of its row, and so does its epoch: what a series has counted
 * is never reported in two epochs.
 *
 * One thread uses a table. Pure, except for the random number of an epoch.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/owner_names.h"
#include "export/guests/guest_scan.h"
#include "passthrough/passthrough_record.h"
#include "snapshot/snapshot.h"
#include "workload/vm_users.h"

#define GUESTS_MAX     4096
#define GUEST_KEY_MAX  64 /* with its terminator */
#define GUEST_STREAMS  4  /* connections at a time */
#define GUEST_CONNECTS 8  /* new ones in an interval */

struct guest_dialogue;
struct guest_doors;
struct guest_stream;

struct guest {
	uint64_t serial; /* of the series of its row; another life of a machine has another one */
	uint32_t slot, row;
	char id[OWNER_NAME_MAX + 1]; /* vm_id */
	/* The id as a file name; "" if it cannot be one, or another guest has that one. */
	char key[GUEST_KEY_MAX];
	struct guest_process process; /* pid 0: not found (yet) */
	bool is_listed;               /* in this snapshot */
	bool has_ended;               /* the machine; its row is kept for a while */
	/* For guest_table_pair() alone. */
	const struct guest_process *claimant;
	bool is_contested;
	/* The record that it is sent. */
	uint64_t epoch, sequence;
	uint64_t sent_ns;   /* BOOTTIME of its last record */
	size_t record_size; /* 0: none yet */
	uint8_t record[PASSTHROUGH_RECORD_MAX];
	struct guest_stream *streams[GUEST_STREAMS]; /* guest_stream.h */
	struct guest_dialogue *dialogue;             /* guest_dialogue.h; NULL: none */
	uint32_t connects_left;
	struct guest_doors *doors; /* guest_sockets.h */
};

struct guest_table {
	struct guest **guests;
	size_t count, size;
	struct guest **by_slot; /* NULL: no guest has that slot */
	size_t slots;
	struct vm_users users;
	uint64_t starts;    /* cumulative: machines that are new, or run again */
	uint64_t overflows; /* cumulative: rows beyond GUESTS_MAX, and without memory */
};

typedef void guest_end_fn(void *userdata, struct guest *guest);

void guest_table_init(struct guest_table *table, const char *passwd); /* a file like /etc/passwd */
void guest_table_release(struct guest_table *table);
/*
 * Takes the rows of @snapshot over: @end is called for each guest without one, before it is freed.
 * True: a running machine has no process.
 */
bool guest_table_update(struct guest_table *table, const struct snapshot *snapshot,
			guest_end_fn *end, void *userdata);
/* Pairs all guests with @processes. */
void guest_table_pair(struct guest_table *table, const struct snapshot *snapshot,
		      const struct guest_process *processes, size_t count);
/*
 * The guest at a vsock address; NULL: none, or several. Guests that libvirt knows, or whose process
 * has a user that runs virtual machines, come before those in containers (KubeVirt), which can have
 * any address on their command line; other processes are not believed at all.
 */
struct guest *guest_table_find_cid(const struct guest_table *table, uint32_t cid);
/* The guest whose id is @id; NULL: none. */
struct guest *guest_table_find_id(const struct guest_table *table, const char *id);
