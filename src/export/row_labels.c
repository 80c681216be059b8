// SPDX-License-Identifier: Apache-2.0
/*
 * Ids go through label_escape_unique(), for two of them must never become one; names need not. A
 * process says what its container and pod are called where that is more than the id says, so that
 * it can be told from the same process before its container had a name.
 */
#include "export/row_labels.h"

#include <string.h>

#include "export/label_escape.h"

static void add_label(struct strbuf *out, const char *name, const char *value)
{
	strbuf_add_str(out, name);
	strbuf_add(out, "=\"", 2);
	label_escape(out, value, strlen(value));
	strbuf_add(out, "\",", 2);
}

static void add_id(struct strbuf *out, const char *name, const char *value)
{
	strbuf_add_str(out, name);
	strbuf_add(out, "=\"", 2);
	label_escape_unique(out, value, strlen(value));
	strbuf_add(out, "\",", 2);
}

static void add_pid(struct strbuf *out, const struct series_labels *labels)
{
	strbuf_add_str(out, "pid=\"");
	if (labels->pid)
		strbuf_add_u64(out, labels->pid);
	strbuf_add(out, "\",", 2);
}

static const struct ledger_owner *owner_of(const struct series_labels *labels)
{
	return labels->container ? labels->container->owner : labels->owner;
}

static void add_name_beyond_id(struct strbuf *out, const char *name, const char *value,
			       const char *id)
{
	if (value[0] && strcmp(value, id) != 0)
		add_label(out, name, value);
}

static void add_process_owner(struct strbuf *out, const struct ledger_owner *owner)
{
	add_id(out, "container_id", owner->container_id);
	add_label(out, "container_namespace", owner->container_namespace);
	add_id(out, "vm_id", owner->vm_id);
	add_name_beyond_id(out, "container_name", owner->container_name, owner->container_id);
	add_name_beyond_id(out, "pod_name", owner->pod_name, owner->container_id);
}

static void add_pod(struct strbuf *out, const struct ledger_owner *owner, const char *namespace)
{
	add_id(out, "pod_id", owner->pod_id);
	add_label(out, "pod_name", owner->pod_name);
	add_label(out, namespace, owner->container_namespace);
	add_label(out, "workload", owner->workload);
	add_label(out, "workload_type", owner->workload_type);
	if (owner->pod_labels[0] == ',') { /* ready to print, see ledger.h */
		strbuf_add_str(out, owner->pod_labels + 1);
		strbuf_add_char(out, ',');
	}
}

static void add_vm(struct strbuf *out, const struct ledger_owner *owner)
{
	add_id(out, "vm_id", owner->vm_id);
	add_label(out, "vm_name", owner->vm_name);
	add_label(out, "hypervisor", owner->hypervisor);
}

void row_labels_classic(struct strbuf *out, enum snapshot_level level, bool retired,
			const struct series_labels *labels)
{
	const struct ledger_owner *owner = owner_of(labels);

	switch (level) {
	case LEVEL_PROCESS:
		if (!retired) {
			add_pid(out, labels);
			add_label(out, "command", labels->command);
		}
		add_process_owner(out, owner);
		break;
	case LEVEL_CONTAINER:
		add_id(out, "container_id", owner->container_id);
		add_label(out, "pod_name", owner->pod_name);
		add_label(out, "container_name", owner->container_name);
		add_label(out, "container_namespace", owner->container_namespace);
		break;
	case LEVEL_POD:
		add_pod(out, owner, "container_namespace");
		break;
	case LEVEL_VM:
		add_vm(out, owner);
		break;
	case LEVEL_NAMESPACE:
	case LEVEL_COUNT:
	default:
		add_label(out, "container_namespace", owner->container_namespace);
	}
}

static const char *process_type(const struct ledger_owner *owner)
{
	if (owner->vm_id[0])
		return "vm";
	return owner->pod_id[0] || owner->runtime[0] ? "container" : "regular";
}

void row_labels_current(struct strbuf *out, enum snapshot_level level, bool retired,
			const struct series_labels *labels)
{
	const struct ledger_owner *owner = owner_of(labels);

	switch (level) {
	case LEVEL_PROCESS:
		if (!retired) {
			add_pid(out, labels);
			add_label(out, "comm", labels->command);
			strbuf_add_str(out, "exe=\"\",");
			add_label(out, "type", process_type(owner));
		}
		add_process_owner(out, owner);
		break;
	case LEVEL_CONTAINER:
		add_id(out, "container_id", owner->container_id);
		add_label(out, "container_name", owner->container_name);
		add_label(out, "runtime", owner->runtime);
		add_id(out, "pod_id", owner->pod_id);
		add_label(out, "pod_name", owner->pod_name);
		add_label(out, "container_namespace", owner->container_namespace);
		break;
	case LEVEL_POD:
		add_pod(out, owner, "pod_namespace");
		break;
	case LEVEL_VM:
		add_vm(out, owner);
		break;
	case LEVEL_NAMESPACE:
	case LEVEL_COUNT:
	default:
		add_label(out, "container_namespace", owner->container_namespace);
	}
}
