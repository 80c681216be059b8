// SPDX-License-Identifier: Apache-2.0
/* Chooses the reader: BPF where the kernel lets us, else /proc; and hands each call on to it. */
#include "activity/activity.h"

#include <errno.h>
#include <stdio.h>

#define MAX_PROCESSES_DEFAULT 65536U

int activity_open(const struct activity_options *options, struct activity_reader **ret)
{
	struct activity_options complete = *options;
	char why[ACTIVITY_WHY_MAX] = "switched off";
	struct activity_reader *reader = NULL;
	int r = -ENOTSUP;

	if (!complete.procfs)
		complete.procfs = "/proc";
	if (!complete.cgroup_controller)
		complete.cgroup_controller = "";
	if (!complete.max_processes)
		complete.max_processes = MAX_PROCESSES_DEFAULT;
	if (complete.allow_bpf)
		r = bpf_activity_open(&complete, &reader, why, sizeof(why));
	if (r < 0) {
		r = proc_activity_open(&complete, &reader);
		if (r < 0)
			return r;
		(void)snprintf(reader->why_not_bpf, sizeof(reader->why_not_bpf), "%s", why);
	}
	*ret = reader;
	return 0;
}

void activity_close(struct activity_reader *reader)
{
	if (reader)
		reader->ops->close(reader);
}

int activity_read(struct activity_reader *reader, struct activity *activity)
{
	return reader->ops->read(reader, activity);
}

int activity_fd(const struct activity_reader *reader)
{
	return reader->ops->fd ? reader->ops->fd(reader) : -1;
}

void activity_drain(struct activity_reader *reader)
{
	if (reader->ops->drain)
		reader->ops->drain(reader);
}

void activity_get_info(const struct activity_reader *reader, struct activity_info *ret)
{
	reader->ops->get_info(reader, ret);
	(void)snprintf(ret->why_not_bpf, sizeof(ret->why_not_bpf), "%s", reader->why_not_bpf);
}

void activity_visit(struct activity_reader *reader, activity_visit_fn *fn, void *userdata)
{
	reader->ops->visit(reader, fn, userdata);
}

void activity_visit_new_cgroups(struct activity_reader *reader, activity_cgroup_fn *fn,
				void *userdata)
{
	if (reader->ops->new_cgroups)
		reader->ops->new_cgroups(reader, fn, userdata);
}
