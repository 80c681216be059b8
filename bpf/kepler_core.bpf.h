/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The few kernel structures that are read here, by name only: libbpf relocates each access to the
 * field's offset in the running kernel (CO-RE). There is no vmlinux.h: this file is reviewable, the
 * same on every architecture, and needs no BTF on the build machine.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id; /* one u64 since 5.5 */
};

struct cgroup_root {
	unsigned int subsys_mask; /* bits of enum cgroup_subsys_id */
	int hierarchy_id;         /* 0: v2 */
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[16]; /* one per controller; the length is the kernel's */
	struct cgroup *dfl_cgrp;                /* in the v2 hierarchy */
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct inode {
	__u16 i_mode;
	__u32 i_rdev;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

struct mm_struct {
	struct file *exe_file;
};

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t uid;
};

struct rq {
	__u64 clock; /* ns */
};

struct cfs_rq {
	struct rq *rq; /* of its CPU */
};

struct sched_entity {
	__u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq; /* with CONFIG_FAIR_GROUP_SCHED, of tasks of every class */
};

struct sched_info {
	unsigned long long last_arrival; /* with CONFIG_SCHED_INFO */
};

struct thread_info {
	__u32 cpu;
};

/*
 * A field may be missing in a kernel: bpf_core_field_exists(). All fields are in this one
 * definition, because libbpf searches the kernel's 150,000 types for each definition, which takes
 * more than a millisecond.
 */
struct task_struct {
	/* The CPU is in the first since 5.16 (bcf9033e5449), before in the second. */
	struct thread_info thread_info;
	unsigned int cpu;
	unsigned int flags;
	unsigned int on_cpu; /* an int, a u8 in 7.2: CO-RE narrows only loads of unsigned fields */
	struct sched_entity se;
	struct sched_info sched_info;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	const struct cred *real_cred;
	__u64 start_boottime;
	char comm[16];
	struct mm_struct *mm; /* NULL: a kernel thread, or one that ends */
	struct css_set *cgroups;
};

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

#pragma clang attribute pop

/* Only the enumerators' names count; their values are the running kernel's. */
enum cgroup_subsys_id {
	cpuset_cgrp_id,
	cpu_cgrp_id,
	cpuacct_cgrp_id,
	io_cgrp_id,
	memory_cgrp_id,
	devices_cgrp_id,
	freezer_cgrp_id,
	net_cls_cgrp_id,
	perf_event_cgrp_id,
	net_prio_cgrp_id,
	hugetlb_cgrp_id,
	pids_cgrp_id,
};

struct bpf_iter_task {
	__u64 opaque[3];
} __attribute__((aligned(8)));

#define TASK_ITER_ALL_THREADS 1 /* BPF_TASK_ITER_ALL_THREADS */

/*
 * Weak: a kernel without them (before 6.7) refuses only the program that calls them. The cast is
 * older than the others.
 */
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;
extern int bpf_iter_task_new(struct bpf_iter_task *it, struct task_struct *task,
			     unsigned int flags) __ksym __weak;
extern struct task_struct *bpf_iter_task_next(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_iter_task_destroy(struct bpf_iter_task *it) __ksym __weak;
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;
