// SPDX-License-Identifier: Apache-2.0
#include "machine_rig.h"

#include "proc_rig.h"
#include "tests/unit/unit.h"

struct identity_resolver *resolver;

int machine_setup(void **state)
{
	return machine_setup_with(state, 60 * S);
}

int machine_setup_with(void **state, uint64_t patience_ns)
{
	struct identity_options options = { .cgroupfs = "/nonexistent",
					    .passwd = "/nonexistent",
					    .patience_ns = patience_ns,
					    .cgroup_patience_ns = 60 * S };

	if (rig_setup(state) < 0)
		return -1;
	options.procfs = rig_procfs();
	if (identity_resolver_open(&options, &resolver) < 0)
		return -1;
	identity_resolver_begin(resolver, T0);
	return 0;
}

int machine_teardown(void **state)
{
	identity_resolver_close(resolver);
	return rig_teardown(state);
}

void machine_start(uint32_t pid, const char *cgroup, const char *words)
{
	rig_process(pid, COMM, 5, cgroup);
	rig_cmdline(pid, words);
}

/* As an interval does. */
const struct identity *machine_resolve(const struct process_ref *process)
{
	for (int round = 0; round < 3; round++) {
		identity_resolver_announce(resolver, process);
		if (!identity_resolver_await(resolver))
			break;
	}
	return identity_resolve(resolver, process);
}

const struct identity *machine_at(uint32_t pid, const char *comm, uint64_t cgroup_id)
{
	/* 3 ms after the tick that /proc has */
	const struct process_ref process = { pid, 5 * S + 3 * NSEC_PER_MSEC, cgroup_id, comm,
					     false };

	return machine_resolve(&process);
}

void machine_check(uint32_t pid, uint64_t cgroup_id, const char *id)
{
	assert_string_equal(machine_at(pid, COMM, cgroup_id)->names->text[LABEL_CONTAINER_ID], id);
}
