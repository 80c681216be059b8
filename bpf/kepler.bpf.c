// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Run times of threads, for which nothing runs at a context switch; what does is in switches.bpf.h,
 * and is loaded only where it is wanted. Once per interval a pass walks all threads (`walk` from
 * 6.7, `iterate` from 5.8) and reports those that ran since the last pass; `ended` reports threads
 * that end in between.
 *
 * A thread is skipped if it last arrived on a CPU before the last pass began, is on none now, and
 * was on none when the last pass checked it. All three conditions are needed: a thread that runs
 * across a pass and then sleeps has an old arrival, and only its mark brings it into the next pass.
 * Marks are bits hashed by address: two threads that share one cost a needless record. Arrivals are
 * compared with the reader's own arrival, because no program can read the scheduler's clock.
 *
 * An end is taken at sched_process_free, a grace period after the last context switch: only there
 * is the run time final (at sched_process_exit it lacks the running slice, up to a tick). Until its
 * parent waits, a zombie is still walked. The exit is reported as well, with the thread's identity
 * and a run time to fall back on: where a kernel guards a process from BPF no program runs in an
 * interrupt on top of it, and sched_process_free may happen there. Elsewhere user space detaches
 * that program.
 *
 * A cgroup is reported when it is created: it may be removed by the time its first process is seen,
 * and the id of a removed cgroup cannot be opened. The file is long because all of these programs
 * are loaded as one object and share its maps.
 */
#include "kepler_cgroup.bpf.h"
#include "kepler_core.bpf.h"
#include "kepler_types.h"
#include "switches.bpf.h"

#define PF_KTHREAD      0x00200000
#define NO_CPU          (~0U)       /* unknown */
#define CLOCK_MARGIN_NS 10000000ULL /* clocks of two CPUs differ by a tick at most */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before load. */
const volatile __u64 ring_half_bytes = 0;
const volatile bool has_kfuncs = false; /* those of 6.7: the walk is loaded as well */
const volatile bool has_work = false;   /* the programs of switches.bpf.h are loaded */

struct kepler_pass pass;
struct kepler_ends ends_lost;
__u64 cgroups_lost;
__u64 work_lost_ns;         /* counted time of ends that did not fit */
__u64 threads_without_work; /* no memory for their storage */
__u64 marks[2][KEPLER_MARK_WORDS];
volatile __u64 scratch_key; /* a pass is alone, so one is enough */
/*
 * The set of the previous task in a walk: neighbours often share one. Sets outlive the walk,
 * because RCU is held.
 */
struct {
	__u64 set, cgroup_id;
} last_set;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, KEPLER_RECORDS_MAX);
	__type(key, __u32);
	__type(value, struct kepler_thread);
} records SEC(".maps");

/* The work of the records' threads as the switches have shown it, since the last pass. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* user space sets it, with has_work */
	__type(key, __u32);
	__type(value, struct kepler_work);
} works SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 262144); /* user space sets it */
} ends SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, KEPLER_CGROUPS_RING);
} new_cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KEPLER_DROPS_MAX);
	__type(key, struct kepler_drop_key);
	__type(value, struct kepler_drop);
} drops SEC(".maps");

static __always_inline __u32 task_last_cpu(struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.cpu))
		return BPF_CORE_READ(task, thread_info.cpu);
	return bpf_core_field_exists(task->cpu) ? BPF_CORE_READ(task, cpu) : NO_CPU;
}

/* ---- what the switches have shown ---- */

static __always_inline __u64 take_one(const __u64 *all, __u64 *handed_over)
{
	__u64 now = *(const volatile __u64 *)all, difference = now - *handed_over;

	*handed_over = now;
	return difference;
}

