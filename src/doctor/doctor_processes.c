// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_processes.h"

#include <stdio.h>

#include "doctor/doctor_io.h"
#include "doctor/doctor_reads.h"

/* The processes that the reader does not see, and whether this would be noticed. */
static void examine_view(struct findings *findings, const struct activity_info *info)
{
	if (info->sees_part)
		findings_add(findings, FINDING_FIX, "processes",
			     "run in the host's PID namespace (hostPID: true, docker run "
			     "--pid=host), with /proc mounted without hidepid",
			     "only some of this machine's processes are visible; the energy of the "
			     "others is unattributed, reason unseen");
	else if (info->own_pid_namespace)
		findings_add(findings, FINDING_FIX, "processes",
			     "run in the host's PID namespace (hostPID: true, docker run "
			     "--pid=host)",
			     "Kepler has its own PID namespace, so /proc does not show the "
			     "machine's processes: virtual machines are not recognised");
	if (info->account == MACHINE_ACCOUNT_STATIC)
		findings_add(findings, FINDING_FIX, "processes",
			     "mount the host's /proc and point --host.procfs there",
			     "/proc/stat does not advance, so it is not real; the energy of "
			     "invisible processes is shared among the visible ones");
	else if (info->account == MACHINE_ACCOUNT_MISSING)
		findings_add(findings, FINDING_FIX, "processes", "mount /proc without subset=pid",
			     "/proc/stat cannot be read; the energy of invisible processes is "
			     "shared among the visible ones");
}

/* "cpu_cycles, cpu_instructions". */
static void list_counters(uint32_t signals, char *buf, size_t size)
{
	size_t len = 0;

	(void)snprintf(buf, size, "none");
	for (enum signal signal = SIGNAL_CPU_CYCLES; signal <= SIGNAL_CACHE_MISSES; signal++) {
		if (signals & SIGNAL_BIT(signal) && len < size)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
						signal_name(signal));
	}
}

/* Signals from context switches, in addition to CPU time. */
static void examine_switches(struct findings *findings, const struct activity_info *info)
{
	char counters[128];

	if (!info->counts_switches) {
		findings_add(
			findings, FINDING_NOTE, "processes", NULL,
			"no hardware counters (cycles, instructions, cache misses) here; energy is "
			"shared by CPU time%s%s",
			info->why_not_counted[0] ? "; " : "", info->why_not_counted);
		return;
	}
	list_counters(info->signals, counters, sizeof(counters));
	findings_add(findings, FINDING_OK, "processes", NULL,
		     "context switches are traced; hardware events: %s", counters);
	if (info->why_not_counted[0])
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "hardware events that are not counted: %s", info->why_not_counted);
	if (info->uncounted_cpus)
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "on %u CPUs not all of these events are counted",
			     info->uncounted_cpus);
	if (info->has_wide_cores)
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "cores have more than two threads; only pairs of them are treated as "
			     "busy siblings");
	if (info->is_late)
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "a thread is charged when it leaves its CPU, which may be in a later "
			     "interval");
}

static void examine_reads(struct findings *findings, const struct sources *sources)
{
	struct machine_reads_info info;

	if (!sources->reads)
		return;
	machine_reads_get_info(sources->reads, &info);
	doctor_examine_reads(findings, &info);
}

static void examine_reader(struct findings *findings, const struct sources *sources)
{
	struct activity_info info;

	activity_get_info(sources->activity, &info);
	examine_view(findings, &info);
	if (!info.by_bpf) {
		findings_add(findings, FINDING_FIX, "processes", info.why_not_bpf,
			     "read from /proc, without BPF: CPU time in ticks; processes that end "
			     "between two readings are charged to their parents");
		return;
	}
	findings_add(findings, FINDING_OK, "processes", NULL,
		     "read by BPF (%s): exact run time of every thread; %llu threads known",
		     info.reader, (unsigned long long)info.threads_known);
	if (info.refused)
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "the kernel refuses BPF programs: %s", info.refused_text);
	examine_switches(findings, &info);
	if (info.unseen)
		findings_add(findings, FINDING_NOTE, "processes", NULL,
			     "%u process%s hidden from BPF by this kernel; "
			     "CPU time comes from /proc, in ticks (first: pid %u)",
			     info.unseen, info.unseen == 1 ? " is" : "es are", info.unseen_pid);
	if (info.exits_seen)
		findings_add(findings, FINDING_OK, "processes", NULL,
			     "processes that end between two readings are seen and charged");
	else
		findings_add(findings, FINDING_FIX, "processes",
			     "needs a kernel with BTF tracepoints",
			     "processes that end between two readings are not seen");
	doctor_examine_io(findings, &info.io);
}

void doctor_examine_processes(struct findings *findings, const struct sources *sources)
{
	examine_reader(findings, sources);
	examine_reads(findings, sources);
}
