/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input and output of a reader of activity: the terms that activity.h, the two readers and
 * their parts share.
 *
 * A pass gives one sample for each process that ran since the last pass, and none for the others:
 * the cost depends on the processes that ran. Work of threads that ended is in the sample of their
 * process, whether it lives or not, exactly once, even when the kernel reports it an interval
 * later. Work without a known process is in `dropped_ns`, and all other work of the machine in
 * `unseen_ns`: it is counted, and never silently lost.
 *
 * With several sockets, each sample has its time per socket, by the CPU of a thread at the time of
 * the pass: this is exact for a thread that stays in a socket, and otherwise a sample at the end of
 * each interval. procfs shows the CPU of the first thread of a process only, so its reader does not
 * distinguish sockets.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/bpf_reader/switch_options.h"
#include "activity/unseen_time.h"
#include "energy/signal.h"
#include "host/cpu_frequency.h"
#include "host/cpu_sockets.h"
#include "host/proc.h"

#define ACTIVITY_WHY_MAX 256

/* A process: pid reuse gives another start time. */
struct process_key {
	uint32_t pid;      /* tgid in the initial pid namespace */
	uint64_t start_ns; /* CLOCK_BOOTTIME of the process's start */
};

enum activity_flag {
	ACTIVITY_KTHREAD = 1 << 0,
	/*
	 * The process is gone: its last sample. If the kernel reports the end of a thread later,
	 * the remainder comes in one more sample with the same key and flag; the key is never used
	 * again.
	 */
	ACTIVITY_ENDED = 1 << 1,
	/*
	 * A living process has a name like a hypervisor's, and its executable was checked and is
	 * one. The procfs reader does not check.
	 */
	ACTIVITY_EXE_READ = 1 << 2,
	ACTIVITY_HYPERVISOR = 1 << 3,
	ACTIVITY_USER = 1 << 4, /* its user is known: activity_want_users() */
};

struct activity_sample {
	struct process_key key;
	uint64_t cpu_ns;     /* run time since the last pass, all threads */
	uint64_t cgroup_id;  /* in the hierarchy of activity_info; 0 unknown (procfs reader) */
	uint64_t cgroup_set; /* opaque: changes when it moved in any hierarchy; 0 unknown */
	uint64_t cycles;     /* by the frequency of each thread's CPU; 0: not known by thread */
	uint32_t cpu;        /* where it ran last; UINT32_MAX: not known of all of cpu_ns */
	uint32_t flags;      /* enum activity_flag */
	uint32_t user;       /* with ACTIVITY_USER: its real user id, as this machine counts */
	char comm[COMM_MAX]; /* raw bytes, terminated */
	/*
	 * At its end or, while it lives, at this pass; all 0 if it is not known, and without
	 * activity_want_parents().
	 */
	struct process_key parent;
};

/* Run time of ended threads that is known by their cgroup only. */
struct dropped_cgroup {
	uint64_t cgroup_id;
	uint64_t cpu_ns;
};

/* Signals of a cgroup that belong to no known process: they are in no sample. */
struct cgroup_signals {
	uint64_t cgroup_id;
	uint64_t amount[SIGNAL_COUNT];
};

