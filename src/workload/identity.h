/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a process. Process → cgroup → owner: a container (of a pod or not), a virtual
 * machine, a batch job, a systemd unit, the kernel, or the rest of the system.
 *
 * Every process has exactly one owner. It is resolved once, and again only when the process moved
 * (another cgroup id), or when more names of the owner became known: then `names` change. A known
 * process in a known cgroup costs map look-ups and no system call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/uuid.h"
#include "energy/owner_names.h"

#define IDENTITY_NAME_MAX 128

enum owner_kind {
	OWNER_SYSTEM,
	OWNER_KERNEL,
	OWNER_UNIT,
	OWNER_CONTAINER,
	OWNER_VM,
	OWNER_JOB,
	OWNER_KIND_COUNT
};

/*
 * The facts about an owner. They are valid until the next call that resolves; a caller that keeps
 * @names longer takes a reference. Names are interned in identity_resolver_names().
 *
 * container_id: stable key of the owner: the container's 64 hexadecimal digits (or the name that
 * its runtime uses, "lxc/web"; cgroup_path.h describes the suffix after "@"), the vm_id, "job_42",
 * "nginx.service", "system_processes", "kernel_processes".
 *
 * container_name: from the directory; else the first 12 digits of a container's id, as Docker
 * shortens it, or its own name; a unit's, job's or VM's name; "pod" for processes of a pod outside
 * its containers. (Classic Kepler has "system_processes" for an unknown container, which cannot be
 * distinguished from the system itself.)
 *
 * namespace: of the pod, "unknown" until a source has named it; else "system", "kernel". pod_name:
 * as container_name outside pods (classic); pod_id for an unknown pod. pod_id: its uid, with
 * dashes. qos_class: "Guaranteed", "Burstable", "BestEffort". Pairs: the pod's labels that the user
 * asked for.
 *
 * runtime: "docker", "containerd", "cri-o", "podman", "lxc", …; "kubernetes" in a pod, whichever.
 * workload: "shop", of the workload_type "Deployment", "StatefulSet", "Job", …
 */
struct identity {
	enum owner_kind kind;
	const struct owner_names *names;
	uint32_t size_millicpu; /* CPU request, else limit; 0 unknown: size of the GHG policy */
	/*
	 * Its names are not known yet and a source that can have them is active: its series should
	 * wait. A pod's waits for Kubernetes, never longer than DIRECTORY_WAIT_NS after the owner
	 * was first seen; another container for a runtime that answers, 5 s. Once false it stays
	 * false.
	 */
	bool waiting;
	/* Kubernetes has named its pod; if it waits, then for the container's own name. */
	bool has_pod_names;
	/*
	 * When the process of a virtual machine with a name and no UUID started (BOOTTIME). With
	 * another start it is another machine that has the name. 0: the id is enough.
	 */
	uint64_t bearer_ns;
};

/*
 * The program of a process, by its executable's file name. The process can change its own name at
 * any time.
 */
enum process_exe {
	PROCESS_EXE_UNKNOWN, /* the reader does not know: /proc/PID/exe is read */
	PROCESS_EXE_OTHER,
	PROCESS_EXE_HYPERVISOR, /* its file name is the name of a known one */
};

/* A process as the activity reader knows it. */
struct process_ref {
	uint32_t pid;       /* 0: only the cgroup of the work is known */
	uint64_t start_ns;  /* BOOTTIME */
	uint64_t cgroup_id; /* 0 unknown */
	const char *comm;
	bool kthread;
	uint64_t cgroup_set; /* 0 unknown; else changes when it moved in any hierarchy */
	bool has_ended;
	enum process_exe exe;
};

struct directory;
struct identity_resolver;

struct identity_options {
	const char *procfs;
	const char *cgroupfs;        /* "/sys/fs/cgroup" */
	uint32_t max_cgroups;        /* cached; 0: 16,384. Beyond it the least used go */
	struct directory *directory; /* names; borrowed, may be NULL */
	bool merge_services;         /* --metrics.services=merged: units are system_processes */
	void (*start_thread)(void);  /* for threads of the resolver: see struct offload_options */
	const char *passwd;          /* NULL: /etc/passwd */
	/*
	 * The time that identity_resolver_await() takes: for command lines, in sum (0: 10 ms); for
	 * each process's cgroup where the id is not enough (0: 100 ms; in sum a second or this
	 * value, the longer).
	 */
	uint64_t patience_ns, cgroup_patience_ns;
};

/* State for metrics; counters are cumulative. */
struct identity_info {
	uint32_t reads_outstanding; /* of processes' command lines and cgroups, now */
	uint64_t reads_late;        /* that took longer than a second */
	uint64_t machine_overflows; /* times that a possible machine did not fit */
};

int identity_resolver_open(const struct identity_options *options, struct identity_resolver **ret);
void identity_resolver_close(struct identity_resolver *resolver);
/* The table of the names of its identities, which the caller's thread may share. */
struct names_table *identity_resolver_names(const struct identity_resolver *resolver);
/*
 * The hierarchy of the cgroup ids that it can turn into paths: "" for v2, a controller's name for
 * v1.
 */
const char *identity_resolver_controller(const struct identity_resolver *resolver);
/* True if only a container's own cgroups are mounted: then this process's own owner is unknown. */
bool identity_resolver_sees_part(const struct identity_resolver *resolver);
/* Once per interval, before the first identity_resolve() of it: CLOCK_BOOTTIME. */
void identity_resolver_begin(struct identity_resolver *resolver, uint64_t now_ns);
/*
 * Reports a new cgroup from the kernel, so that it is known even if it is removed before a process
 * of it is seen. The path is in the hierarchy of the ids.
 */
void identity_resolver_learn(struct identity_resolver *resolver, uint64_t cgroup_id,
			     const char *path);
/*
 * Starts the reads for a process that may hang. To be called before identity_resolve() for every
 * process that it will be called for. A process that was not announced belongs to its cgroup.
 */
void identity_resolver_announce(struct identity_resolver *resolver,
				const struct process_ref *process);
/*
 * Waits for the reads of announced processes; at most for the patience of this interval, in sum. A
 * late process then belongs to its cgroup until it is known, or, if the cgroup itself is late, to
 * its previous owner, or the system. true: announce all again, because more can be read now.
 */
bool identity_resolver_await(struct identity_resolver *resolver);
void identity_resolver_get_info(const struct identity_resolver *resolver,
				struct identity_info *ret);
/*
 * The owner of a process. Never fails: an unknown process belongs to system_processes. The pointer
 * is valid until the next call.
 */
const struct identity *identity_resolve(struct identity_resolver *resolver,
					const struct process_ref *process);
/* The process of the virtual machine of that UUID; 0: none is known to run it. */
uint32_t identity_machine_pid(const struct identity_resolver *resolver, const struct uuid *uuid);
/*
 * The owner of that container_id as long as its cgroup is cached, removed or not; else NULL. For an
 * owner that ended before its names came.
 */
const struct identity *identity_find(struct identity_resolver *resolver, const char *container_id);
/*
 * True if the owner's cgroup is known to exist, whether processes run in it or not: one system
 * call. It stays cached for as long as this is called.
 */
bool identity_cgroup_exists(struct identity_resolver *resolver, const char *container_id);
