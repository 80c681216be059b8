/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The needs of the parts of a program from the kernel and from the service manager that starts it.
 *
 * Each part states its needs as bits; the bits of all configured parts, or-ed, decide what the
 * program keeps after its start: capabilities (service/privileges.h) and system calls
 * (service/confine.h). They also decide what the program has to be granted: needs_write_unit()
 * writes that as a drop-in of a systemd unit, and the shipped unit and manifests grant the sum of
 * all rows but "device-users", "vsock" and the rows for devices or root: few machines have them,
 * or they are used only by request.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum need {
	NEED_BPF = 1 << 0,           /* BPF programs, loaded at the start and run later */
	NEED_CGROUP_HANDLE = 1 << 1, /* a cgroup opened by its id, open_by_handle_at(2) */
	NEED_READ_ENERGY = 1 << 2,   /* files that only root may read: energy_uj, mode 0400 */
	NEED_READ_FILES = 1 << 3,    /* other files that only root may read */
	NEED_CLIENTS = 1 << 4,       /* connections that this program opens */
	NEED_GPU = 1 << 5,           /* a vendor's library that controls its driver */
	NEED_PERF_ENERGY = 1 << 6,   /* events of CPUs, opened again as these come and go */
	NEED_MSR = 1 << 7,           /* registers of CPUs, also opened again; by request */
	NEED_IPMI = 1 << 8,          /* the kernel's device to the BMC */
	NEED_GAUDI = 1 << 9,         /* as NEED_GPU, of another driver */
	/* use of GPUs by processes; its capabilities are those of service/fdinfo_helper.h */
	NEED_DEVICE_USERS = 1 << 10,
	NEED_POD_RESOURCES = 1 << 11, /* a socket that root alone may connect to */
	NEED_COUNTERS = 1 << 12,      /* the processor's events, opened at the start */
	NEED_GUESTS = 1 << 13,        /* unix sockets and directories of virtual machines */
	NEED_VSOCK = 1 << 14,         /* sockets between virtual machines and their host */
};
#define NEED_COUNT 15
#define NEEDS_ALL  ((1U << NEED_COUNT) - 1)

struct need_row {
	enum need need;
	const char *name;    /* "bpf" */
	const char *purpose; /* a full sentence without its end */
	/* Bits of linux/capability.h: at the start, and of these those that are kept after it. */
	uint64_t capabilities, kept_capabilities;
	bool locks_memory;        /* before kernel 5.11, where RLIMIT_MEMLOCK limits BPF memory */
	const char *system_calls; /* that the unit's filter has to allow beyond @system-service */
	bool is_root; /* the user root, for what belongs to it; no capability makes up for that */
};

extern const struct need_row need_rows[NEED_COUNT];

/* Bits of linux/capability.h, of all rows in @needs. */
uint64_t needs_capabilities(unsigned needs);
uint64_t needs_kept_capabilities(unsigned needs);
/*
 * A drop-in for the unit kepler.service, which grants @needs and @devices (as in DeviceAllow=; NULL
 * ends them) and takes away the rest, with each need as a comment; and, as a comment, the
 * securityContext of a container. @reachable: the address that other machines can connect to, which
 * the unit denies by default, or NULL.
 */
void needs_write_unit(unsigned needs, const char *const *devices, const char *reachable,
		      struct strbuf *out);
