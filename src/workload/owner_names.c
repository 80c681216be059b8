// SPDX-License-Identifier: Apache-2.0
/*
 * Names that were once known stay, even when the directory has forgotten them: the owner's last
 * joules can come late. Who was published without names never waits again, so that its series does
 * not vanish; when names come, labels_version tells.
 */
#include "workload/owner_names.h"

#include "base/macro.h"

/* As long as somebody who can tell is at work. */
static uint64_t patience_ns(const struct owner *owner, const struct directory *directory)
{
	if (owner->pod_id[0] && directory_source_is_reachable(directory, DIRECTORY_KUBERNETES))
		return DIRECTORY_WAIT_NS;
	return directory_source_is_reachable(directory, DIRECTORY_RUNTIME)
		       ? OWNER_NAMES_RUNTIME_WAIT_NS
		       : 0;
}

/* Whether its own names are known now. */
static bool ask(struct owner *owner, const struct owner_names_context *context)
{
	char buffer[DIRECTORY_NAMES_MAX];
	struct container_names names;
	bool tell = context->now_ns - owner->first_seen_ns < OWNER_NAMES_ASK_NS;
	bool found = tell ? directory_find(context->directory, owner->names_id, buffer,
					   sizeof(buffer), &names)
			  : directory_peek(context->directory, owner->names_id, buffer,
					   sizeof(buffer), &names);

	if (found) {
		owner_set_names(owner, &names, owner->is_nested);
		return true;
	}
	if (owner->pod_id[0] && (!owner->record || owner->is_pod_only) &&
	    directory_find_pod(context->directory, owner->pod_id, buffer, sizeof(buffer), &names))
		owner_set_names(owner, &names, true);
	return owner->record && (!owner->is_pod_only || !owner->names_id[0]);
}

void owner_names_refresh(struct owner *owner, const struct owner_names_context *context)
{
	uint64_t age_ns = context->now_ns - owner->first_seen_ns;
	struct identity *view = &owner->view;

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
	view->waiting = !ask(owner, context) && !owner->settled &&
			age_ns < patience_ns(owner, context->directory);
	owner->settled = !view->waiting;
}
