// SPDX-License-Identifier: Apache-2.0
/*
 * A batch belongs to one side at a time: the loop collects it, the thread reads, the loop takes the
 * result. While the thread has it the loop reads only its progress, an atomic, and its size.
 */
#include "workload/cgroup/cgroup_reads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/macro.h"
#include "host/proc.h"

#define TEXT_MAX     (16U << 10) /* v1: a dozen lines of up to PATH_MAX; what is beyond is cut */
#define PATIENCE_NS  (100 * NSEC_PER_MSEC)
#define WITNESSES    2 /* of a set */
#define INTERVAL_MAX (1 * NSEC_PER_SEC)
#define END_PATIENCE (100 * NSEC_PER_MSEC)

struct cgroup_batch {
	struct offload_job job; /* first: the two are one address */
	int proc_fd;            /* its own, because the resolver may end before the thread does */
	uint64_t begun_ns;
	bool awaited, is_late;
	atomic_uint done;
	uint32_t count, size;
	uint32_t to_read; /* without those that share */
	struct cgroup_read *reads;
	struct map sets; /* (set, cgroup id) → the first of it */
};

static struct map_key key_of(const struct process_ref *process)
{
	return (struct map_key){ process->pid, process->start_ns };
}

void cgroup_batch_free(struct cgroup_batch *batch)
{
	if (!batch)
		return;
	for (uint32_t i = 0; i < batch->count; i++)
		free(batch->reads[i].text);
	cleanup_fd(&batch->proc_fd);
	free(batch->reads);
	map_release(&batch->sets);
	free(batch);
}

/* ---- on the thread ---- */

/* The pid may be another process's by now. */
static bool is_still_it(int proc_fd, const struct cgroup_read *read)
{
	struct proc_stat found;

	return proc_read_stat(proc_fd, read->pid, &found) == 0 &&
	       proc_is_same_start(proc_start_ns(&found), read->start_ns);
}

static void read_one(const struct cgroup_batch *batch, uint32_t i, char *text)
{
	struct cgroup_read *read = &batch->reads[i], *first = &batch->reads[read->first];

	if (read->place >= WITNESSES && first->is_shared)
		return;
	if (proc_read_text(batch->proc_fd, read->pid, "cgroup", text, TEXT_MAX) < 0 ||
	    !is_still_it(batch->proc_fd, read))
		return;
	read->text = strdup(text);
	if (read->place == WITNESSES - 1 && first->text)
		first->is_shared = strcmp(first->text, text) == 0;
}

static void job_run(struct offload_job *base)
{
	struct cgroup_batch *batch = (struct cgroup_batch *)base;
	CLEANUP_FREE char *text = malloc(TEXT_MAX);

	for (uint32_t i = 0; text && i < batch->count; i++) {
		read_one(batch, i, text);
		atomic_fetch_add_explicit(&batch->done, 1, memory_order_relaxed);
	}
}

static void job_drop(struct offload_job *base)
{
	cgroup_batch_free((struct cgroup_batch *)base);
}

/* ---- the loop's side ---- */

void cgroup_reads_init(struct cgroup_reads *reads, int proc_fd, void (*start_thread)(void),
		       uint64_t patience_ns)
{
	*reads = (struct cgroup_reads){
		.start_thread = start_thread,
		.proc_fd = proc_fd,
		.patience_ns = patience_ns ? patience_ns : PATIENCE_NS,
		.wait_left_ns = INTERVAL_MAX,
	};
	map_init(&reads->asked, UINT32_MAX / 2);
}

void cgroup_reads_release(struct cgroup_reads *reads)
{
	offload_free(reads->offload, END_PATIENCE);
	cgroup_batch_free(reads->next);
	map_release(&reads->asked);
	*reads = (struct cgroup_reads){ .proc_fd = -1 };
}

void cgroup_reads_begin(struct cgroup_reads *reads, uint64_t now_ns)
{
	struct cgroup_batch *batch = reads->at_work;

	reads->now_ns = now_ns;
	reads->wait_left_ns = reads->patience_ns > INTERVAL_MAX ? reads->patience_ns : INTERVAL_MAX;
	if (reads->asked_count) {
		map_release(&reads->asked);
		map_init(&reads->asked, UINT32_MAX / 2);
		reads->asked_count = 0;
	}
	if (batch && !batch->is_late && now_ns - batch->begun_ns > CGROUP_READS_LATE_NS) {
		batch->is_late = true;
		reads->late++;
	}
}

static struct cgroup_batch *new_batch(const struct cgroup_reads *reads)
{
	struct cgroup_batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return NULL;
	batch->job.run = job_run;
	batch->job.drop = job_drop;
	batch->begun_ns = reads->now_ns;
	map_init(&batch->sets, CGROUP_BATCH_MAX);
	batch->proc_fd = fcntl(reads->proc_fd, F_DUPFD_CLOEXEC, 0);
	if (batch->proc_fd < 0) {
		free(batch);
		return NULL;
	}
	return batch;
}

