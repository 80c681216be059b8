// SPDX-License-Identifier: Apache-2.0
/* Facts from the path take precedence over those from the directory, except for names. */
#include "workload/owner.h"

#include <string.h>

#include "base/macro.h"

/* The first that is known. */
static const char *either(const char *one, const char *other)
{
	return one && one[0] ? one : other;
}

/* Where nothing has said the namespace of its pod, it is in none that has another name. */
static const char *own_namespace(enum owner_kind kind, const char *pod_id)
{
	if (pod_id && pod_id[0])
		return "unknown";
	return kind == OWNER_KERNEL ? "kernel" : "system";
}

/* The current names of an owner. @said: from the directory. */
static struct owner_names names_of(const struct owner *owner, const struct owner_names *said,
				   bool own)
{
	struct owner_names names = { 0 };
	const char **text = names.text;

	if (said)
		owner_names_take(&names, said, labels_said());
	text[LABEL_CONTAINER_ID] = owner->id;
	text[LABEL_CONTAINER_NAME] =
		own ? either(said->text[LABEL_CONTAINER_NAME], owner->name) : owner->name;
	text[LABEL_RUNTIME] = owner->runtime;
	/* The pod is the one of the cgroup: a source of names cannot move work into another pod. */
	text[LABEL_POD_ID] = either(owner->pod_id, text[LABEL_POD_ID]);
	text[LABEL_POD_NAME] = either(text[LABEL_POD_NAME],
				      either(text[LABEL_POD_ID], text[LABEL_CONTAINER_NAME]));
	text[LABEL_NAMESPACE] =
		either(text[LABEL_NAMESPACE], own_namespace(owner->view.kind, text[LABEL_POD_ID]));
	text[LABEL_VM_ID] = owner->vm_id;
	text[LABEL_VM_NAME] = owner->vm_name;
	text[LABEL_HYPERVISOR] = owner->hypervisor;
	return names;
}

/* Without memory the view stays as it was, until owner_recompose(). */
static void compose(struct owner *owner)
{
	const struct directory_record *record = &owner->record;
	const struct owner_names *said = record->names, *interned;
	bool own = said && !owner->is_pod_only;
	struct identity *view = &owner->view;
	struct owner_names names = names_of(owner, said, own);

	interned = owner_names_intern(owner->table, &names);
	owner->is_stale = !interned;
	if (!interned)
		return;
	owner_names_unref(view->names);
	view->names = interned;
	view->has_pod_names =
		said && said->text[LABEL_POD_NAME][0] && record->pod_source == DIRECTORY_KUBERNETES;
	view->size_millicpu = !own                        ? 0
			      : record->cpu_request_milli ? record->cpu_request_milli
							  : record->cpu_limit_milli;
}

static const char *append(char **at, const char *text)
{
	size_t size = strlen(text) + 1;
	const char *copy = memcpy(*at, text, size);

	*at += size;
	return copy;
}

struct owner *owner_new(struct names_table *names, const struct cgroup_owner *what, uint64_t now_ns)
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
	owner->table = names;
	owner->first_seen_ns = now_ns;
	owner->is_nested = what->is_nested;
	owner->is_nested_pod = what->is_nested_pod;
	owner->view.kind = what->kind;
	owner->runtime = what->runtime;
	owner->id = append(&at, what->id);
	owner->name = append(&at, what->name);
	owner->pod_id = append(&at, what->pod_id);
	owner->names_id = append(&at, what->names_id);
	if (path_len)
		memcpy(at, what->path, path_len); /* a terminator follows: all is zero */
	owner->path = at;
	owner->vm_id = is_machine ? owner->id : "";
	owner->vm_name = is_machine ? owner->name : "";
	owner->hypervisor = what->hypervisor;
	compose(owner);
	if (!owner->view.names) {
		owner_free(owner);
		return NULL;
	}
	return owner;
}

void owner_free(struct owner *owner)
{
	if (!owner)
		return;
	owner_names_unref(owner->view.names);
	owner_names_unref(owner->record.names);
	free(owner->machine);
	free(owner->new_name);
	free(owner);
}

static bool is_same_record(const struct directory_record *a, const struct directory_record *b)
{
	return a->names == b->names && a->cpu_request_milli == b->cpu_request_milli &&
	       a->cpu_limit_milli == b->cpu_limit_milli && a->source == b->source &&
	       a->pod_source == b->pod_source;
}

void owner_set_names(struct owner *owner, const struct directory_record *record, bool is_pod_only)
{
	if (is_same_record(&owner->record, record) && owner->is_pod_only == is_pod_only)
		return;
	(void)owner_names_ref(record->names);
	owner_names_unref(owner->record.names);
	owner->record = *record;
	owner->is_pod_only = is_pod_only;
	compose(owner);
}

void owner_recompose(struct owner *owner)
{
	if (owner->is_stale)
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
		owner->vm_name = copy;
	compose(owner);
}

void owner_hide_pod(struct owner *owner)
{
	if (!owner->pod_id[0] && !owner->record.names)
		return;
	owner_names_unref(owner->record.names);
	owner->record = (struct directory_record){ 0 };
	owner->pod_id = "";
	compose(owner);
}

void owner_set_machine(struct owner *owner, const struct cgroup_owner *machine, uint32_t pid)
{
	char *text = malloc(strlen(machine->id) + strlen(machine->name) + 2), *at = text;

	if (!text)
		return;
	owner->vm_id = append(&at, machine->id);
	owner->vm_name = append(&at, machine->name);
	owner->hypervisor = machine->hypervisor;
	owner->machine_pid = pid;
	free(owner->machine);
	owner->machine = text;
	compose(owner);
}
