// SPDX-License-Identifier: Apache-2.0
/*
 * The process notes in memory that it shares with its caller which counter it is reading: of
 * several, the one that hangs can be named.
 */
#include "truth/counter_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/timed_call.h"

_Static_assert(COUNTER_SAMPLES_MAX * sizeof(struct counter_sample) <= TIMED_CALL_MAX,
	       "a batch is the result of one call");

struct counter_reader {
	char paths[COUNTERS_MAX][TRUTH_PATH_MAX];
	size_t count;
	uint64_t interval_ns;
	struct timed_call *call;
	_Atomic uint32_t *at; /* shared with the process */
	/* State of the process. */
	int fds[COUNTERS_MAX];
	bool is_open;
	uint64_t next_ns;
};

static int open_counters(struct counter_reader *reader)
{
	for (size_t i = 0; i < reader->count; i++) {
		atomic_store(reader->at, (uint32_t)i);
		reader->fds[i] = open(reader->paths[i], O_RDONLY | O_CLOEXEC);
		if (reader->fds[i] < 0)
			return -errno;
	}
	reader->is_open = true;
	return 0;
}

static void read_counter(int fd, struct counter_sample *ret)
{
	char text[32];

	*ret = (struct counter_sample){ .before_ns = clock_ns(CLOCK_MONOTONIC) };
	ssize_t len = pread(fd, text, sizeof(text), 0);
	uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - ret->before_ns;
	while (len > 0 && text[len - 1] == '\n')
		len--;
	ret->took_ns = took_ns < UINT32_MAX ? (uint32_t)took_ns : UINT32_MAX;
	ret->has_failed = len <= 0 || parse_u64(text, (size_t)len, &ret->raw) < 0;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };

	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

/* A timed_call_fn: struct counter_reader as @state, samples as @ret. The first call only opens. */
static ssize_t read_batch(void *state, void *ret)
{
	struct counter_reader *reader = state;
	struct counter_sample *samples = ret;
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), now_ns;
	size_t count = 0;

	if (!reader->is_open)
		return open_counters(reader);
	do {
		sleep_until(reader->next_ns);
		now_ns = clock_ns(CLOCK_MONOTONIC);
		for (size_t i = 0; i < reader->count; i++) {
			atomic_store(reader->at, (uint32_t)i);
			read_counter(reader->fds[i], &samples[count++]);
		}
		reader->next_ns = now_ns + reader->interval_ns;
	} while (now_ns - began_ns < COUNTER_BATCH_NS &&
		 count + reader->count <= COUNTER_SAMPLES_MAX);
	return (ssize_t)(count * sizeof(*samples));
}

int counter_reader_new(const struct truth_meter *const *meters, size_t count, uint64_t interval_ns,
		       struct counter_reader **ret, struct diag *diag)
{
	struct counter_reader *reader = calloc(1, sizeof(*reader));

	if (!reader || count > COUNTERS_MAX) {
		free(reader);
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < count; i++)
		memcpy(reader->paths[i], meters[i]->path, sizeof(reader->paths[i]));
	reader->count = count;
	reader->interval_ns = interval_ns;
	reader->at = mmap(NULL, sizeof(*reader->at), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r = reader->at == MAP_FAILED ? -errno
					 : timed_call_new(read_batch, reader, &reader->call);
	if (r == 0)
		r = (int)timed_call_make(reader->call, NULL, 0);
	if (r == 0) {
		*ret = reader;
		return 0;
	}
	(void)diag_set(diag, r, "%s: cannot be read: %s",
		       reader->at == MAP_FAILED ? "counters" : counter_reader_place(reader),
		       timed_call_error(r));
	counter_reader_free(reader);
	return r;
}

ssize_t counter_reader_read(struct counter_reader *reader, struct counter_sample *ret)
{
	ssize_t len = timed_call_make(reader->call, ret, COUNTER_SAMPLES_MAX * sizeof(*ret));

	return len < 0 ? len : len / (ssize_t)sizeof(*ret);
}

const char *counter_reader_place(const struct counter_reader *reader)
{
	return reader->paths[atomic_load(reader->at)];
}

void counter_reader_free(struct counter_reader *reader)
{
	if (!reader)
		return;
	timed_call_free(reader->call);
	if (reader->at != MAP_FAILED)
		(void)munmap(reader->at, sizeof(*reader->at));
	free(reader);
}
