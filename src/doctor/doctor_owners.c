// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_owners.h"

static void examine_cgroups(struct findings *findings, const struct sources *sources,
			    const struct config *config)
{
	const char *controller = identity_resolver_controller(sources->identities);

	if (!controller[0])
		findings_add(findings, FINDING_OK, "owners", NULL,
			     "services and scopes by cgroup v2");
	else
		findings_add(findings, FINDING_OK, "owners", NULL,
			     "services and scopes by the cgroup v1 hierarchy \"%s\"", controller);
	if (identity_resolver_sees_part(sources->identities))
		findings_add(findings, FINDING_FIX, "owners",
			     "mount the host's /sys and point --host.cgroupfs there",
			     "%s shows only Kepler's own container: Kepler's work is charged to "
			     "the system, not to that container",
			     config->host.cgroupfs);
}

static void examine_names(struct findings *findings, const struct sources *sources)
{
	struct kube_stats kube;
	struct runtimes_stats runtimes;

	if (sources->names.kube) {
		kube_get_stats(sources->names.kube, &kube);
		if (kube.reachable)
			findings_add(findings, FINDING_OK, "owners", NULL,
				     "pods are named by the %s: %llu on this node", kube.source,
				     (unsigned long long)kube.pods);
		else
			findings_add(
				findings, FINDING_FIX, "owners",
				"check --kube.pods, --kube.kubeconfig and the permissions of its "
				"account",
				"Kubernetes does not respond, so pods have no names: %s",
				kube.last_error[0] ? kube.last_error : "no answer yet");
	} else if (sources->names.wants_kube) {
		findings_add(findings, FINDING_FIX, "owners",
			     "check --kube.kubeconfig; a running exporter retries by itself",
			     "Kubernetes cannot be used, so pods have no names: %s",
			     sources->names.kube_error);
	} else {
		findings_add(findings, FINDING_NOTE, "owners", NULL,
			     "Kubernetes is not used: this is not a pod, and --kube.kubeconfig is "
			     "not set");
	}
	if (sources->names.runtimes_error[0])
		findings_add(findings, FINDING_FIX, "owners", NULL,
			     "container runtimes are not used: %s", sources->names.runtimes_error);
	if (!sources->names.runtimes)
		return;
	runtimes_get_stats(sources->names.runtimes, &runtimes);
	if (runtimes.present[0])
		findings_add(findings, FINDING_OK, "owners", NULL,
			     "containers named from the files of %s: %llu", runtimes.present,
			     (unsigned long long)runtimes.containers);
	else
		findings_add(findings, FINDING_NOTE, "owners", NULL, "no container runtime found");
}

/* Only if it determines who is charged for idle energy: with --gpu.idle=holder and a GPU. */
static void examine_allocations(struct findings *findings,
				const struct device_allocations *allocations)
{
	unsigned long long nameless = allocations->nameless, unknown = allocations->unknown;
	struct pod_resources_stats stats = { 0 };

	if (!allocations->was_tried)
		return;
	if (allocations->source)
		pod_resources_get_stats(allocations->source, &stats);
	if (stats.reachable)
		findings_add(findings, nameless || unknown ? FINDING_NOTE : FINDING_OK, "owners",
			     NULL,
			     "the kubelet reports which containers hold GPUs: %llu ids in %zu "
			     "containers; %llu more in containers unknown here, %llu more of GPUs "
			     "or parts of GPUs unknown here",
			     allocations->held - nameless, allocations->list.container_count,
			     nameless, unknown);
	else
		findings_add(findings, FINDING_FIX, "owners",
			     "check --kube.pod-resources, that Kepler runs as root and that its "
			     "container has that directory",
			     "the kubelet does not report which containers hold GPUs: %s",
			     allocations->error[0] ? allocations->error
			     : stats.last_error[0] ? stats.last_error
						   : "no answer yet");
}

void doctor_examine_owners(struct findings *findings, const struct sources *sources,
			   const struct config *config)
{
	examine_cgroups(findings, sources, config);
	examine_names(findings, sources);
	examine_allocations(findings, &sources->allocations);
}
