// SPDX-License-Identifier: Apache-2.0
/*
 * The loop opens the file, which never waits, and the thread reads it: so an answer belongs to the
 * right process, even if its pid is used again. The thread also parses it: the result is small.
 */
#include "workload/vm_cmdline_reads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hostile.h"
#include "base/macro.h"

#define TEXT_MAX     (64U << 10)
#define THREADS      16
#define ANYBODYS_MAX (THREADS / 2)       /* reads for untrusted parties, in sum */
#define PARTY_MAX    4                   /* and for one of them */
#define KEEP_NS      (10 * NSEC_PER_SEC) /* for an answer that is not fetched: its process sleeps */
#define END_PATIENCE (100 * NSEC_PER_MSEC)

struct cmdline_job {
	struct offload_job job; /* first: the two are one address */
	int fd;
	char comm[16];
	bool was_read, is_machine;
	struct vm_description vm;
};

/* ---- on a thread ---- */

static ssize_t read_all(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size &&
	       (n = read(fd, text + len, HOSTILE_LEAST(HOSTILE_READ, size - len))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static void job_run(struct offload_job *base)
{
	struct cmdline_job *job = (struct cmdline_job *)base;
	CLEANUP_FREE char *text = malloc(TEXT_MAX);
	ssize_t len = text ? read_all(job->fd, text, TEXT_MAX) : -ENOMEM;

	job->was_read = len > 0;
	job->is_machine = len > 0 && vm_cmdline_parse(job->comm, text, (size_t)len, &job->vm);
}

static void job_drop(struct offload_job *base)
{
	struct cmdline_job *job = (struct cmdline_job *)base;

	(void)close(job->fd);
	free(job);
}

/* ---- the loop's side ---- */

static void remove_row(struct cmdline_reads *reads, struct cmdline_read *row)
{
	*row = reads->rows[--reads->count];
}

static void take_answers(struct cmdline_reads *reads)
{
	struct offload_job *base;

	while (reads->offload && (base = offload_take(reads->offload))) {
		struct cmdline_job *job = (struct cmdline_job *)base;

		for (uint32_t i = 0; i < reads->count; i++) {
			struct cmdline_read *row = &reads->rows[i];

			if (row->job != job)
				continue;
			row->finished = true;
			row->was_read = job->was_read;
			row->is_machine = job->is_machine;
			row->vm = job->vm;
			row->job = NULL;
		}
		job_drop(base);
	}
}

void cmdline_reads_begin(struct cmdline_reads *reads, uint64_t now_ns, uint64_t patience_ns)
{
	take_answers(reads);
	reads->wait_left_ns = patience_ns;
	for (uint32_t i = reads->count; i-- > 0;) {
		struct cmdline_read *row = &reads->rows[i];
		uint64_t age_ns = now_ns - row->begun_ns;

		if (row->finished && age_ns > KEEP_NS) {
			remove_row(reads, row);
		} else if (!row->finished && !row->late && age_ns > CMDLINE_LATE_NS) {
			row->late = true;
			reads->late++;
		}
	}
}

static bool may_ask(const struct cmdline_reads *reads, uint64_t party)
{
	uint32_t anybodys = 0, own = 0;

	for (uint32_t i = 0; party && i < reads->count; i++) {
		anybodys += !reads->rows[i].finished && reads->rows[i].party;
		own += !reads->rows[i].finished && reads->rows[i].party == party;
	}
	return reads->offload && reads->count < CMDLINE_ROWS_MAX && anybodys < ANYBODYS_MAX &&
	       own < PARTY_MAX;
}

static int submit(struct cmdline_reads *reads, const struct process_ref *process,
		  struct cmdline_job **ret)
{
	struct cmdline_job *job = calloc(1, sizeof(*job));
	char path[32];
	int r;

	if (!job)
		return -ENOMEM;
	job->job.run = job_run;
	job->job.drop = job_drop;
	memcpy(job->comm, process->comm, strnlen(process->comm, sizeof(job->comm) - 1));
	(void)snprintf(path, sizeof(path), "%u/cmdline", process->pid);
	job->fd = openat(reads->proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	r = job->fd < 0 ? -errno : offload_submit(reads->offload, &job->job);
	if (r < 0) {
		cleanup_fd(&job->fd);
		free(job);
		return r;
	}
	*ret = job;
	return 0;
}

int cmdline_reads_ask(struct cmdline_reads *reads, const struct process_ref *process,
		      uint64_t party, uint64_t now_ns)
{
	struct cmdline_read row = {
		.pid = process->pid,
		.start_ns = process->start_ns,
		.party = party,
		.begun_ns = now_ns,
		.awaited = true,
	};
	int r = may_ask(reads, party) ? submit(reads, process, &row.job) : -EBUSY;

	if (r < 0)
		return r;
	memcpy(row.comm, process->comm, strnlen(process->comm, sizeof(row.comm) - 1));
	reads->rows[reads->count++] = row;
	return 0;
}

struct cmdline_read *cmdline_reads_find(struct cmdline_reads *reads, uint32_t pid)
{
	for (uint32_t i = 0; i < reads->count; i++)
		if (reads->rows[i].pid == pid)
			return &reads->rows[i];
	return NULL;
}

void cmdline_reads_forget(struct cmdline_reads *reads, struct cmdline_read *read)
{
	remove_row(reads, read);
}

static uint32_t count_awaited(const struct cmdline_reads *reads, bool finished)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < reads->count; i++)
		count += reads->rows[i].awaited && reads->rows[i].finished == finished;
	return count;
}

bool cmdline_reads_await(struct cmdline_reads *reads)
{
	bool all;

	while (count_awaited(reads, false) && reads->wait_left_ns >= NSEC_PER_MSEC) {
		struct pollfd fd = { .fd = offload_fd(reads->offload), .events = POLLIN };
		uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), took_ns;

		(void)poll(&fd, 1, (int)(reads->wait_left_ns / NSEC_PER_MSEC));
		took_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
		reads->wait_left_ns -=
			took_ns < reads->wait_left_ns ? took_ns : reads->wait_left_ns;
		take_answers(reads);
	}
	all = !count_awaited(reads, false) && count_awaited(reads, true);
	for (uint32_t i = 0; i < reads->count; i++)
		reads->rows[i].awaited = false;
	return all;
}

uint32_t cmdline_reads_outstanding(const struct cmdline_reads *reads)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < reads->count; i++)
		count += !reads->rows[i].finished;
	return count;
}

void cmdline_reads_init(struct cmdline_reads *reads, int proc_fd, void (*start_thread)(void))
{
	const struct offload_options options = {
		.max_threads = THREADS,
		.max_waiting = CMDLINE_READS_MAX - THREADS,
		.start_thread = start_thread,
	};

	*reads = (struct cmdline_reads){ .proc_fd = proc_fd };
	if (offload_new(&options, &reads->offload) < 0)
		reads->offload = NULL;
}

void cmdline_reads_release(struct cmdline_reads *reads)
{
	offload_free(reads->offload, END_PATIENCE);
	*reads = (struct cmdline_reads){ .proc_fd = -1 };
}
