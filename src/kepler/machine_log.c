// SPDX-License-Identifier: Apache-2.0
#include "kepler/machine_log.h"

#include <string.h>

#include "base/log.h"

void machine_log_warnings(const struct config *config)
{
	const char *line = config->options.warnings ? config->options.warnings : "";

	while (*line) {
		size_t len = strcspn(line, "\n");

		log_warn("configuration: %.*s", (int)len, line);
		line += len + (line[len] == '\n');
	}
}

/* A user of this machine cannot change it, so it is not a warning. */
void machine_log_unseen(const struct session *session, bool *logged)
{
	struct activity_info info;

	if (*logged || !interval_engine_activity(session->engine)->unseen_processes)
		return;
	*logged = true;
	activity_get_info(session->sources.activity, &info);
	log_info("%u process%s hidden from BPF by this kernel; CPU time "
		 "comes from /proc, in ticks (first: pid %u)",
		 info.unseen, info.unseen == 1 ? " is" : "es are", info.unseen_pid);
}

void machine_log_start(const struct session *session)
{
	struct activity_info info;

	activity_get_info(session->sources.activity, &info);
	if (info.why_not_bpf[0])
		log_warn("processes are read from /proc: %s", info.why_not_bpf);
	if (info.sees_part)
		log_warn("only some of this machine's processes are visible; give Kepler the "
			 "host's PID namespace (hostPID: true) and a /proc without hidepid. The "
			 "energy of the others is unattributed, reason unseen");
	else if (info.own_pid_namespace)
		log_warn("Kepler has its own PID namespace, so /proc does not show the machine's "
			 "processes: virtual machines are not recognised; give it the host's "
			 "(hostPID: true)");
	if (info.account != MACHINE_ACCOUNT_GOOD)
		log_warn("%s/stat does not show the machine's CPU time: the energy of invisible "
			 "processes is shared among the visible ones",
			 session->config->host.procfs);
	if (info.by_bpf && info.why_not_counted[0])
		log_info("%s: %s",
			 info.counts_switches ? "hardware events that are not counted"
					      : "no hardware counters here, so energy is shared by "
						"CPU time",
			 info.why_not_counted);
	if (info.refused)
		log_warn("the kernel refuses BPF programs: %s", info.refused_text);
	if (identity_resolver_sees_part(session->sources.identities))
		log_warn("%s shows only Kepler's own container, whose work is charged to the "
			 "system; mount the host's /sys and point --host.cgroupfs there",
			 session->config->host.cgroupfs);
}
