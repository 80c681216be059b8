// SPDX-License-Identifier: Apache-2.0
/*
 * Names that were once known stay, even when the directory has forgotten them: the owner's last
 * joules can come late. What was published without names never waits again, so that its series does
 * not vanish; when names come, labels_version tells.
 */
#include "workload/owner_names.h"

#include <string.h>

#include "base/macro.h"
#include "workload/directory_record.h"

/* As long as a source that can tell is at work. */
static uint64_t patience_ns(const struct owner *owner, const struct directory *directory)
{
	if (owner->pod_id[0] && directory_source_is_reachable(directory, DIRECTORY_KUBERNETES))
		return DIRECTORY_WAIT_NS;
	return directory_source_is_reachable(directory, DIRECTORY_RUNTIME)
		       ? OWNER_NAMES_RUNTIME_WAIT_NS
		       : 0;
}

/* What Kubernetes says of the pod is more than what a runtime says of its container. */
static void adopt_pod(struct container_names *names, const struct container_names *pod)
{
	names->pod_name = pod->pod_name;
	names->pod_namespace = pod->pod_namespace;
	names->pod_id = pod->pod_id;
	names->workload = pod->workload;
	names->workload_type = pod->workload_type;
	names->pod_labels = pod->pod_labels;
	names->pod_qos = pod->pod_qos;
	names->pod_source = pod->pod_source;
}

/*
 * What a runtime knows comes from labels and annotations, which authors of images and pods write:
 * of a pod it says something only where the cgroup lies in that very pod.
 */
static void doubt_pod(struct container_names *names, const struct owner *owner)
{
	static const struct container_names nothing = { .pod_name = "",
							.pod_namespace = "",
							.pod_id = "",
							.workload = "",
							.workload_type = "",
							.pod_labels = "" };

	if (names->source == DIRECTORY_KUBERNETES ||
	    (owner->pod_id[0] && strcmp(owner->pod_id, names->pod_id) == 0))
		return;
	adopt_pod(names, &nothing);
	names->pod_source = names->source;
}

/* Whether a source knows it by its own id. */
static bool ask(struct owner *owner, const struct owner_names_context *context)
{
	char buffer[DIRECTORY_NAMES_MAX], pod_buffer[DIRECTORY_NAMES_MAX];
	struct container_names names, pod;
	bool tell = context->now_ns - owner->first_seen_ns < OWNER_NAMES_ASK_NS;
	bool found = tell ? directory_find(context->directory, owner->names_id, buffer,
					   sizeof(buffer), &names)
			  : directory_peek(context->directory, owner->names_id, buffer,
					   sizeof(buffer), &names);
	bool is_complete = found && names.source == DIRECTORY_KUBERNETES;
	bool has_pod = !is_complete && owner->pod_id[0] &&
		       directory_find_pod(context->directory, owner->pod_id, pod_buffer,
					  sizeof(pod_buffer), &pod);

	if (found) {
		doubt_pod(&names, owner);
		if (has_pod && pod.source == DIRECTORY_KUBERNETES)
			adopt_pod(&names, &pod);
		owner_set_names(owner, &names, owner->is_nested);
	} else if (has_pod && (!owner->record || owner->is_pod_only)) {
		owner_set_names(owner, &pod, true);
	}
	return found;
}

/* Whether its own names are known; in a pod they are those of Kubernetes, if it can be asked. */
static bool is_named(const struct owner *owner, bool found, const struct directory *directory)
{
	if (!owner->record || (!found && owner->is_pod_only && owner->names_id[0]))
		return false;
	return owner->record->names.source == DIRECTORY_KUBERNETES || !owner->pod_id[0] ||
	       !directory_source_is_reachable(directory, DIRECTORY_KUBERNETES);
}

void owner_names_refresh(struct owner *owner, const struct owner_names_context *context)
{
	uint64_t age_ns = context->now_ns - owner->first_seen_ns;
	struct identity *view = &owner->view;
	bool found;

	if (!context->directory || (!owner->names_id[0] && !owner->pod_id[0]))
		return;
	if (owner->is_nested_pod && context->host_has_pods) {
		owner_hide_pod(owner);
		view->waiting = false;
		return;
	}
	if (owner->asked && (view->waiting ? owner->asked_interval == context->interval
					   : owner->asked_generation == context->generation))
		return;
	owner->asked = true;
	owner->asked_interval = context->interval;
	owner->asked_generation = context->generation;
	found = ask(owner, context);
	view->waiting = !is_named(owner, found, context->directory) && !owner->settled &&
			age_ns < patience_ns(owner, context->directory);
	owner->settled = !view->waiting;
}
