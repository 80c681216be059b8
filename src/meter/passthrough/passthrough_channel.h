/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the records of the host arrive: a virtio-serial port, a vsock connection to the host, a
 * file that the host replaces, or the port of vhostmd, whose answers become records. Only the
 * thread that polls uses a channel, except for passthrough_channel_stop().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "meter/passthrough/passthrough_search.h"

#define PASSTHROUGH_AUTO       "auto"
#define PASSTHROUGH_OFF        "off"
#define PASSTHROUGH_VSOCK_PORT 28283

struct passthrough_channel;

/* Checks a value of meter.passthrough. */
int passthrough_check_place(const char *text, struct diag *diag);
/* Returns true if @text names a vsock connection, with or without numbers. */
bool passthrough_is_vsock(const char *text);

/* Returns true if @text names vhostmd's port, with or without a path. */
bool passthrough_is_vhostmd(const char *text);

/*
 * @place as the option has it, no PASSTHROUGH_OFF; the roots as for passthrough_search(). 0 or
 * -errno; opens no channel yet.
 */
int passthrough_channel_new(const char *place, const char *procfs, const char *sysfs,
			    struct passthrough_channel **ret);
/*
 * Opens the channel if it is not open, and waits at most @wait_ns for bytes. Returns how many were
 * written to @buf, of PASSTHROUGH_RECORD_MAX bytes or more, 0 where none came, or -errno with the
 * reason in @diag: -EBUSY another program has the port open, -ENOTCONN the host has not opened its
 * side. Whole records as text are one read of a file; *ret_is_text says so.
 */
int passthrough_channel_read(struct passthrough_channel *channel, uint64_t wait_ns, char *buf,
			     size_t size, bool *ret_is_text, struct diag *diag);
/*
 * The last text of a file was a record, and the host intends to replace it after @period_ns. The
 * file is looked at often only around that time.
 */
void passthrough_channel_expect(struct passthrough_channel *channel, uint64_t period_ns);
/* From any thread: a read that waits returns, and all later ones at once. */
void passthrough_channel_stop(struct passthrough_channel *channel);
void passthrough_channel_free(struct passthrough_channel *channel);
