// SPDX-License-Identifier: Apache-2.0
/*
 * Known names stay, even when the directory has forgotten them: the owner's last joules can come
 * late. An owner that was published without names never waits again, so that its series does not
 * vanish; when names come, a new series begins.
 */
#include "workload/name_lookup.h"

#include <string.h>

#include "base/macro.h"

/* As long as a source that can know it is active. */
static uint64_t patience_ns(const struct owner *owner, const struct directory *directory)
{
	if (owner->pod_id[0] && directory_source_is_reachable(directory, DIRECTORY_KUBERNETES))
		return DIRECTORY_WAIT_NS;
	return directory_source_is_reachable(directory, DIRECTORY_RUNTIME)
		       ? NAME_LOOKUP_RUNTIME_WAIT_NS
		       : 0;
}

/*
 * A runtime's facts come from labels and annotations, which authors of images and pods write: its
 * facts about a pod count only if the cgroup is in that very pod.
 */
static bool may_tell_of_pod(const struct directory_record *record, const struct owner *owner)
{
	return record->source == DIRECTORY_KUBERNETES ||
	       (owner->pod_id[0] && strcmp(owner->pod_id, record->names->text[LABEL_POD_ID]) == 0);
}

/*
 * The facts of Kubernetes about the pod take precedence over the facts of a runtime about its
 * container.
 */
static void adopt(struct owner *owner, struct directory_record *record,
		  const struct directory_record *pod)
{
	static const struct owner_names nothing;
	const uint32_t of_pod = labels_said();
	struct owner_names names = *record->names;

	if (!may_tell_of_pod(record, owner))
		owner_names_take(&names, &nothing, of_pod);
	if (pod && pod->source == DIRECTORY_KUBERNETES) {
		owner_names_take(&names, pod->names, of_pod);
		record->pod_source = pod->pod_source;
	}
	record->names = owner_names_intern(owner->table, &names);
	if (record->names)
		owner_set_names(owner, record, owner->is_nested);
	owner_names_unref(record->names);
}

/* Returns true if a source knows it by its own id. */
static bool ask(struct owner *owner, const struct name_lookup *lookup)
{
	struct directory_record own = { 0 }, pod = { 0 };
	bool tell = lookup->now_ns - owner->first_seen_ns < NAME_LOOKUP_ASK_NS;
	bool found = tell ? directory_find(lookup->directory, owner->names_id, owner->table, &own)
			  : directory_peek(lookup->directory, owner->names_id, owner->table, &own);
	const struct owner_names *held = own.names;
	bool is_complete = found && own.source == DIRECTORY_KUBERNETES;
	bool has_pod = !is_complete && owner->pod_id[0] &&
		       directory_find_pod(lookup->directory, owner->pod_id, owner->table, &pod);

	if (found)
		adopt(owner, &own, has_pod ? &pod : NULL);
	else if (has_pod && (!owner->record.names || owner->is_pod_only))
		owner_set_names(owner, &pod, true);
	owner_names_unref(held);
	owner_names_unref(pod.names);
	return found;
}

/* True if its own names are known; in a pod they are those of Kubernetes, if it can be asked. */
static bool is_named(const struct owner *owner, bool found, const struct directory *directory)
{
	if (owner->is_stale || !owner->record.names ||
	    (!found && owner->is_pod_only && owner->names_id[0]))
		return false;
	return owner->record.source == DIRECTORY_KUBERNETES || !owner->pod_id[0] ||
	       !directory_source_is_reachable(directory, DIRECTORY_KUBERNETES);
}

void name_lookup_refresh(struct owner *owner, const struct name_lookup *lookup)
{
	uint64_t age_ns = lookup->now_ns - owner->first_seen_ns;
	struct identity *view = &owner->view;
	bool found;

	owner_recompose(owner);
	if (!lookup->directory || (!owner->names_id[0] && !owner->pod_id[0]))
		return;
	if (owner->is_nested_pod && lookup->host_has_pods) {
		owner_hide_pod(owner);
		view->waiting = false;
		return;
	}
	if (owner->asked && (view->waiting ? owner->asked_interval == lookup->interval
					   : owner->asked_generation == lookup->generation))
		return;
	owner->asked = true;
	owner->asked_interval = lookup->interval;
	owner->asked_generation = lookup->generation;
	found = ask(owner, lookup);
	view->waiting = !is_named(owner, found, lookup->directory) && !owner->settled &&
			age_ns < patience_ns(owner, lookup->directory);
	owner->settled = !view->waiting;
}
