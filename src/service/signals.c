// SPDX-License-Identifier: Apache-2.0
#include "service/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/macro.h"

static const int ignored[] = {
	SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,
	SIGIO,   SIGXFSZ, SIGXCPU, SIGPWR,  SIGSTKFLT,
};

static int ignore(int number)
{
	const struct sigaction action = { .sa_handler = SIG_IGN };

	return sigaction(number, &action, NULL) < 0 ? -errno : 0;
}

int signals_open(void)
{
	sigset_t set;
	int fd, r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(ignored); i++)
		r = ignore(ignored[i]);
	for (int number = SIGRTMIN; r == 0 && number <= SIGRTMAX; number++)
		r = ignore(number);
	if (r < 0)
		return r;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	r = pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (r != 0)
		return -r;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

unsigned signals_take(int fd)
{
	struct signalfd_siginfo info;
	unsigned wishes = 0;

	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		wishes |= info.ssi_signo == SIGHUP ? SIGNAL_RELOAD : SIGNAL_STOP;
	return wishes;
}
