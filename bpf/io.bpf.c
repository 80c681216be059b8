// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Work of the kernel for input and output, by the cgroup that has caused it: softirqs of network
 * and block devices with their time, bytes, pages of the page cache. An object of its own, because
 * it is loaded only where it is wanted. User space attaches each program to the tracepoints that it
 * is for (src/activity/io_signals.c), so what a kernel lacks costs one signal.
 *
 * A softirq runs on top of whatever task was there, so the task says nothing about the cause. The
 * cause is a socket or a request for a block device. Tracepoints show some of them between entry
 * and exit, and the time up to the next cause, or the exit, counts for the cause before it. While
 * it stays the same, which it does for most packets, an event costs one comparison. The softirq
 * itself is counted for its last cause. Where none is seen (forwarded packets, timers of a queue)
 * count and time are added up without a cgroup.
 *
 * A socket has a cgroup of v2 only. Where ids are taken from v1 a table notes the cgroup of the
 * task that last sent or received through a socket. Requests are noted in it as well, by their
 * first bio, everywhere: a bio's own cgroup may be an ancestor, if the controller io is not enabled
 * further down, and kernels do not agree in which hierarchy it is.
 */
#include "kepler_cgroup.bpf.h"
#include "kepler_core.bpf.h"
#include "kepler_types.h"

/* The kernel's vectors and 1; 0 means no softirq. */
#define SOFTIRQ_NET_TX   3
#define SOFTIRQ_NET_RX   4
#define SOFTIRQ_BLOCK    5

#define TCP_TIME_WAIT    6 /* sockets in these states are smaller, and have no cgroup */
#define TCP_NEW_SYN_RECV 12

#define AF_INET          2
#define AF_INET6         10
#define PF_KTHREAD       0x00200000

#define FOLIO_BATCH      31 /* that one lookup of the page cache finds; 15 before Linux 6.8 */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Set before load. Linux 5.11 brought a task for plain loads, which take a small part of the time
 * of probe reads; and tracepoints of bios lost the queue as their first argument.
 */
const volatile bool has_typed_task = false;
const volatile bool has_queue_argument = false;
/* From 6.3 calls show the owners of sockets; before, only packets do. */
const volatile bool has_socket_calls = false;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_cgroup_data {
	struct cgroup *cgroup; /* from 5.15 */
	__u64 val;             /* before: a pointer, unless its lowest bit is set */
};

struct sock_common {
	unsigned short skc_family;
	volatile unsigned char skc_state;
};

struct sock {
	struct sock_common __sk_common;
	struct sock_cgroup_data sk_cgrp_data;
};

struct sk_buff {
	struct sock *sk;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct bvec_iter {
	unsigned int bi_size;
};

struct bio {
	struct bvec_iter bi_iter;
	struct blkcg_gq *bi_blkg;
};

struct request {
	struct bio *bio;
};

#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, KEPLER_IO_CGROUPS_MAX); /* user space sets it */
	__type(key, __u64);                         /* cgroup id */
	__type(value, struct kepler_io);
} amounts SEC(".maps");

/* Which cgroup used a socket, or made a request, by address. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, KEPLER_IO_CAUSES_MAX);
	__type(key, __u64);
	__type(value, __u64);
} causes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kepler_io_cpu);
} cpus SEC(".maps");

static __always_inline struct kepler_io_cpu *this_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

static __always_inline bool is_of_v2(void)
{
	return controller_index() < 0;
}

static __always_inline bool is_kernel_thread(void)
{
	struct task_struct *task;

	if (has_typed_task)
		return bpf_get_current_task_btf()->flags & PF_KTHREAD;
	task = (struct task_struct *)bpf_get_current_task();
	return BPF_CORE_READ(task, flags) & PF_KTHREAD;
}

static __always_inline __u64 current_cgroup(void)
{
	__s32 index = controller_index();
	struct task_struct *task;
	struct css_set *set;

	if (has_typed_task) {
		set = bpf_get_current_task_btf()->cgroups;
		return index < 0 ? set->dfl_cgrp->kn->id : set->subsys[index]->cgroup->kn->id;
	}
	task = (struct task_struct *)bpf_get_current_task();
	return cgroup_id_in(BPF_CORE_READ(task, cgroups));
}

static __always_inline struct kepler_io *io_of(__u64 cgroup)
{
	struct kepler_io *io = bpf_map_lookup_elem(&amounts, &cgroup);
	struct kepler_io first = {};

	if (io)
		return io;
	bpf_map_update_elem(&amounts, &cgroup, &first, BPF_NOEXIST);
	return bpf_map_lookup_elem(&amounts, &cgroup);
}

/* Where amounts of @cgroup are added up; without one, or room for it, those of no cgroup. */
static __always_inline struct kepler_io *account_of(struct kepler_io_cpu *cpu, __u64 cgroup)
{
	struct kepler_io *io = cgroup ? io_of(cgroup) : NULL;

	if (io)
		return io;
	if (cgroup)
		cpu->dropped++;
	return &cpu->without_cause;
}