/* One pass. Arrays belong to the reader and are valid until the next pass. */
struct activity {
	uint64_t time_ns;     /* CLOCK_MONOTONIC of the pass */
	uint64_t boottime_ns; /* CLOCK_BOOTTIME of the same moment */
	const struct activity_sample *samples;
	size_t count;
	/*
	 * [count][sockets], the part of each sample's cpu_ns that was run in each socket; the rest
	 * was run on CPUs with an unknown socket. NULL: sockets are not distinguished.
	 */
	const uint64_t *socket_ns;
	uint32_t sockets; /* places in struct cpu_sockets */
	uint32_t signals; /* SIGNAL_BIT() of those that are known, all 0 or not */
	/* [count] each, of the samples; NULL: 0 in all. */
	const uint64_t *signal[SIGNAL_COUNT];
	const struct cgroup_signals *cgroup_signals;
	size_t cgroup_signal_count;
	/* [cgroup_signal_count][sockets], where SIGNAL_RESIDENT of each lies; NULL: not known. */
	const uint64_t *cgroup_places;
	uint64_t unknown_signal[SIGNAL_COUNT]; /* of what neither is known for */
	uint64_t busy_ns;    /* time of all tasks but the idle task: the sum of all that follows */
	uint64_t dropped_ns; /* run time without a known process */
	uint64_t unseen_ns;  /* run time that the reader did not see, but the machine counts */
	uint64_t stolen_ns;  /* in busy_ns, but a hypervisor took it: see stolen_time.h */
	/* vCPUs waited for the host since the last pass, by the machine's account. */
	uint64_t steal_ns;
	bool has_steal;          /* that account has ever counted any */
	uint64_t coming_ns;      /* not in busy_ns: known run time that a later pass reports */
	uint32_t coming_threads; /* threads of coming_ns; each may lack up to a tick */
	uint32_t cpus;           /* online; 0 unknown */
	uint32_t mean_khz;       /* of CPUs; with SIGNAL_FREQUENCY_TIME only */
	const struct dropped_cgroup *dropped_cgroups; /* not in dropped_ns, but in busy_ns */
	size_t dropped_cgroup_count;
};

/* The machine's own account of its CPU time, see machine_time.h. */
enum machine_account {
	MACHINE_ACCOUNT_MISSING, /* cannot be read: unseen time stays unknown */
	MACHINE_ACCOUNT_STATIC,  /* does not change: not real, and unknown, too */
	MACHINE_ACCOUNT_GOOD,
};

/* The amount of input and output that is counted, as the option bpf.io sets it. */
enum io_wanted {
	IO_WANTED_OFF,
	IO_WANTED_ON, /* all but the page cache, whose programs run in each read() */
	IO_WANTED_ALL,
};

/* State of io_signals.h; counters are cumulative. */
struct io_info {
	int err;          /* none is known, because of this -errno; 0: or none is wanted */
	uint32_t signals; /* SIGNAL_BIT() of those that are known */
	uint32_t missing; /* of those that are wanted, but not known */
	char missing_text[ACTIVITY_WHY_MAX]; /* which programs are missing, and why; "" none */
	unsigned int refused;                /* of them: refused, though the tracepoint is there */
	uint64_t softirqs_without_cause;
	uint64_t softirq_ns_without_cause;
	uint64_t dropped; /* times that a cgroup found no room; its amounts have no cause */
};

/* State for metrics and doctor; counters are cumulative. */
struct activity_info {
	const char *reader; /* "bpf-walk", "bpf-iter", "procfs" */
	bool by_bpf;        /* so, and not from /proc */
	bool exits_seen;    /* processes that end between two passes are seen */
	uint64_t passes;
	uint64_t drops;        /* end records that did not fit their buffer */
	uint64_t errors;       /* failed reads */
	uint64_t tasks_walked; /* last pass: threads looked at in the kernel */
	uint64_t tasks_sent;   /* last pass: threads that had run */
	uint64_t threads_known;
	uint64_t cgroups_missed; /* cumulative: new cgroups that could not be reported */
	uint64_t overflows;      /* times that a thread or process did not fit into a table */
	uint64_t bpf_run_ns;     /* own CPU time inside the last pass's kernel program */
	uint32_t unseen;         /* processes in /proc that passes do not report, see unseen.h */
	uint32_t unseen_pid;     /* the first of them */
	uint64_t unseen_cpu_ns;  /* cumulative */
	uint64_t unseen_ns;      /* cumulative, of all passes: activity.unseen_ns */
	bool sees_part;          /* some of the machine's processes are hidden from the reader */
	bool counts_switches;    /* so activity.signals has some */
	uint32_t signals;        /* SIGNAL_BIT() of those */
	unsigned int
		uncounted_cpus; /* online, and an event of the processor is not counted there */
	bool is_late;           /* a thread's work is reported when it leaves its CPU */
	bool has_wide_cores;    /* cores have more threads than two: see switch_reader.h */
	uint64_t threads_without_work; /* cumulative: no memory in the kernel for their work */
	uint64_t work_lost_ns;         /* cumulative: counted time that no process got */
	char why_not_counted[ACTIVITY_WHY_MAX]; /* switches, or some of the events; or "" */
	enum machine_account account;
	uint64_t steal_ns; /* cumulative: vCPUs waited for the host, by the machine's account */
	bool has_steal;    /* any, ever */
	bool own_pid_namespace; /* so /proc is not the machine's */
	unsigned int refused;   /* BPF programs that this kernel should accept and refuses */
	char refused_text[ACTIVITY_WHY_MAX]; /* which, why, and what that costs */
	char why_not_bpf[ACTIVITY_WHY_MAX];  /* with procfs: why BPF was refused, and the remedy */
	struct io_info io;
};

