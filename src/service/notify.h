/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports state to the service manager: sd_notify(3)'s protocol, datagrams of KEY=VALUE lines to
 * $NOTIFY_SOCKET.
 *
 * The socket is connected once, at notify_open(), so that it works after the process is confined.
 * Sending never waits, and its errors are ignored. All functions take NULL.
 */
#pragma once

#include <stdint.h>

struct notify;

/*
 * Connects to $NOTIFY_SOCKET (a path, or "@name" for an abstract one) and reads WATCHDOG_USEC and
 * WATCHDOG_PID. NULL when there is no manager or memory ran out.
 */
struct notify *notify_open(void);
/* As notify_open(), from values instead of the environment; each may be NULL. */
struct notify *notify_open_with(const char *socket_path, const char *watchdog_usec,
				const char *watchdog_pid);
void notify_close(struct notify *notify);

/* READY=1, with @status (may be NULL) as STATUS=. */
void notify_ready(struct notify *notify, const char *status);
void notify_status(struct notify *notify, const char *status);
/* RELOADING=1 with MONOTONIC_USEC (wanted by Type=notify-reload). Ends with notify_ready(). */
void notify_reloading(struct notify *notify, uint64_t monotonic_ns);
void notify_stopping(struct notify *notify);
/*
 * Sends WATCHDOG=1 when a third of the manager's time-out has passed since the last; call it in
 * every turn of the loop.
 */
void notify_watchdog(struct notify *notify, uint64_t monotonic_ns);
/* The manager's time-out, 0 when it keeps no watch over this process. */
uint64_t notify_watchdog_ns(const struct notify *notify);
