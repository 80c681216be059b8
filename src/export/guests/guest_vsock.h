/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One vsock listener for all guests of the kernel's vhost-vsock. The kernel sets the address (CID)
 * of a peer, so a guest cannot pretend to be another one. CIDs are used again: a connection counts
 * only while the hypervisor that has the CID on its command line still runs.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "export/guests/guest_stream.h"
#include "export/guests/guest_table.h"
#include "export/guests/passthrough_options.h"

/* An address whose guest the operator states. */
struct guest_cid {
	uint32_t cid;
	char id[GUEST_KEY_MAX]; /* vm_id */
};

struct guest_vsock {
	struct guest_watch watch; /* fd -1: it does not listen */
	int epoll_fd;             /* borrowed */
	int proc_fd;              /* borrowed */
	struct guest_cid cids[GUEST_CIDS_MAX];
	size_t cid_count;
	uint32_t accepts_left; /* of all guests, in this interval */
	bool is_paused;
	struct guest_counts counts;
};

/* Reads "CID=ID": 0, or -EINVAL with a diagnosis. */
int guest_cid_parse(const char *text, struct guest_cid *ret, struct diag *diag);
/*
 * Listens at @port: 0, or -errno with a diagnosis. A kernel without vsock is logged and counted,
 * and the result is 0.
 */
int guest_vsock_open(struct guest_vsock *vsock, uint32_t port, struct diag *diag);
void guest_vsock_close(struct guest_vsock *vsock);
/* A new interval begins. */
void guest_vsock_begin(struct guest_vsock *vsock);
/* A connection has arrived. */
void guest_vsock_accept(struct guest_vsock *vsock, const struct guest_table *table);
