/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways on which the host could report this machine's energy to it, as far as the machine shows
 * them. Only files of the kernel are read, so a file system that hangs is not waited for.
 */
#pragma once

#include <stdbool.h>

#define PASSTHROUGH_PORT_NAME "io.kepler.energy.0"
#define PASSTHROUGH_FOLDER    "/var/lib/kepler/host"
#define PASSTHROUGH_PATH_MAX  320

struct passthrough_places {
	char port[PASSTHROUGH_PATH_MAX];    /* virtio-serial, ours: "/dev/vport1p1"; "": none */
	char vhostmd[PASSTHROUGH_PATH_MAX]; /* virtio-serial, of vhostmd and KubeVirt; "": none */
	char folder[PASSTHROUGH_PATH_MAX];  /* where the host's directory is mounted; "": none */
	bool has_vsock;                     /* a virtio device */
};

/*
 * @procfs and @sysfs are the configured roots; NULL: nothing is found there. A directory is the
 * host's if its file system is virtiofs or 9p, and it has the tag "kepler" or one that begins with
 * "kepler-", or is mounted at PASSTHROUGH_FOLDER.
 */
void passthrough_search(const char *procfs, const char *sysfs, struct passthrough_places *ret);
