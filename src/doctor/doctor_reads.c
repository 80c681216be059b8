// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_reads.h"

static void examine_traffic(struct findings *findings, const struct machine_reads_info *info)
{
	if (!info->traffic_groups)
		findings_add(findings, FINDING_NOTE, "signals", NULL,
			     "memory traffic is unknown: resctrl is not mounted, does not monitor, "
			     "or has no group with tasks");
	else if (info->traffic_is_known)
		findings_add(findings, FINDING_OK, "signals", NULL,
			     "memory traffic is counted by resctrl, in %u groups",
			     info->traffic_groups);
	else
		findings_add(findings, FINDING_NOTE, "signals", NULL,
			     "memory traffic is unknown: some of the %u resctrl groups have no "
			     "counter (mbm_total_bytes)",
			     info->traffic_groups);
}

void doctor_examine_reads(struct findings *findings, const struct machine_reads_info *info)
{
	if (info->mean_khz)
		findings_add(findings, FINDING_OK, "signals", NULL,
			     "cpufreq reports the CPUs' frequency, now %u MHz on average; it "
			     "replaces cycles where they are not counted",
			     info->mean_khz / 1000);
	else
		findings_add(findings, FINDING_NOTE, "signals", NULL,
			     "cpufreq reports no CPU frequency");
	examine_traffic(findings, info);
}
