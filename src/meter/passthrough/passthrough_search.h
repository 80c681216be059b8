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
/*
 * The tree that Scaphandre's exporter qemu writes for a guest, DIR/intel-rapl:0/energy_uj, is not
 * read: every few seconds the exporter adds the mean power in microwatts to the file as if it were
 * the energy in microjoules, so that the file has about a fifth of the energy by default, and
 * another part with another step (its src/exporters/qemu.rs). Nothing in the tree states the step,
 * and CPU time cannot show it: machines differ in power per busy CPU by more than a factor of five.
 */
#define PASSTHROUGH_SCAPHANDRE      "/var/scaphandre"
#define PASSTHROUGH_SCAPHANDRE_FILE "intel-rapl:0/energy_uj"
#define PASSTHROUGH_SCAPHANDRE_WHY                                                                 \
	"Scaphandre's exporter adds microwatts as microjoules every few seconds, so its file has " \
	"about a fifth of the energy"

struct passthrough_places {
	char port[PASSTHROUGH_PATH_MAX];    /* virtio-serial, ours: "/dev/vport1p1"; "": none */
	char vhostmd[PASSTHROUGH_PATH_MAX]; /* virtio-serial, of vhostmd and KubeVirt; "": none */
	char folder[PASSTHROUGH_PATH_MAX];  /* where the host's directory is mounted; "": none */
	char scaphandre[PASSTHROUGH_PATH_MAX]; /* the same of Scaphandre's exporter; "": none */
	bool has_vsock;                        /* a virtio device */
};

/* Which of these is read if none is named: a record's channel before vhostmd's port; "": none. */
const char *passthrough_best_place(const struct passthrough_places *places);
/*
 * @procfs and @sysfs are the configured roots; NULL: nothing is found there. A directory is the
 * host's if its file system is virtiofs or 9p, and it has the tag "kepler" or one that begins with
 * "kepler-", or is mounted at PASSTHROUGH_FOLDER; it is Scaphandre's with the tag "scaphandre", or
 * at PASSTHROUGH_SCAPHANDRE, as its manual has it.
 */
void passthrough_search(const char *procfs, const char *sysfs, struct passthrough_places *ret);