static __always_inline void add(__u64 cgroup, enum kepler_io_amount what, __u64 amount)
{
	struct kepler_io_cpu *cpu = this_cpu();

	if (cpu)
		account_of(cpu, cgroup)->amount[what] += amount;
}

/* ---- causes ---- */

static __always_inline void note_cause(__u64 address, __u64 cgroup)
{
	__u64 *known = bpf_map_lookup_elem(&causes, &address);

	if (known)
		*known = cgroup;
	else
		bpf_map_update_elem(&causes, &address, &cgroup, BPF_ANY);
}

static __always_inline __u64 noted_cause(__u64 address)
{
	__u64 *known = bpf_map_lookup_elem(&causes, &address);

	return known ? *known : 0;
}

static __always_inline __u64 cgroup_of_socket(struct sock *sk)
{
	struct cgroup *cgroup;
	unsigned char state;
	__u64 value;

	if (!is_of_v2())
		return noted_cause((__u64)sk);
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (state == TCP_TIME_WAIT || state >= TCP_NEW_SYN_RECV)
		return 0;
	if (bpf_core_field_exists(sk->sk_cgrp_data.cgroup)) {
		cgroup = BPF_CORE_READ(sk, sk_cgrp_data.cgroup);
	} else {
		value = BPF_CORE_READ(sk, sk_cgrp_data.val);
		cgroup = value & 1 ? NULL : (struct cgroup *)(value & ~3ULL);
	}
	return cgroup ? BPF_CORE_READ(cgroup, kn, id) : 0;
}

/* The cgroup of a bio itself, if it is in the hierarchy of the ids; 0: nothing. */
static __always_inline __u64 cgroup_of_bio(struct bio *bio)
{
	struct cgroup *cgroup;
	__s32 index = controller_index();

	if (!bpf_core_field_exists(bio->bi_blkg) || !bpf_core_type_exists(struct blkcg_gq))
		return 0;
	cgroup = BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup);
	if (!cgroup)
		return 0;
	if (index < 0 ? BPF_CORE_READ(cgroup, root, hierarchy_id) != 0
		      : !(BPF_CORE_READ(cgroup, root, subsys_mask) >> (index & 31) & 1))
		return 0;
	return BPF_CORE_READ(cgroup, kn, id);
}

/* The rest of the softirq, up to the next cause, is that of @cgroup. */
static __always_inline void change_cause(struct kepler_io_cpu *cpu, __u64 cause, __u64 cgroup)
{
	__u64 now_ns;

	if (!cgroup)
		return;
	cpu->cause = cause;
	if (cgroup == cpu->cgroup)
		return;
	if (cpu->cgroup) {
		now_ns = bpf_ktime_get_ns();
		account_of(cpu, cpu->cgroup)->amount[KEPLER_IO_SOFTIRQ_NS] +=
			now_ns - cpu->since_ns;
		cpu->since_ns = now_ns;
	}
	cpu->cgroup = cgroup;
}

static __always_inline bool is_counted(__u32 softirq)
{
	return softirq >= SOFTIRQ_NET_TX && softirq <= SOFTIRQ_BLOCK;
}

static __always_inline void see_socket(struct sock *sk)
{
	struct kepler_io_cpu *cpu = this_cpu();

	if (cpu && is_counted(cpu->softirq) && sk && (__u64)sk != cpu->cause)
		change_cause(cpu, (__u64)sk, cgroup_of_socket(sk));
}

/* ---- softirqs ---- */