static bool has_room(const struct cgroup_batch *batch, const struct cgroup_read *read)
{
	return batch->count < CGROUP_BATCH_MAX &&
	       (read->place >= WITNESSES || batch->to_read < CGROUP_READS_MAX);
}

static struct map_key set_of(const struct cgroup_read *read)
{
	return (struct map_key){ read->cgroup_set, read->cgroup_id };
}

/* After the last of its set that the batch has. */
static void take_place(const struct cgroup_batch *batch, struct cgroup_read *read)
{
	uint32_t last = read->may_share ? map_find(&batch->sets, set_of(read)) : MAP_NONE;

	read->first = batch->count;
	if (last == MAP_NONE || batch->reads[last].cgroup_err != read->cgroup_err)
		return;
	read->first = batch->reads[last].first;
	read->place = batch->reads[last].place + 1;
}

static int add_read(struct cgroup_batch *batch, const struct cgroup_read *read)
{
	int r = ARRAY_RESERVE(batch->reads, batch->size, batch->count + 1U);

	if (r < 0)
		return r;
	if (read->may_share)
		(void)map_put(&batch->sets, set_of(read), batch->count); /* else it is not shared */
	batch->to_read += read->place < WITNESSES;
	batch->reads[batch->count++] = *read;
	return 0;
}

bool cgroup_reads_ask(struct cgroup_reads *reads, const struct process_ref *process, int cgroup_err)
{
	struct cgroup_batch *batch;
	struct cgroup_read read = {
		.pid = process->pid,
		.start_ns = process->start_ns,
		.cgroup_id = process->cgroup_id,
		.cgroup_set = process->cgroup_set,
		.cgroup_err = cgroup_err,
		.may_share = process->cgroup_set != 0,
	};

	if (reads->proc_fd < 0 || map_find(&reads->asked, key_of(process)) != MAP_NONE)
		return false;
	if (!reads->at_work && !reads->next)
		reads->next = new_batch(reads);
	batch = reads->next;
	if (batch)
		take_place(batch, &read);
	if (reads->at_work || (batch && !has_room(batch, &read))) {
		reads->refused = true;
		return false;
	}
	memcpy(read.comm, process->comm, strnlen(process->comm, sizeof(read.comm) - 1));
	if (!batch || map_put(&reads->asked, key_of(process), 0) < 0 || add_read(batch, &read) < 0)
		return false;
	reads->asked_count++;
	return true;
}

static int submit(struct cgroup_reads *reads)
{
	const struct offload_options options = {
		.max_threads = 1,
		.start_thread = reads->start_thread,
	};
	int r = reads->offload ? 0 : offload_new(&options, &reads->offload);

	if (r == 0)
		r = offload_submit(reads->offload, &reads->next->job);
	if (r < 0) {
		cgroup_batch_free(TAKE_PTR(reads->next));
		return r;
	}
	reads->at_work = TAKE_PTR(reads->next);
	return 0;
}

/* Until it has answered, or one read has taken too long, or all together have. */
static void wait_for(struct cgroup_reads *reads)
{
	struct pollfd fd = { .fd = offload_fd(reads->offload), .events = POLLIN };
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), moved_ns = began_ns, now_ns = began_ns;
	unsigned done = 0;

	while (now_ns - moved_ns < reads->patience_ns && now_ns - began_ns < reads->wait_left_ns) {
		unsigned now_done;

		if (poll(&fd, 1, (int)(reads->patience_ns / NSEC_PER_MSEC / 4 + 1)) > 0)
			break;
		now_ns = clock_ns(CLOCK_MONOTONIC);
		now_done = atomic_load_explicit(&reads->at_work->done, memory_order_relaxed);
		if (now_done != done)
			moved_ns = now_ns;
		done = now_done;
	}
	now_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
	reads->wait_left_ns -= now_ns < reads->wait_left_ns ? now_ns : reads->wait_left_ns;
}

void cgroup_reads_await(struct cgroup_reads *reads)
{
	if (reads->next && submit(reads) == 0)
		wait_for(reads);
}

struct cgroup_batch *cgroup_reads_take(struct cgroup_reads *reads)
{
	struct offload_job *job = reads->at_work ? offload_take(reads->offload) : NULL;

	if (job)
		reads->at_work = NULL;
	return (struct cgroup_batch *)job;
}

const struct cgroup_read *cgroup_batch_reads(const struct cgroup_batch *batch, uint32_t *ret_count)
{
	*ret_count = batch->count;
	return batch->reads;
}

const char *cgroup_batch_text(const struct cgroup_batch *batch, uint32_t i)
{
	const struct cgroup_read *read = &batch->reads[i], *first = &batch->reads[read->first];

	return read->text || !first->is_shared ? read->text : first->text;
}

uint32_t cgroup_reads_outstanding(const struct cgroup_reads *reads)
{
	const struct cgroup_batch *batch = reads->at_work;

	return batch ? batch->count - atomic_load_explicit(&batch->done, memory_order_relaxed) : 0;
}
