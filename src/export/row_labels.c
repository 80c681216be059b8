// SPDX-License-Identifier: Apache-2.0
/*
 * For processes, containers and pods a list of each schema has the labels in the order in which
 * they are printed; rows of other levels have the labels that name them. A process has the names of
 * its container and pod where they differ from the id, so that its series differs from the one
 * before its container had a name.
 */
#include "export/row_labels.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"

/* A key, or the same under another name. */
struct printed {
	enum label_key key;
	const char *alias;
};

#define END                                                                                        \
	{                                                                                          \
		LABEL_KEY_COUNT, NULL                                                              \
	}

static const struct printed of_process[] = {
	{ LABEL_CONTAINER_ID, NULL }, { LABEL_NAMESPACE, NULL }, { LABEL_VM_ID, NULL }, END
};

static const struct printed of_container[] = { { LABEL_CONTAINER_ID, NULL },
					       { LABEL_POD_NAME, NULL },
					       { LABEL_CONTAINER_NAME, NULL },
					       { LABEL_NAMESPACE, NULL },
					       END };

static const struct printed of_container_current[] = { { LABEL_CONTAINER_ID, NULL },
						       { LABEL_CONTAINER_NAME, NULL },
						       { LABEL_RUNTIME, NULL },
						       { LABEL_POD_ID, NULL },
						       { LABEL_POD_NAME, NULL },
						       { LABEL_NAMESPACE, NULL },
						       END };

/*
 * The namespace by its name in the classic schema and by that in the current one, so that families
 * of both, and those of containers, can be added up by one label.
 */
static const struct printed of_pod[] = { { LABEL_POD_ID, NULL },
					 { LABEL_POD_NAME, NULL },
					 { LABEL_NAMESPACE, NULL },
					 { LABEL_NAMESPACE, "pod_namespace" },
					 { LABEL_WORKLOAD, NULL },
					 { LABEL_WORKLOAD_TYPE, NULL },
					 END };

static const struct printed *const lists[LEVEL_COUNT][2] = {
	[LEVEL_PROCESS] = { of_process, of_process },
	[LEVEL_CONTAINER] = { of_container, of_container_current },
	[LEVEL_POD] = { of_pod, of_pod },
};

static const char *name_of(const struct printed *label)
{
	return label->alias ? label->alias : label_info[label->key].name;
}

/* Label number @i of a row, or one with the key LABEL_KEY_COUNT after the last. */
static struct printed label_at(enum row_names names, enum level level, size_t i)
{
	const struct printed *list = lists[level][names];
	uint32_t keys = level_keys(level) & ~LABELS_EXTRA;

	if (list)
		return list[i];
	for (; i && keys; i--)
		keys &= keys - 1;
	return (struct printed){ keys ? (enum label_key)__builtin_ctz(keys) : LABEL_KEY_COUNT,
				 NULL };
}

static bool has_extra(enum level level)
{
	return level >= LEVEL_GROUPS && level_keys(level) & LABELS_EXTRA;
}

static void add(struct row_labels *ret, const char *name, const char *value)
{
	ret->pairs[ret->count++] = (struct label_pair){ .name = name, .value = value };
}

static void add_names(enum row_names names, enum level level, const struct owner_names *owner,
		      struct row_labels *ret)
{
	struct printed label;

	for (size_t i = 0;; i++) {
		label = label_at(names, level, i);
		if (label.key == LABEL_KEY_COUNT)
			break;
		add(ret, name_of(&label), owner->text[label.key]);
		ret->pairs[ret->count - 1].is_id = label_info[label.key].is_id;
	}
	for (size_t i = 0; has_extra(level) && i < owner->extra_count; i++)
		add(ret, owner->extra[i].name, owner->extra[i].value);
}

static void add_name_beyond_id(const struct owner_names *owner, enum label_key key,
			       struct row_labels *ret)
{
	if (owner->text[key][0] && strcmp(owner->text[key], owner->text[LABEL_CONTAINER_ID]) != 0)
		add(ret, label_info[key].name, owner->text[key]);
}

static const char *process_type(const struct owner_names *owner)
{
	if (owner->text[LABEL_VM_ID][0])
		return "vm";
	return owner->text[LABEL_POD_ID][0] || owner->text[LABEL_RUNTIME][0] ? "container"
									     : "regular";
}

/* ---- as attributes of OpenTelemetry ---- */

static void add_attribute(struct row_labels *ret, const char *name, const char *value, bool is_id)
{
	if (!value[0])
		return;
	add(ret, name, value);
	ret->pairs[ret->count - 1].is_id = is_id;
}

/* The semantic conventions have an attribute for the names of the usual kinds of workload. */
static void add_workload(const struct owner_names *owner, struct row_labels *ret)
{
	static const struct {
		const char *type, *attribute;
	} kinds[] = {
		{ "Deployment", "k8s.deployment.name" },
		{ "StatefulSet", "k8s.statefulset.name" },
		{ "DaemonSet", "k8s.daemonset.name" },
		{ "ReplicaSet", "k8s.replicaset.name" },
		{ "Job", "k8s.job.name" },
		{ "CronJob", "k8s.cronjob.name" },
	};
	const char *type = owner->text[LABEL_WORKLOAD_TYPE];
	const char *name = owner->text[LABEL_WORKLOAD];

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(type, kinds[i].type) == 0) {
			add_attribute(ret, kinds[i].attribute, name, false);
			return;
		}
	}
	add_attribute(ret, "kepler.workload.name", name, false);
	add_attribute(ret, "kepler.workload.type", type, false);
}

