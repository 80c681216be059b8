/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Shared by the kernel side and user space: records and the two control blocks. Same layout on
 * 64-bit kernels of either byte order; no padding, so that nothing uninitialised leaves the kernel.
 */
#pragma once

#include <linux/types.h>

#define KEPLER_COMM_MAX     16
#define KEPLER_RECORDS_MAX  4096         /* threads that one walk can report */
#define KEPLER_MARK_WORDS   128          /* 8,192 bits of "was on a CPU at the last pass" */
#define KEPLER_DROPS_MAX    512          /* cgroups with a separate sum of dropped ends */
#define KEPLER_CGROUPS_RING (128 * 1024) /* bytes: some 330 new cgroups between two passes */

enum kepler_thread_flag {
	KEPLER_KTHREAD = 1 << 0,
	KEPLER_LEADER = 1 << 1,        /* the thread that stands for its process */
	KEPLER_START_UNKNOWN = 1 << 2, /* the leader was freed before this end: start_ns is 0 */
	KEPLER_YOUNG = 1 << 3,         /* an end: born after the last pass was over */
	KEPLER_EXITING = 1 << 4,       /* not an end yet: its run time still grows a little */
	KEPLER_EXE_READ = 1 << 5,      /* its executable was checked: it may be a hypervisor ... */
	KEPLER_HYPERVISOR = 1 << 6,    /* ... and is one, by its file name */
	KEPLER_USER = 1 << 7,          /* its user is known */
};

/* One thread, alive (a walk) or ended (the ring of ends). */
struct kepler_thread {
	__u64 key;    /* address of the task: opaque, the same for all of the thread's life */
	__u64 run_ns; /* CPU time since the thread was born */
	__u64 process_start_ns; /* CLOCK_BOOTTIME */
	__u64 cgroup_id;
	__u64 cgroup_set; /* opaque: changes when the thread moved in any hierarchy */
	/* The process whose child it is, with KEPLER_WANTS_PARENTS; else, and unknown, all 0. */
	__u64 parent_start_ns;
	__u32 parent;
	__u32 user; /* with KEPLER_USER, its real user in the initial user namespace; else 0 */
	__u32 tgid;
	__u32 tid; /* changes when a thread that does not lead execs: it takes over the leader's */
	__u32 cpu;
	__u32 flags; /* enum kepler_thread_flag */
	char comm[KEPLER_COMM_MAX];
};

/* Fields that records have while a client asks for them. */
enum kepler_wants {
	KEPLER_WANTS_PARENTS = 1 << 0,
	KEPLER_WANTS_USERS = 1 << 1,
};

/* Written by user space before a pass, and by the pass. */
struct kepler_pass {
	__u64 arrival_ns;   /* scheduler clock, when this pass's reader was switched in */
	__u64 threshold_ns; /* older arrivals that are off the CPU did not run since */
	__u64 looked_at;
	__u64 sent; /* with the array: also threads that did not fit */
	__u32 begun;
	__u32 full;       /* report every thread */
	__u32 generation; /* which of the two mark bitmaps this pass writes: 0 or 1 */
	__u32 slices;     /* a walk reports one of them: of the threads, by address */
	__u32 slice;
	__u32 wants; /* enum kepler_wants; may change at any time */
};

/*
 * Ends and exits that found the ring full. Cumulative, except young_after_ns, which user space
 * writes.
 */
struct kepler_ends {
	__u64 young_after_ns; /* CLOCK_BOOTTIME: no pass reported threads born later */
	__u64 count;
	__u64 old_count;       /* the part that is not young */
	__u64 old_run_ns;      /* their whole run time; user space subtracts the reported part */
	__u64 young_run_ns;    /* young, but with no room in the table of cgroups */
	__u64 young_count;     /* in the table of cgroups ... */
	__u64 young_cgroup_ns; /* ... and their run time */
	__u64 exits;           /* not ends: exits that were not reported */
	__u64 exits_run_ns;    /* run time of those threads, less up to a tick */
	__u32 generation; /* key of the table's entries; user space reads entries of the past */
	__u32 reserved;
};

/* A cgroup that was created, in the hierarchy of the ids. */
#define KEPLER_CGROUP_PATH_MAX 376
struct kepler_new_cgroup {
	__u64 cgroup_id;
	char path[KEPLER_CGROUP_PATH_MAX]; /* terminated; one that fills it was cut */
};

/* A descriptor of a process that is a character device (bpf/open_devices.bpf.c). */
#define KEPLER_DEVICE_MAJORS 2
struct kepler_open_device {
	__u32 pid, fd;
	__u32 major, minor;
};

/* Young dropped ends: key and value of the table. */
struct kepler_drop_key {
	__u64 cgroup_id;
	__u64 generation;
};
struct kepler_drop {
	__u64 run_ns;
};

/* ---- bpf/io.bpf.c ---- */

#define KEPLER_IO_CGROUPS_MAX 2048 /* with amounts of their own */
#define KEPLER_IO_CAUSES_MAX  8192 /* sockets and requests with a known cgroup */

enum kepler_io_amount {
	KEPLER_IO_NET_TX, /* softirqs */
	KEPLER_IO_NET_RX,
	KEPLER_IO_BLOCK,
	KEPLER_IO_SOFTIRQ_NS, /* in these three */
	KEPLER_IO_NET_BYTES,
	KEPLER_IO_BLOCK_BYTES,
	KEPLER_IO_PAGE_CACHE, /* folios read from it, and made dirty */
	KEPLER_IO_COUNT
};

/* Work for a cgroup on one CPU; cumulative. */
struct kepler_io {
	__u64 amount[KEPLER_IO_COUNT];
};

/* State of a CPU. */
struct kepler_io_cpu {
	struct kepler_io without_cause; /* cumulative */
	__u64 dropped; /* cumulative: times that a cgroup found no room; the amounts are above */
	/* The softirq that runs, for the kernel side only. */
	__u64 since_ns; /* time that is not charged yet begins here */
	__u64 cause;    /* address of a socket or bio */
	__u64 cgroup;   /* of it; 0: no cause has been seen in this softirq */
	__u32 softirq;  /* the vector and 1; 0: none runs */
	__u32 reserved;
};
