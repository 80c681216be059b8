// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "doctor/doctor_record.h"
#include "service/landlock.h"
#include "service/state_file.h"

/* A file that this user cannot read may be the service's, so it is not a finding. */
static void examine_state_file(struct findings *findings, const char *dir,
			       const struct host_info *host)
{
	CLEANUP_FREE struct state *state = calloc(1, sizeof(*state));
	char facts[STATE_FACTS_MAX], machine[STATE_MACHINE_MAX];
	struct diag why = { "" };
	int r;

	state_machine_facts(host, facts);
	state_machine_key(MACHINE_ID_PATH, facts, machine);
	r = state ? state_load(dir, machine, state, &why) : 0;
	if (r < 0 && r != -ENOENT && r != -EACCES)
		findings_add(findings, FINDING_NOTE, "state", NULL,
			     "%s; a start learns idle power and cost factors again, and replaces "
			     "the file",
			     why.text);
}

static void examine_state(struct findings *findings, const struct config *config,
			  const struct host_info *host)
{
	if (!config->host.state_dir[0])
		return;
	examine_state_file(findings, config->host.state_dir, host);
	if (access(config->host.state_dir, W_OK) == 0)
		findings_add(findings, FINDING_OK, "state", NULL,
			     "learned idle power and cost factors are kept in %s",
			     config->host.state_dir);
	else
		findings_add(findings, FINDING_NOTE, "state", NULL,
			     "%s: %s; learned idle power and cost factors are lost on restart "
			     "unless the directory can be created at startup",
			     config->host.state_dir, strerrordesc_np(errno));
}

static void examine_file_limits(struct findings *findings, const struct config *config)
{
	int abi = landlock_abi();

	if (!config->security.landlock)
		findings_add(findings, FINDING_NOTE, "file limits", NULL,
			     "off: security.landlock is false");
	else if (abi)
		findings_add(findings, FINDING_OK, "file limits", NULL,
			     "the kernel prevents Kepler from writing elsewhere (Landlock ABI %d)",
			     abi);
	else
		findings_add(
			findings, FINDING_NOTE, "file limits", NULL,
			"none: the kernel has no Landlock (5.13 and later, and \"landlock\" in "
			"its parameter lsm=)");
}

static void examine_series(struct findings *findings, const struct config *config)
{
	uint64_t settle_ns = config->publication.settle_ns;

	if (settle_ns == SETTLE_AUTO)
		findings_add(findings, FINDING_OK, "series", NULL,
			     "a new series shows 0 until it has been scraped "
			     "(--metrics.settle=auto); see kepler_exporter_settle_seconds");
	else
		findings_add(findings, FINDING_NOTE, "series", NULL,
			     "a new series shows 0 for %g s (--metrics.settle); if it is scraped "
			     "less often, increase() loses its first joules",
			     (double)settle_ns / 1e9);
}

void doctor_examine_service(struct findings *findings, const struct config *config,
			    const struct host_info *host)
{
	examine_state(findings, config, host);
	doctor_examine_record(findings, &config->record, config->monitor.interval_ns,
			      (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC));
	examine_series(findings, config);
	examine_file_limits(findings, config);
}
