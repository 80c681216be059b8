// SPDX-License-Identifier: Apache-2.0
/*
 * labels_version is a hash of the label texts: it changes with them and with nothing else, and
 * comes back with them.
 */
#include "workload/owner.h"

#include <string.h>

#include "base/hash.h"
#include "base/macro.h"
#include "workload/directory_record.h"

static const size_t labels[] = {
	offsetof(struct identity, container_id),
	offsetof(struct identity, container_name),
	offsetof(struct identity, container_namespace),
	offsetof(struct identity, pod_name),
	offsetof(struct identity, runtime),
	offsetof(struct identity, pod_id),
	offsetof(struct identity, workload),
	offsetof(struct identity, workload_type),
	offsetof(struct identity, pod_labels),
	offsetof(struct identity, vm_id),
	offsetof(struct identity, vm_name),
	offsetof(struct identity, hypervisor),
	offsetof(struct identity, pod_qos),
};

/* Terminators included. */
static uint32_t hash_labels(const struct identity *view)
{
	uint32_t hash = HASH32_START;

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		const char *text =
			*(const char *const *)(const void *)((const char *)view + labels[i]);

		hash = hash32_bytes(hash, text, strlen(text) + 1);
	}
	return hash;
}

/* The first that is not empty. */
static const char *either(const char *one, const char *other)
{
	return one[0] ? one : other;
}

static void compose(struct owner *owner)
{
	static const struct container_names nothing = { "", "", "", "", "", "", "", "" };
	const struct container_names *names = owner->record ? &owner->record->names : &nothing;
	struct identity *view = &owner->view;
	bool own = owner->record && !owner->is_pod_only;

	view->container_name = own ? either(names->container_name, owner->name) : owner->name;
	/* The kernel's word: who writes names cannot move what runs into another pod. */
	view->pod_id = either(owner->pod_id, names->pod_id);
	view->pod_name = either(names->pod_name, either(view->pod_id, view->container_name));
	view->container_namespace =
		either(names->pod_namespace, view->kind == OWNER_KERNEL ? "kernel" : "system");
	view->workload = names->workload;
	view->workload_type = names->workload_type;
	view->pod_labels = names->pod_labels;
	view->has_pod_names = names->pod_name[0] && names->pod_source == DIRECTORY_KUBERNETES;
	view->pod_qos = pod_qos_name(names->pod_qos);
	view->size_millicpu = !own                       ? 0
			      : names->cpu_request_milli ? names->cpu_request_milli
							 : names->cpu_limit_milli;
	view->labels_version = hash_labels(view);
}

static const char *append(char **at, const char *text)
{
	size_t size = strlen(text) + 1;
	const char *copy = memcpy(*at, text, size);

	*at += size;
	return copy;
}

struct owner *owner_new(const struct cgroup_owner *what, uint64_t now_ns)
{
	size_t path_len = what->path ? what->path_len : 0;
	size_t size = strlen(what->id) + strlen(what->name) + strlen(what->pod_id) +
		      strlen(what->names_id) + path_len + 5;
	struct owner *owner = calloc(1, sizeof(*owner) + size);
	bool is_machine = what->kind == OWNER_VM;
	char *at;

	if (!owner)
		return NULL;
	at = owner->text;
	owner->refs = 1;
	owner->first_seen_ns = now_ns;
	owner->is_nested = what->is_nested;
	owner->is_nested_pod = what->is_nested_pod;
	owner->view.kind = what->kind;
	owner->view.runtime = what->runtime;
	owner->view.container_id = append(&at, what->id);
	owner->name = append(&at, what->name);
	owner->pod_id = append(&at, what->pod_id);
	owner->names_id = append(&at, what->names_id);
	if (path_len)
		memcpy(at, what->path, path_len); /* a terminator follows: all is zero */
	owner->path = at;
	owner->view.vm_id = is_machine ? owner->view.container_id : "";
	owner->view.vm_name = is_machine ? owner->name : "";
	owner->view.hypervisor = what->hypervisor;
	compose(owner);
	return owner;
}

void owner_free(struct owner *owner)
{
	if (!owner)
		return;
	free(owner->record);
	free(owner->machine);
	free(owner->new_name);
	free(owner);
}

void owner_set_names(struct owner *owner, const struct container_names *names, bool is_pod_only)
{
	struct directory_record *record = directory_record_new(names);

	if (!record)
		return;
	if (owner->record && owner->is_pod_only == is_pod_only &&
	    directory_record_equal(owner->record, record)) {
		free(record);
		return;
	}
	free(owner->record);
	owner->record = record;
	owner->is_pod_only = is_pod_only;
	compose(owner);
}

void owner_rename(struct owner *owner, const char *name)
{
	char *copy;

	if (strcmp(owner->name, name) == 0)
		return;
	copy = strdup(name);
	if (!copy)
		return;
	free(owner->new_name);
	owner->name = owner->new_name = copy;
	if (owner->view.kind == OWNER_VM)
		owner->view.vm_name = copy;
	compose(owner);
}

void owner_hide_pod(struct owner *owner)
{
	if (!owner->pod_id[0] && !owner->record)
		return;
	free(TAKE_PTR(owner->record));
	owner->pod_id = "";
	compose(owner);
}

void owner_set_machine(struct owner *owner, const struct cgroup_owner *machine, uint32_t pid)
{
	char *text = malloc(strlen(machine->id) + strlen(machine->name) + 2), *at = text;

	if (!text)
		return;
	owner->view.vm_id = append(&at, machine->id);
	owner->view.vm_name = append(&at, machine->name);
	owner->view.hypervisor = machine->hypervisor;
	owner->machine_pid = pid;
	free(owner->machine);
	owner->machine = text;
	compose(owner);
}