/* Counts all kinds: in a softirq the task says nothing about the cause. */
SEC("raw_tp")
int BPF_PROG(softirq_begins, __u32 vector)
{
	struct kepler_io_cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	cpu->softirq = vector + 1;
	if (!is_counted(cpu->softirq))
		return 0;
	cpu->cause = cpu->cgroup = 0;
	cpu->since_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("raw_tp")
int BPF_PROG(softirq_ends, __u32 vector)
{
	struct kepler_io_cpu *cpu = this_cpu();
	__u32 softirq = vector + 1, began;
	struct kepler_io *io;

	if (!cpu)
		return 0;
	began = cpu->softirq;
	cpu->softirq = 0;
	if (began != softirq || !is_counted(softirq))
		return 0;
	io = account_of(cpu, cpu->cgroup);
	io->amount[KEPLER_IO_SOFTIRQ_NS] += bpf_ktime_get_ns() - cpu->since_ns;
	if (softirq == SOFTIRQ_NET_TX)
		io->amount[KEPLER_IO_NET_TX]++;
	else if (softirq == SOFTIRQ_NET_RX)
		io->amount[KEPLER_IO_NET_RX]++;
	else
		io->amount[KEPLER_IO_BLOCK]++;
	return 0;
}

/* ---- network ---- */

/* TCP begins with a segment, also one without data; or data waits in a socket of any kind. */
SEC("raw_tp")
int BPF_PROG(socket_is_met, struct sock *sk)
{
	see_socket(sk);
	return 0;
}

SEC("raw_tp")
int BPF_PROG(packet_leaves, struct sk_buff *skb)
{
	struct kepler_io_cpu *cpu = this_cpu();
	struct sock *sk;

	if (!cpu || (!cpu->softirq && (is_of_v2() || has_socket_calls)))
		return 0;
	sk = BPF_CORE_READ(skb, sk);
	if (!sk)
		return 0;
	if (cpu->softirq)
		see_socket(sk);
	else if (!is_kernel_thread())
		note_cause((__u64)sk, current_cgroup());
	return 0;
}

/* Bytes that a process has sent or received, as its calls return them. */
SEC("raw_tp")
int BPF_PROG(bytes_are_moved, struct sock *sk, int bytes)
{
	unsigned short family;
	__u64 cgroup;

	if (bytes <= 0)
		return 0;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (family != AF_INET && family != AF_INET6)
		return 0;
	cgroup = current_cgroup();
	add(cgroup, KEPLER_IO_NET_BYTES, (__u32)bytes);
	if (!is_of_v2() && !is_kernel_thread())
		note_cause((__u64)sk, cgroup);
	return 0;
}

/* ---- block devices ---- */

/*
 * The bio is the first argument of its tracepoints; with a queue it has the number @with_queue. The
 * barrier keeps two loads: the compiler would make one of them, at a computed offset, and verifiers
 * accept only constant offsets of a context.
 */
static __always_inline struct bio *bio_of(struct bpf_raw_tracepoint_args *ctx, int with_queue)
{
	__u64 bio;

	if (has_queue_argument) {
		bio = ctx->args[with_queue];
		barrier_var(bio);
	} else {
		bio = ctx->args[0];
	}
	return (struct bio *)bio;
}

/*
 * Only the lowest of stacked devices takes a bio into a request, so nothing counts twice. A task
 * submits what it reads, and what it writes itself; later writes by the kernel's threads count for
 * the cgroup that has made the pages dirty.
 */
static __always_inline __u64 count_bio(struct bio *bio)
{
	__u64 cgroup = is_kernel_thread() ? cgroup_of_bio(bio) : current_cgroup();

	add(cgroup, KEPLER_IO_BLOCK_BYTES, BPF_CORE_READ(bio, bi_iter.bi_size));
	return cgroup;
}

SEC("raw_tp")
int request_is_made(struct bpf_raw_tracepoint_args *ctx)
{
	struct bio *bio = bio_of(ctx, 1);
	__u64 cgroup;

	if (!bio)
		return 0;
	cgroup = count_bio(bio);
	if (cgroup)
		note_cause((__u64)bio, cgroup);
	return 0;
}

SEC("raw_tp")
int bio_is_appended(struct bpf_raw_tracepoint_args *ctx)
{
	count_bio(bio_of(ctx, 2));
	return 0;
}

/* The bio becomes the first of its request. */
SEC("raw_tp")
int bio_is_prepended(struct bpf_raw_tracepoint_args *ctx)
{
	struct bio *bio = bio_of(ctx, 2);
	__u64 cgroup = count_bio(bio);

	if (cgroup)
		note_cause((__u64)bio, cgroup);
	return 0;
}

SEC("raw_tp")
int BPF_PROG(request_ends, struct request *request)
{
	struct kepler_io_cpu *cpu = this_cpu();
	__u64 bio;

	if (!cpu || cpu->softirq != SOFTIRQ_BLOCK)
		return 0;
	bio = (__u64)BPF_CORE_READ(request, bio);
	if (bio)
		change_cause(cpu, bio, noted_cause(bio));
	return 0;
}

/* ---- page cache ---- */

/*
 * Folios that a read finds there, or has brought in before. The range is the whole rest of the
 * call, although one lookup takes only a batch of it; from 6.14.
 */
SEC("raw_tp")
int BPF_PROG(pages_are_read, void *mapping, __u64 first, __u64 last)
{
	__u64 count = last - first + 1;

	add(current_cgroup(), KEPLER_IO_PAGE_CACHE, count > FOLIO_BATCH ? FOLIO_BATCH : count);
	return 0;
}

SEC("raw_tp")
int BPF_PROG(page_is_written, void *folio)
{
	add(current_cgroup(), KEPLER_IO_PAGE_CACHE, 1);
	return 0;
}
