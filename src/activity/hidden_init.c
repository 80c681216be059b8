// SPDX-License-Identifier: Apache-2.0
/*
 * This process itself shows whether procfs and BPF count pids alike: it must be in the passes with
 * its pid and its start in procfs.
 */
#include "activity/hidden_init.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "host/proc.h"

#define INIT_PID 1U
#define INIT_KEY 1U /* of its thread: no address of a task */

int hidden_init_open(const char *procfs, struct hidden_init *ret)
{
	*ret = (struct hidden_init){ .proc_fd = open(procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	return ret->proc_fd < 0 ? -errno : 0;
}

void hidden_init_close(struct hidden_init *init)
{
	if (init->proc_fd >= 0)
		(void)close(init->proc_fd);
	init->proc_fd = -1;
}

static uint64_t run_ns_of(const struct proc_stat *stat)
{
	return stat->self_ticks * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* What is looked for in the passes. */
struct search {
	uint32_t own_pid;
	uint64_t own_start_ns;
	bool has_own, has_init;
};

static void compare(void *userdata, const struct activity_sample *sample)
{
	const struct process_key *key = &sample->key;
	struct search *search = userdata;

	search->has_init |= key->pid == INIT_PID;
	search->has_own |= key->pid == search->own_pid &&
			   proc_is_same_start(key->start_ns, search->own_start_ns);
}

int hidden_init_look(struct hidden_init *init, const struct thread_table *table)
{
	struct search search = { .own_pid = (uint32_t)getpid() };
	struct proc_stat stat;
	int r = proc_read_stat(init->proc_fd, search.own_pid, &stat);

	search.own_start_ns = r == 0 ? proc_start_ns(&stat) : 0;
	thread_table_visit(table, compare, &search);
	if (search.has_init)
		return 0;
	if (r < 0)
		return r;
	if (!thread_table_is_complete(table))
		return -EAGAIN;
	if (!search.has_own)
		return -EXDEV;
	r = proc_read_stat(init->proc_fd, INIT_PID, &stat);
	if (r < 0)
		return r;
	init->hidden = true;
	init->first_run_ns = init->run_ns = run_ns_of(&stat);
	return 1;
}

bool hidden_init_read(struct hidden_init *init, struct kepler_thread *ret)
{
	struct proc_stat stat;

	if (!init->hidden || proc_read_stat(init->proc_fd, INIT_PID, &stat) < 0)
		return false;
	if (run_ns_of(&stat) > init->run_ns) /* the kernel's scaling may take a tick back */
		init->run_ns = run_ns_of(&stat);
	*ret = (struct kepler_thread){
		.key = INIT_KEY,
		.run_ns = init->run_ns,
		.process_start_ns = proc_start_ns(&stat),
		.tgid = INIT_PID,
		.tid = INIT_PID,
		.cpu = stat.threads <= 1 ? stat.cpu : UINT32_MAX, /* it is the leader's */
		.flags = KEPLER_LEADER,
	};
	memcpy(ret->comm, stat.comm, KEPLER_COMM_MAX);
	return true;
}

uint64_t hidden_init_cpu_ns(const struct hidden_init *init)
{
	return init->run_ns - init->first_run_ns;
}
