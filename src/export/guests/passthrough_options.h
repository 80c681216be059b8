/* SPDX-License-Identifier: Apache-2.0 */
/* The values of the options --passthrough.…, which guests_exporter.c describes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUEST_CIDS_MAX 16

struct passthrough_options {
	uint32_t vsock_port;        /* 0: off */
	char *cids[GUEST_CIDS_MAX]; /* "CID=ID" */
	size_t cid_count;
	char *sockets, *dir, *libvirt; /* "": off */
	bool idle;
	int resolution_uj; /* 1 or 1000 */
};
