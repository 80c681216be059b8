/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtio-serial port org.github.vhostmd.1, over which a guest asks vhostmd, KubeVirt or the
 * host's Kepler for its metrics (https://github.com/vhostmd/vhostmd, README): it writes
 * "GET /metrics/XML" and an empty line, and gets XML and an empty line. Only one program at a time
 * can have a port open, so it is open only between a question and its answer, once a second; once a
 * minute while the answers have no energy.
 *
 * An answer becomes a record (passthrough/passthrough_xml.h). The answers of another program have
 * neither epoch nor sequence: then all are of one epoch, and an answer is a new record if it
 * differs from the one before it, or is half a minute later. docs/passthrough.md has the
 * consequences. Only the thread that polls uses a port.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "passthrough/passthrough_record.h"

struct vhostmd_port;

/* 0 or -ENOMEM. */
int vhostmd_port_new(struct vhostmd_port **ret);
void vhostmd_port_free(struct vhostmd_port *port);
/*
 * Asks at the device @path when it is time, and waits at most @wait_ns, or until @stop_fd is
 * readable. Returns the length of the record written to @buf, 0 while there is no answer, or -errno
 * with the reason in @diag: -EBUSY another program has the port open, -ENODATA the answer has no
 * energy.
 */
int vhostmd_port_read(struct vhostmd_port *port, const char *path, int stop_fd, uint64_t wait_ns,
		      uint8_t buf[static PASSTHROUGH_RECORD_MAX], struct diag *diag);
