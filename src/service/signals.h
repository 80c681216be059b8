/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which signals mean something here. They arrive through a descriptor, so nothing runs in signal
 * context; what came several times since the last look came once.
 *
 * SIGHUP asks for a reload, SIGTERM and SIGINT for the end. What would end a process that does not
 * know it, and can be sent by accident or by a limit (SIGUSR1, SIGUSR2, timers, SIGXFSZ, SIGXCPU,
 * SIGPIPE, real-time signals), is ignored: writing beyond a limit of file size then fails with
 * EFBIG. SIGQUIT, and what tells of our own bugs, keep their meaning.
 */
#pragma once

enum signal_wish {
	SIGNAL_RELOAD = 1 << 0,
	SIGNAL_STOP = 1 << 1,
};

/*
 * Sets all of it up, for the calling thread and those that it starts. Returns a descriptor that is
 * readable when one came, or -errno.
 */
int signals_open(void);
/* What came since the last call, as enum signal_wish; never waits. */
unsigned signals_take(int fd);