/* Hands over what the thread with this storage did since the last time. */
static __always_inline void take_work(struct kepler_thread_work *storage, struct kepler_work *ret)
{
	struct kepler_work *done = &storage->handed_over;

	ret->counted_ns = take_one(&storage->all.counted_ns, &done->counted_ns);
	ret->paired_ns = take_one(&storage->all.paired_ns, &done->paired_ns);
#pragma unroll
	for (int i = 0; i < KEPLER_COUNTERS_MAX; i++)
		ret->counters[i] = take_one(&storage->all.counters[i], &done->counters[i]);
#pragma unroll
	for (int i = 0; i < KEPLER_PLACES_MAX; i++)
		ret->place_ns[i] = take_one(&storage->all.place_ns[i], &done->place_ns[i]);
}

/* The storage of a living thread; one that was there before the switches were counted gets it. */
static __always_inline struct kepler_thread_work *work_of_living(struct task_struct *task)
{
	struct kepler_thread_work *storage = bpf_task_storage_get(&thread_work, task, NULL, 0);

	if (storage)
		return storage;
	storage = bpf_task_storage_get(&thread_work, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!storage)
		__sync_fetch_and_add(&threads_without_work, 1);
	return storage;
}

/* ---- the pass over the living ---- */

static __always_inline void begin_pass(void)
{
	struct task_struct *self = (void *)bpf_get_current_task();
	__u64 before = pass.arrival_ns;

	pass.begun = 1;
	pass.arrival_ns = 0;
	if (bpf_core_field_exists(self->sched_info.last_arrival))
		pass.arrival_ns = BPF_CORE_READ(self, sched_info.last_arrival);
	/* Without an arrival of our own (if this kernel does not keep it) no thread is skipped. */
	pass.threshold_ns = before > CLOCK_MARGIN_NS && pass.arrival_ns && !pass.full
				    ? before - CLOCK_MARGIN_NS
				    : 0;
}

/*
 * Returns true if @task may have run since the last pass; marks it for the next one while it is on
 * a CPU.
 */
