/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals while the program starts. The main thread reads them in its loop, which is never reached
 * if the start hangs in a file of /proc or /sys. So a thread takes them during the start, and ends
 * the program if it is to stop and the start does not end.
 *
 * It checks ten times a second, and ends when the start is over.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct start_watch {
	int signal_fd;
	uint64_t patience_ns;
	void (*give_up)(void);
	pthread_t thread;
	pthread_mutex_t lock; /* all below */
	pthread_cond_t over;
	bool is_over;
	unsigned wishes; /* enum signal_wish, that came so far */
};

/*
 * @signal_fd is signals_open()'s and must not be read by others until the end. @give_up is called
 * on the thread, once, when SIGNAL_STOP came and the start was not over @patience_ns later. 0, or
 * -errno where there can be no thread: then start_watch_end() must not be called.
 */
int start_watch_begin(struct start_watch *watch, int signal_fd, uint64_t patience_ns,
		      void (*give_up)(void));
/* Returns the signals that came meanwhile, enum signal_wish, for the caller to act on. */
unsigned start_watch_end(struct start_watch *watch);