static void add_pod(const struct owner_names *owner, struct row_labels *ret)
{
	add_attribute(ret, "k8s.pod.uid", owner->text[LABEL_POD_ID], true);
	add_attribute(ret, "k8s.pod.name", owner->text[LABEL_POD_NAME], false);
	add_attribute(ret, "k8s.namespace.name", owner->text[LABEL_NAMESPACE], false);
	add_workload(owner, ret);
}

/* A container has a runtime; a systemd unit, a job and the kernel have none. */
static void add_owner(const struct owner_names *owner, struct row_labels *ret)
{
	const char *runtime = owner->text[LABEL_RUNTIME];
	const char *name = owner->text[LABEL_CONTAINER_NAME];
	bool is_of_pod = owner->text[LABEL_POD_ID][0] != '\0';

	add_attribute(ret, "kepler.owner.id", owner->text[LABEL_CONTAINER_ID], true);
	add_attribute(ret, "kepler.owner.name", name, false);
	add_attribute(ret, "kepler.namespace", owner->text[LABEL_NAMESPACE], false);
	if (owner->text[LABEL_VM_ID][0]) {
		add_attribute(ret, "kepler.vm.id", owner->text[LABEL_VM_ID], false);
		add_attribute(ret, "kepler.vm.name", owner->text[LABEL_VM_NAME], false);
		add_attribute(ret, "kepler.vm.hypervisor", owner->text[LABEL_HYPERVISOR], false);
	} else if (runtime[0]) {
		add_attribute(ret, "container.id", owner->text[LABEL_CONTAINER_ID], false);
		add_attribute(ret, is_of_pod ? "k8s.container.name" : "container.name", name,
			      false);
		if (strcmp(runtime, "kubernetes") != 0)
			add_attribute(ret, "container.runtime.name", runtime, false);
	}
	if (is_of_pod)
		add_pod(owner, ret);
}

/* A row that stands for several has an attribute that says so. */
static void add_attributes(enum level level, bool retired, const struct series_labels *labels,
			   struct row_labels *ret)
{
	const struct owner_names *owner = labels->names;
	bool is_rest = false;

	switch (level) {
	case LEVEL_PROCESS:
		is_rest = labels->pid == 0;
		if (labels->pid) {
			(void)snprintf(ret->pid, sizeof(ret->pid), "%u", labels->pid);
			add_attribute(ret, ATTRIBUTE_PID, ret->pid, true);
			add_attribute(ret, "process.executable.name", labels->command, false);
		}
		add_owner(owner, ret);
		break;
	case LEVEL_CONTAINER:
		is_rest = !owner->text[LABEL_CONTAINER_ID][0];
		add_owner(owner, ret);
		break;
	case LEVEL_POD:
		is_rest = !owner->text[LABEL_POD_ID][0];
		add_pod(owner, ret);
		for (size_t i = 0; i < owner->extra_count; i++)
			add_attribute(ret, owner->extra[i].name, owner->extra[i].value, false);
		break;
	case LEVEL_VM:
		is_rest = !owner->text[LABEL_VM_ID][0];
		add_attribute(ret, "kepler.vm.id", owner->text[LABEL_VM_ID], true);
		add_attribute(ret, "kepler.vm.name", owner->text[LABEL_VM_NAME], false);
		add_attribute(ret, "kepler.vm.hypervisor", owner->text[LABEL_HYPERVISOR], false);
		break;
	case LEVEL_NAMESPACE:
	case LEVEL_COUNT:
	default:
		is_rest = !owner->text[LABEL_NAMESPACE][0];
		add_attribute(ret, "kepler.namespace", owner->text[LABEL_NAMESPACE], true);
	}
	if (retired || is_rest)
		add_attribute(ret, "kepler.row", retired ? "retired" : "other", false);
}

static void add_process(enum row_names names, const struct series_labels *labels,
			struct row_labels *ret)
{
	if (labels->pid)
		(void)snprintf(ret->pid, sizeof(ret->pid), "%u", labels->pid);
	add(ret, "pid", ret->pid);
	if (names == NAMES_CLASSIC) {
		add(ret, "command", labels->command);
		return;
	}
	add(ret, "comm", labels->command);
	add(ret, "exe", "");
	add(ret, "type", process_type(labels->names));
}

void row_labels_get(enum row_names names, enum level level, bool retired,
		    const struct series_labels *labels, struct row_labels *ret)
{
	ret->count = 0;
	ret->pid[0] = '\0';
	if (names == NAMES_OPENTELEMETRY) {
		add_attributes(level, retired, labels, ret);
		return;
	}
	if (level == LEVEL_PROCESS && !retired)
		add_process(names, labels, ret);
	add_names(names, level, labels->names, ret);
	if (level == LEVEL_PROCESS) {
		add_name_beyond_id(labels->names, LABEL_CONTAINER_NAME, ret);
		add_name_beyond_id(labels->names, LABEL_POD_NAME, ret);
	}
}

void row_labels_describe(enum row_names names, enum level level, bool retired, struct strbuf *out)
{
	const char *before = "";
	struct printed label;

	if (level == LEVEL_PROCESS && !retired)
		strbuf_add_str(out, names == NAMES_CLASSIC ? "pid, command, "
							   : "pid, comm, exe, type, ");
	for (size_t i = 0;; i++, before = ", ") {
		label = label_at(names, level, i);
		if (label.key == LABEL_KEY_COUNT)
			break;
		strbuf_addf(out, "%s%s", before, name_of(&label));
	}
	if (level == LEVEL_PROCESS)
		strbuf_add_str(out, " (container_name, pod_name)");
	if (has_extra(level))
		strbuf_add_str(out, " (label_…)");
}