static __always_inline bool may_have_run(struct task_struct *task, __u64 key)
{
	__u32 bit = (__u32)(key >> 6) * 2654435761U >> 19; /* 13 bits; tasks are 64-byte aligned */
	__u32 word = (bit >> 6) & (KEPLER_MARK_WORDS - 1);
	__u64 mask = 1ULL << (bit & 63);
	bool on_cpu = bpf_core_field_exists(task->on_cpu) && task->on_cpu;

	barrier(); /* its run time is read after this: the mark covers what it runs later */
	if (on_cpu)
		marks[pass.generation & 1][word] |= mask;
	if (!pass.threshold_ns || on_cpu || marks[~pass.generation & 1][word] & mask)
		return true;
	return !bpf_core_field_exists(task->sched_info.last_arrival) ||
	       task->sched_info.last_arrival >= pass.threshold_ns;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FOUR(a, b, c, d) ((__u32)(a) | (__u32)(b) << 8 | (__u32)(c) << 16 | (__u32)(d) << 24)
#define EIGHT(a, b, c, d, e, f, g, h)                                                              \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)
#else
#define FOUR(a, b, c, d) ((__u32)(d) | (__u32)(c) << 8 | (__u32)(b) << 16 | (__u32)(a) << 24)
#define EIGHT(a, b, c, d, e, f, g, h)                                                              \
	((__u64)(h) | (__u64)(g) << 8 | (__u64)(f) << 16 | (__u64)(e) << 24 | (__u64)(d) << 32 |   \
	 (__u64)(c) << 40 | (__u64)(b) << 48 | (__u64)(a) << 56)
#endif

/* By the first eight bytes of the file name; src/workload/vm_cmdline.c has the names. */
static __always_inline bool is_hypervisor(__u64 name)
{
	switch (name) {
	case EIGHT('q', 'e', 'm', 'u', '-', 's', 'y', 's'): /* qemu-system-… */
	case EIGHT('q', 'e', 'm', 'u', '-', 'k', 'v', 'm'):
	case EIGHT('k', 'v', 'm', 0, 0, 0, 0, 0):
	case EIGHT('c', 'l', 'o', 'u', 'd', '-', 'h', 'y'): /* cloud-hypervisor */
	case EIGHT('f', 'i', 'r', 'e', 'c', 'r', 'a', 'c'): /* firecracker */
	case EIGHT('c', 'r', 'o', 's', 'v', 'm', 0, 0):
	case EIGHT('V', 'B', 'o', 'x', 'H', 'e', 'a', 'd'): /* VBoxHeadless */
	case EIGHT('V', 'i', 'r', 't', 'u', 'a', 'l', 'B'): /* VirtualBoxVM */
		return true;
	}
	return false;
}

/* By the first four bytes of the name that a process gives itself; these exclude most processes. */
static __always_inline bool may_be_hypervisor(__u32 name)
{
	switch (name) {
	case FOUR('q', 'e', 'm', 'u'):
	case FOUR('k', 'v', 'm', 0):
	case FOUR('c', 'l', 'o', 'u'):
	case FOUR('f', 'i', 'r', 'e'):
	case FOUR('c', 'r', 'o', 's'):
	case FOUR('V', 'B', 'o', 'x'):
	case FOUR('V', 'i', 'r', 't'):
		return true;
	}
	return false;
}

/*
 * The program of the task at @key, for processes with a hypervisor's name: they can change the name
 * at any time, and /proc/PID/exe needs CAP_SYS_PTRACE.
 *
 * It is a function of its own with a number as argument, so that the verifier checks it once:
 * inlined it tripled the paths that lead here, and doubled the time of a start.
 */
__noinline __u32 exe_flags(__u64 key)
{
	const struct task_struct *task = (const void *)key;
	union {
		char text[16];
		__u64 word;
	} name = {};
	const unsigned char *at;

	at = BPF_CORE_READ(task, mm, exe_file, f_path.dentry, d_name.name);
	if (bpf_probe_read_kernel_str(name.text, 9, at) <= 0)
		return 0;
	return KEPLER_EXE_READ | (is_hypervisor(name.word) ? KEPLER_HYPERVISOR : 0);
}

/*
 * @task, for plain loads. While a probe read waits for memory nothing else is loaded, as it is a
 * call; plain loads of several tasks overlap, which took a quarter off a pass over 2,000 that ran.
 * The cast makes the pointer untrusted: for each trusted one that is followed the verifier checks
 * by name, on every path, whether the next can be trusted, and searches all of the kernel's types
 * for that. This took a tenth of a start. Kernels without the cast do not do so.
 */
static __always_inline const struct task_struct *readable(const struct task_struct *task)
{
	return has_kfuncs ? bpf_rdonly_cast(task, bpf_core_type_id_kernel(struct task_struct))
			  : task;
}

static __always_inline __u64 readable_cgroup_id(const struct css_set *set)
{
	__s32 index = controller_index();

	return index < 0 ? set->dfl_cgrp->kn->id : set->subsys[index]->cgroup->kn->id;
}

static __always_inline __u32 readable_cpu(const struct task_struct *task)
{
	if (bpf_core_field_exists(task->thread_info.cpu))
		return task->thread_info.cpu;
	return bpf_core_field_exists(task->cpu) ? task->cpu : NO_CPU;
}

/* Two cache misses a thread for each, for the few times that a client asks for it. */
static __always_inline bool wants(enum kepler_wants what)
{
	return *(const volatile __u32 *)&pass.wants & what;
}

static __always_inline void describe(struct kepler_thread *record, const struct task_struct *task,
				     __u64 key)
{
	const struct task_struct *leader = task->group_leader;
	struct css_set *set = leader->cgroups;
	__u32 first_of_name;

	if ((__u64)set != last_set.set) {
		last_set.cgroup_id = readable_cgroup_id(set);
		last_set.set = (__u64)set;
	}
	record->key = key;
	record->run_ns = task->se.sum_exec_runtime;
	record->process_start_ns = leader->start_boottime;
	record->cgroup_id = last_set.cgroup_id;
	record->cgroup_set = (__u64)set;
	record->parent_start_ns = 0;
	record->parent = record->user = 0;
	if (wants(KEPLER_WANTS_PARENTS)) {
		const struct task_struct *parent = leader->real_parent;

		record->parent_start_ns = parent->group_leader->start_boottime;
		record->parent = parent->tgid;
	}
	record->tgid = task->tgid;
	record->tid = task->pid;
	record->cpu = readable_cpu(task);
	record->flags = (task->flags & PF_KTHREAD ? KEPLER_KTHREAD : 0) |
			(task->pid == task->tgid ? KEPLER_LEADER : 0);
	if (wants(KEPLER_WANTS_USERS)) {
		record->user = leader->real_cred->uid.val;
		record->flags |= KEPLER_USER;
	}
	__builtin_memcpy(record->comm, leader->comm, sizeof(record->comm));
	__builtin_memcpy(&first_of_name, record->comm, sizeof(first_of_name));
	if (may_be_hypervisor(first_of_name))
		record->flags |= exe_flags(key);
}

/* The address as a number: the verifier loses its type once it has been in memory. */
static __always_inline __u64 task_key(struct task_struct *task)
{
	scratch_key = (__u64)task;
	return scratch_key;
}

/*
 * Returns true if this walk reports the task; each address is in one of the slices. Both numbers
 * are read again each time: otherwise the verifier tracks their bounds in a register through every
 * iteration of the loop.
 */
static __always_inline bool is_in_slice(__u64 key)
{
	const volatile struct kepler_pass *now = &pass;
	__u32 hash = (__u32)(key >> 6) * 2246822519U;

	return (__u64)hash * now->slices >> 32 == now->slice;
}

static __always_inline void hand_over(struct task_struct *task, __u32 slot)
{
	struct kepler_work *work = bpf_map_lookup_elem(&works, &slot);
	struct kepler_thread_work *storage;

	if (!work)
		return;
	storage = work_of_living(task);
	if (storage)
		take_work(storage, work);
	else
		__builtin_memset(work, 0, sizeof(*work));
}

SEC("syscall")
int walk(void *ctx)
{
	struct task_struct *task;
	struct bpf_iter_task it;
	__u32 looked_at = 0, sent = 0;

	if (!pass.begun)
		begin_pass();
	bpf_rcu_read_lock();
	last_set.set = last_set.cgroup_id = 0;
	bpf_iter_task_new(&it, NULL, TASK_ITER_ALL_THREADS);
	while ((task = bpf_iter_task_next(&it))) {
		struct kepler_thread *record;
		__u64 key = task_key(task);
		__u32 slot;

		looked_at++;
		if (!is_in_slice(key) || !may_have_run(task, key))
			continue;
		if (task->pid ==
		    0) /* the idle task of the first CPU; tested last: it is a cache miss */
			continue;
		slot = sent++;
		record = bpf_map_lookup_elem(&records, &slot);
		if (!record)
			continue;
		describe(record, readable(task), key);
		if (has_work)
			hand_over(task, slot);
	}
	bpf_iter_task_destroy(&it);
	bpf_rcu_read_unlock();
	pass.looked_at = looked_at - 1; /* less the idle task */
	pass.sent = sent;
	return 0;
}

/*
 * Writes a record, and what belongs to it. The thread's work counts as handed over only once it is
 * written: where the buffer is full the kernel calls again with this task.
 */
static __always_inline int write_counted(struct bpf_iter__task *ctx, struct task_struct *task,
					 const struct kepler_thread *record)
{
	struct kepler_counted_thread counted = { .thread = *record };
	struct kepler_thread_work *storage = work_of_living(task);
	struct kepler_work before = {};
	long r;

	if (storage) {
		before = storage->handed_over;
		take_work(storage, &counted.work);
	}
	r = bpf_seq_write(ctx->meta->seq, &counted, sizeof(counted));
	if (r && storage)
		storage->handed_over = before;
	return r;
}

static __always_inline int write_record(struct bpf_iter__task *ctx, struct task_struct *task,
					const struct kepler_thread *record)
{
	if (has_work)
		return write_counted(ctx, task, record);
	return bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
}

SEC("iter/task")
int iterate(struct bpf_iter__task *ctx)
{
	struct kepler_thread record = {};
	struct task_struct *task = ctx->task;
	__u64 key;

	if (!pass.begun)
		begin_pass();
	if (!task)
		return 0;
	key = task_key(task);
	if (may_have_run(task, key)) {
		last_set.set = last_set.cgroup_id = 0;
		describe(&record, readable(task), key);
		if (write_record(ctx, task, &record))
			return 0; /* the buffer is full: the kernel calls again with this task */
		pass.sent++;
	}
	pass.looked_at++;
	return 0;
}

/* ---- ends ---- */

/*
 * The start of the process that @task was a thread of. The leader of a thread that reaped itself
 * may be freed first: its memory then holds something else, or a task younger than @task. 0:
 * unknown.
 */
static __always_inline __u64 process_start(struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	__u64 start_ns = BPF_CORE_READ(leader, start_boottime);
	int tgid = BPF_CORE_READ(task, tgid);

	if (BPF_CORE_READ(task, pid) == tgid)
		return BPF_CORE_READ(task, start_boottime);
	if (BPF_CORE_READ(leader, pid) != tgid || BPF_CORE_READ(leader, tgid) != tgid ||
	    BPF_CORE_READ(leader, group_leader) != leader ||
	    start_ns > BPF_CORE_READ(task, start_boottime))
		return 0;
	return start_ns;
}

/*
 * The ring is full: the time goes to the cgroup if no pass can have reported the thread, else to
 * the node.
 */
static __always_inline void count_lost(struct task_struct *task)
{
	__u64 run_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	struct kepler_drop_key key = { .generation = ends_lost.generation };
	struct kepler_drop *drop, first = {};

	__sync_fetch_and_add(&ends_lost.count, 1);
	if (BPF_CORE_READ(task, start_boottime) <= ends_lost.young_after_ns) {
		__sync_fetch_and_add(&ends_lost.old_count, 1);
		__sync_fetch_and_add(&ends_lost.old_run_ns, run_ns);
		return;
	}
	key.cgroup_id = cgroup_id_in(BPF_CORE_READ(task, cgroups));
	drop = bpf_map_lookup_elem(&drops, &key);
	if (!drop) {
		bpf_map_update_elem(&drops, &key, &first, BPF_NOEXIST);
		drop = bpf_map_lookup_elem(&drops, &key);
	}
	if (!drop) {
		__sync_fetch_and_add(&ends_lost.young_run_ns, run_ns);
		return;
	}
	__sync_fetch_and_add(&drop->run_ns, run_ns);
	__sync_fetch_and_add(&ends_lost.young_cgroup_ns, run_ns);
	__sync_fetch_and_add(&ends_lost.young_count, 1);
}

/*
 * The last parent of a task that is freed. It lived longer than the task, but its memory may have
 * been freed since: what is younger than its child is another process.
 */
static __always_inline void fill_parent(struct kepler_thread *record, struct task_struct *task)
{
	struct task_struct *parent = BPF_CORE_READ(task, real_parent);

	record->parent_start_ns = BPF_CORE_READ(parent, group_leader, start_boottime);
	record->parent = BPF_CORE_READ(parent, tgid);
	if (record->parent_start_ns > BPF_CORE_READ(task, start_boottime))
		record->parent_start_ns = record->parent = 0;
}

static __always_inline void fill_end(struct kepler_thread *record, struct task_struct *task)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);

	record->key = (__u64)task;
	record->run_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	record->process_start_ns = process_start(task);
	record->cgroup_id = cgroup_id_in(set);
	record->cgroup_set = (__u64)set;
	record->parent_start_ns = 0;
	record->parent = record->user = 0;
	if (wants(KEPLER_WANTS_PARENTS))
		fill_parent(record, task);
	record->tgid = BPF_CORE_READ(task, tgid);
	record->tid = BPF_CORE_READ(task, pid);
	record->cpu = task_last_cpu(task);
	record->flags =
		(BPF_CORE_READ(task, flags) & PF_KTHREAD ? KEPLER_KTHREAD : 0) |
		(record->tid == record->tgid ? KEPLER_LEADER : 0) |
		(record->process_start_ns ? 0 : KEPLER_START_UNKNOWN) |
		(BPF_CORE_READ(task, start_boottime) > ends_lost.young_after_ns ? KEPLER_YOUNG : 0);
	if (wants(KEPLER_WANTS_USERS)) {
		record->user = BPF_CORE_READ(task, real_cred, uid.val);
		record->flags |= KEPLER_USER;
	}
	BPF_CORE_READ_INTO(&record->comm, task, comm);
}

