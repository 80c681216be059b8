/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines of processes that may be virtual machines, read on threads.
 *
 * /proc/PID/cmdline is in the memory of its process: a reader waits for that process's mmap_lock,
 * which any user's process can hold for ever, by a page fault on a file system that does not
 * answer; so can a QEMU with its image on a dead NFS. docs/design/owners.md lists which other files
 * in /proc can wait.
 *
 * There is one read per process at a time, CMDLINE_READS_MAX in all, and reads for untrusted
 * parties use at most half of the threads. A read that takes longer than CMDLINE_LATE_NS is counted
 * and continues: its result is used whenever it comes.
 */
#pragma once

#include "base/offload.h"
#include "workload/identity.h"
#include "workload/vm_cmdline.h"

#define CMDLINE_READS_MAX 32  /* under way */
#define CMDLINE_ROWS_MAX  256 /* and answers that are not fetched yet */
#define CMDLINE_LATE_NS   (1 * 1000000000ULL)

/* One request and, once it has finished, its result. */
struct cmdline_read {
	uint32_t pid;
	uint64_t start_ns;
	char comm[16];
	uint64_t party; /* the party that is responsible if it hangs; 0: none, it is trusted */
	bool finished;
	bool was_read;   /* there was a command line; else it is gone, or a zombie */
	bool is_machine; /* and it is a machine's: vm */
	struct vm_description vm;
	/* the rest is of the module */
	uint64_t begun_ns;
	bool late, awaited;
	struct cmdline_job *job;
};

struct cmdline_reads {
	struct offload *offload; /* NULL: no threads, all reads are refused */
	int proc_fd;             /* borrowed */
	uint64_t wait_left_ns;   /* of this interval's patience */
	struct cmdline_read rows[CMDLINE_ROWS_MAX];
	uint32_t count;
	uint64_t late; /* cumulative */
};

/*
 * @start_thread: see struct offload_options. Without memory or descriptors all reads are refused:
 * processes belong to their cgroups then.
 */
void cmdline_reads_init(struct cmdline_reads *reads, int proc_fd, void (*start_thread)(void));
/* Waits for a moment; a read that hangs is left to its thread. */
void cmdline_reads_release(struct cmdline_reads *reads);
/*
 * Once per interval. @now_ns: BOOTTIME; @patience_ns: how long all of this interval's
 * cmdline_reads_await() may take.
 */
void cmdline_reads_begin(struct cmdline_reads *reads, uint64_t now_ns, uint64_t patience_ns);
/*
 * Begins a read for a pid that has none under way. 0; -EBUSY: too many are under way, try again; or
 * -errno: the process is gone, or hidden.
 */
int cmdline_reads_ask(struct cmdline_reads *reads, const struct process_ref *process,
		      uint64_t party, uint64_t now_ns);
/* The read of that pid, finished or not; NULL: none. Valid until the next ask, begin or forget. */
struct cmdline_read *cmdline_reads_find(struct cmdline_reads *reads, uint32_t pid);
/* Forgets a finished one. */
void cmdline_reads_forget(struct cmdline_reads *reads, struct cmdline_read *read);
/*
 * Waits for the reads that were requested since the last call. true: there were some, and all have
 * finished.
 */
bool cmdline_reads_await(struct cmdline_reads *reads);
/* Reads that have not finished. */
uint32_t cmdline_reads_outstanding(const struct cmdline_reads *reads);
