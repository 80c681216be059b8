/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that the program handles. They arrive through a descriptor, so nothing runs in signal
 * context; a signal that came several times since the last call counts once.
 *
 * SIGHUP requests a reload, SIGTERM and SIGINT the end. Signals that would end the process by
 * default and can be sent by accident or by a limit (SIGUSR1, SIGUSR2, timers, SIGXFSZ, SIGXCPU,
 * SIGPIPE, real-time signals) are ignored: writing beyond a limit of file size then fails with
 * EFBIG. SIGQUIT, and signals that report our own bugs, keep their meaning.
 */
#pragma once

enum signal_wish {
	SIGNAL_RELOAD = 1 << 0,
	SIGNAL_STOP = 1 << 1,
};

/*
 * Sets this up for the calling thread and those that it starts. Returns a descriptor that is
 * readable when a signal came, or -errno.
 */
int signals_open(void);
/* The signals that came since the last call, as enum signal_wish; never waits. */
unsigned signals_take(int fd);