/* The reader empties the ring in its pass; it is woken early only when half of it is full. */
static __always_inline bool is_ring_half_full(void)
{
	return bpf_ringbuf_query(&ends, BPF_RB_AVAIL_DATA) >= ring_half_bytes;
}

static __always_inline __u64 wakeup(void)
{
	return is_ring_half_full() ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline int tell_end(struct task_struct *task)
{
	struct kepler_thread *record = bpf_ringbuf_reserve(&ends, sizeof(*record), 0);

	if (!record) {
		count_lost(task);
		return 0;
	}
	fill_end(record, task);
	bpf_ringbuf_submit(record, wakeup());
	return 0;
}

/* The same with what the switches have shown of the thread. */
static __always_inline int tell_counted_end(struct task_struct *task)
{
	struct kepler_thread_work *storage = bpf_task_storage_get(&thread_work, task, NULL, 0);
	struct kepler_counted_thread *record = bpf_ringbuf_reserve(&ends, sizeof(*record), 0);

	if (!record) {
		if (storage)
			__sync_fetch_and_add(&work_lost_ns,
					     storage->all.counted_ns -
						     storage->handed_over.counted_ns);
		count_lost(task);
		return 0;
	}
	fill_end(&record->thread, task);
	if (storage)
		take_work(storage, &record->work);
	else
		__builtin_memset(&record->work, 0, sizeof(record->work));
	bpf_ringbuf_submit(record, wakeup());
	return 0;
}

/* Exits are optional, so they leave the second half of the ring to the ends. */
static __always_inline int tell_exit(struct task_struct *task)
{
	struct kepler_thread *record = NULL;

	if (!is_ring_half_full())
		record = bpf_ringbuf_reserve(&ends, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&ends_lost.exits_run_ns,
				     BPF_CORE_READ(task, se.sum_exec_runtime));
		__sync_fetch_and_add(&ends_lost.exits, 1);
		return 0;
	}
	fill_end(record, task);
	record->flags |= KEPLER_EXITING;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(exiting, struct task_struct *task)
{
	return tell_exit(task);
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(ended, struct task_struct *task)
{
	return has_work ? tell_counted_end(task) : tell_end(task);
}

/* The same where typed tracepoints are refused; without a type a task's storage is out of reach. */
SEC("raw_tp/sched_process_exit")
int BPF_PROG(exiting_raw, struct task_struct *task)
{
	return tell_exit(task);
}

SEC("raw_tp/sched_process_free")
int BPF_PROG(ended_raw, struct task_struct *task)
{
	return tell_end(task);
}

/* ---- new cgroups ---- */

static __always_inline bool is_in_our_hierarchy(struct cgroup *cgroup)
{
	__s32 index = controller_index();

	if (index < 0)
		return BPF_CORE_READ(cgroup, root, hierarchy_id) == 0;
	return BPF_CORE_READ(cgroup, root, subsys_mask) >> (index & 31) & 1;
}

SEC("raw_tp/cgroup_mkdir")
int BPF_PROG(cgroup_made, struct cgroup *cgroup, const char *path)
{
	struct kepler_new_cgroup *record;

	if (!is_in_our_hierarchy(cgroup))
		return 0;
	record = bpf_ringbuf_reserve(&new_cgroups, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&cgroups_lost, 1);
		return 0;
	}
	record->cgroup_id = BPF_CORE_READ(cgroup, kn, id);
	record->path[0] = '\0';
	bpf_probe_read_kernel_str(record->path, sizeof(record->path), path);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}