struct activity_reader;

struct activity_options {
	const char *procfs; /* "/proc" */
	bool allow_bpf;
	bool allow_walk;               /* false: force iter/task, for tests */
	const char *cgroup_controller; /* hierarchy of the cgroup ids: "" v2; of v1 "pids", … */
	uint32_t end_buffer_bytes;     /* ring of end records; power of two pages; 0: default */
	uint32_t max_processes;        /* limit of every table, default 65,536 */
	/* Borrowed, may change between passes; NULL: sockets are not distinguished. */
	const struct cpu_sockets *sockets;
	const struct cpu_frequencies *frequencies; /* as above; NULL: not known */
	enum io_wanted io;                         /* with BPF only */
	const char *sysfs;                         /* "/sys" */
	struct switch_options switches;
	const char *spoil_program; /* for tests: changed so that the kernel refuses it; or NULL */
};

/*
 * Called by activity_visit() and activity_visit_new_cgroups(); the argument is valid during the
 * call.
 */
typedef void activity_visit_fn(void *userdata, const struct activity_sample *sample);
typedef void activity_cgroup_fn(void *userdata, uint64_t cgroup_id, const char *path);

/* The functions of one reader; activity.c chooses between them. */
struct activity_ops {
	int (*read)(struct activity_reader *reader, struct activity *activity);
	void (*get_info)(const struct activity_reader *reader, struct activity_info *ret);
	void (*visit)(struct activity_reader *reader, activity_visit_fn *fn, void *userdata);
	void (*close)(struct activity_reader *reader);
	int (*fd)(const struct activity_reader *reader); /* may be NULL */
	void (*drain)(struct activity_reader *reader);   /* may be NULL */
	/* may be NULL: it does not know them */
	void (*want_parents)(struct activity_reader *reader, bool wanted);
	void (*want_users)(struct activity_reader *reader, bool wanted);
	/* may be NULL */
	void (*new_cgroups)(struct activity_reader *reader, activity_cgroup_fn *fn, void *userdata);
};
struct activity_reader {
	const struct activity_ops *ops;            /* first member of each reader */
	struct machine_clock *clock;               /* NULL: the machine's account cannot be read */
	struct io_signals *io;                     /* NULL: not wanted, or not to be had */
	int io_err;                                /* why not, -errno; 0: not wanted */
	const struct cpu_frequencies *frequencies; /* NULL: not known */
	uint64_t *frequency_time;                  /* of samples, with frequencies */
	uint32_t frequency_cells;
	struct unseen_time unseen_time;
	uint64_t unseen_ns, steal_ns;
	bool has_steal; /* the machine's account has counted any */
	bool own_pid_namespace;
	char why_not_bpf[ACTIVITY_WHY_MAX];
};
int bpf_activity_open(const struct activity_options *options, struct activity_reader **ret,
		      char *why, size_t why_size);
int proc_activity_open(const struct activity_options *options, struct activity_reader **ret);
