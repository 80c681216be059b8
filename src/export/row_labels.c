// SPDX-License-Identifier: Apache-2.0
/*
 * For each level and schema a list has the names of an owner that its series show. Ids go through
 * label_escape_unique(), because two of them must never become one; names may. A process has the
 * names of its container and pod where they differ from the id, so that its series differs from
 * the one before its container had a name.
 */
#include "export/row_labels.h"

#include <string.h>

#include "base/macro.h"
#include "export/label_escape.h"

#define LABELS_ID (LABEL_BIT(LABEL_CONTAINER_ID) | LABEL_BIT(LABEL_POD_ID) | LABEL_BIT(LABEL_VM_ID))

struct printed {
	const char *name;
	enum label_key key;
};

struct printed_list {
	const struct printed *labels;
	size_t count;
	bool extra; /* a pod's labels that the user asked for follow */
};

#define LIST(labels)                                                                               \
	{                                                                                          \
		(labels), ARRAY_SIZE(labels), false                                                \
	}

static const struct printed of_process[] = {
	{ "container_id", LABEL_CONTAINER_ID },
	{ "container_namespace", LABEL_NAMESPACE },
	{ "vm_id", LABEL_VM_ID },
};

static const struct printed of_container[] = {
	{ "container_id", LABEL_CONTAINER_ID },
	{ "pod_name", LABEL_POD_NAME },
	{ "container_name", LABEL_CONTAINER_NAME },
	{ "container_namespace", LABEL_NAMESPACE },
};

static const struct printed of_container_current[] = {
	{ "container_id", LABEL_CONTAINER_ID }, { "container_name", LABEL_CONTAINER_NAME },
	{ "runtime", LABEL_RUNTIME },           { "pod_id", LABEL_POD_ID },
	{ "pod_name", LABEL_POD_NAME },         { "container_namespace", LABEL_NAMESPACE },
};

/*
 * The namespace by its name in the classic schema and by that in the current one, so that families
 * of both, and those of containers, can be added up by one label.
 */
static const struct printed of_pod[] = {
	{ "pod_id", LABEL_POD_ID },
	{ "pod_name", LABEL_POD_NAME },
	{ "container_namespace", LABEL_NAMESPACE },
	{ "pod_namespace", LABEL_NAMESPACE },
	{ "workload", LABEL_WORKLOAD },
	{ "workload_type", LABEL_WORKLOAD_TYPE },
};

static const struct printed of_vm[] = {
	{ "vm_id", LABEL_VM_ID },
	{ "vm_name", LABEL_VM_NAME },
	{ "hypervisor", LABEL_HYPERVISOR },
};

static const struct printed of_namespace[] = {
	{ "container_namespace", LABEL_NAMESPACE },
};

static const struct printed_list classic[LEVEL_COUNT] = {
	[LEVEL_PROCESS] = LIST(of_process),
	[LEVEL_CONTAINER] = LIST(of_container),
	[LEVEL_POD] = { of_pod, ARRAY_SIZE(of_pod), true },
	[LEVEL_VM] = LIST(of_vm),
	[LEVEL_NAMESPACE] = LIST(of_namespace),
};

/* A process has the same in both, as a pod has. */
static const struct printed_list current[LEVEL_COUNT] = {
	[LEVEL_CONTAINER] = LIST(of_container_current),
	[LEVEL_POD] = { of_pod, ARRAY_SIZE(of_pod), true },
	[LEVEL_VM] = LIST(of_vm),
	[LEVEL_NAMESPACE] = LIST(of_namespace),
};

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

static void add_name_beyond_id(struct strbuf *out, const char *name, const char *value,
			       const char *id)
{
	if (value[0] && strcmp(value, id) != 0)
		add_label(out, name, value);
}

static void add_names(struct strbuf *out, const struct printed_list *list,
		      const struct owner_names *names)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct printed *label = &list->labels[i];

		if (LABEL_BIT(label->key) & LABELS_ID)
			add_id(out, label->name, names->text[label->key]);
		else
			add_label(out, label->name, names->text[label->key]);
	}
	for (size_t i = 0; list->extra && i < names->extra_count; i++)
		add_label(out, names->extra[i].name, names->extra[i].value);
}

static void add_process_names(struct strbuf *out, const struct owner_names *names)
{
	const char *id = names->text[LABEL_CONTAINER_ID];

	add_names(out, &classic[LEVEL_PROCESS], names);
	add_name_beyond_id(out, "container_name", names->text[LABEL_CONTAINER_NAME], id);
	add_name_beyond_id(out, "pod_name", names->text[LABEL_POD_NAME], id);
}

void row_labels_classic(struct strbuf *out, enum level level, bool retired,
			const struct series_labels *labels)
{
	if (level != LEVEL_PROCESS) {
		add_names(out, &classic[level], labels->names);
		return;
	}
	if (!retired) {
		add_pid(out, labels);
		add_label(out, "command", labels->command);
	}
	add_process_names(out, labels->names);
}

static const char *process_type(const struct owner_names *names)
{
	if (names->text[LABEL_VM_ID][0])
		return "vm";
	return names->text[LABEL_POD_ID][0] || names->text[LABEL_RUNTIME][0] ? "container"
									     : "regular";
}

void row_labels_current(struct strbuf *out, enum level level, bool retired,
			const struct series_labels *labels)
{
	if (level != LEVEL_PROCESS) {
		add_names(out, &current[level], labels->names);
		return;
	}
	if (!retired) {
		add_pid(out, labels);
		add_label(out, "comm", labels->command);
		strbuf_add_str(out, "exe=\"\",");
		add_label(out, "type", process_type(labels->names));
	}
	add_process_names(out, labels->names);
}
