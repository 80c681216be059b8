// SPDX-License-Identifier: Apache-2.0
#include "engine/confinement.h"

#include "base/log.h"
#include "base/macro.h"
#include "service/confine.h"
#include "service/denied_calls.h"
#include "service/privileges.h"

/* The needs of the configuration, without those of parts that this machine does not have. */
static unsigned needs_left(const struct config *config, const struct sources *sources)
{
	const unsigned needs = config_needs(config);
	struct activity_info info;

	activity_get_info(sources->activity, &info);
	return info.by_bpf ? needs : needs & ~(unsigned)(NEED_BPF | NEED_CGROUP_HANDLE);
}

/* Those of meters are known for good once they are open: a driver may be loaded at any time. */
static unsigned needs_of_meters(const struct sources *sources)
{
	return sources->meters ? meter_table_needs(sources->meters) : 0;
}

void confinement_drop_privileges(const struct config *config, const struct sources *sources)
{
	struct diag diag = { "" };

	if (config->security.drop_capabilities &&
	    privileges_drop(needs_left(config, sources), &diag) < 0)
		log_warn("more privileges than needed are kept: %s", diag.text);
}

void confinement_filter_calls(const struct config *config, const struct sources *sources)
{
	const unsigned needs = needs_left(config, sources) | needs_of_meters(sources);
	struct diag diag = { "" };

	if (config->security.seccomp &&
	    confine_enter(needs, config->security.seccomp_log, &diag) < 0)
		log_warn("system calls are not confined: %s", diag.text);
}

static bool fill_health(const void *owner, void *ret)
{
	const int *landlock_abi = owner;

	*(struct confinement_health *)ret =
		(struct confinement_health){ (uint32_t)*landlock_abi, denied_calls_count() };
	return true;
}

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_landlock_abi",
	  .type = FAMILY_GAUGE,
	  .help = "Version of the Landlock ABI with which the kernel limits the files that Kepler "
		  "can read and write; 0: no limit.",
	  .value = HEALTH_VALUE(struct confinement_health, landlock_abi) },
	{ .name = "kepler_exporter_denied_system_calls",
	  .type = FAMILY_COUNTER,
	  .help = "System calls that the filter denied with EPERM or ENOSYS because they are not "
		  "in its list; each is logged once.",
	  .value = HEALTH_VALUE(struct confinement_health, denied_calls) },
};

const struct health_part confinement_health_part = {
	.size = sizeof(struct confinement_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
