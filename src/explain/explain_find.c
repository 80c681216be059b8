// SPDX-License-Identifier: Apache-2.0
/*
 * All rows of a table are searched, best match first: an exact id or name, then one that begins
 * with it, then the command of a process. If several rows match, living ones are preferred to ended
 * ones, and if more than one remains, all of them are listed.
 */
#include "explain/explain_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

/* How well a row fits; the higher the better. */
enum fit {
	FIT_NOT,
	FIT_NEAR,   /* has it within */
	FIT_BEGAN,  /* begins so, in four characters at least, and has ended */
	FIT_BEGINS, /* so, and lives: an id that is not written in full */
	FIT_ENDED,  /* is called so, and has ended */
	FIT_EXACT,
};

#define PREFIX_MIN 4

struct search {
	const struct ledger *ledger;
	struct explain_answer *answer;
	const char *text; /* without its kind */
	bool near;        /* the second look */
	enum fit best;
	unsigned count; /* that fit so */
	enum level level;
	uint32_t row;
};

static enum fit fit_text(const char *name, const char *text, bool lives)
{
	if (!name[0] || !text[0])
		return FIT_NOT;
	if (strcmp(name, text) == 0)
		return lives ? FIT_EXACT : FIT_ENDED;
	if (strlen(text) >= PREFIX_MIN && strncmp(name, text, strlen(text)) == 0)
		return lives ? FIT_BEGINS : FIT_BEGAN;
	return FIT_NOT;
}

/* In a second look, where nothing fits. */
static enum fit fit_near(const char *name, const char *text)
{
	return strlen(text) >= PREFIX_MIN && strstr(name, text) ? FIT_NEAR : FIT_NOT;
}

static enum fit better(enum fit a, enum fit b)
{
	return a > b ? a : b;
}

/* "shop/checkout" of a pod or container in a namespace. */
static enum fit fit_in_namespace(const struct owner_names *names, enum label_key key,
				 const char *text, bool lives)
{
	const char *slash = strchr(text, '/'), *space = names->text[LABEL_NAMESPACE];

	if (!slash || strlen(space) != (size_t)(slash - text) ||
	    strncmp(space, text, strlen(space)) != 0)
		return FIT_NOT;
	return fit_text(names->text[key], slash + 1, lives);
}

static void describe(const struct search *search, enum level level, uint32_t row, char *buf,
		     size_t size)
{
	const struct ledger *ledger = search->ledger;

	if (level == LEVEL_PROCESS) {
		const struct ledger_process *process = ledger_process_at(ledger, row);

		(void)snprintf(buf, size, "process %u (%s)", process->pid, process->comm);
	} else if (level == LEVEL_CONTAINER) {
		const struct owner_names *names = ledger_container_at(ledger, row)->names;
		const char *id = names->text[LABEL_CONTAINER_ID];
		const char *name = names->text[LABEL_CONTAINER_NAME];

		if (strcmp(id, name) == 0)
			(void)snprintf(buf, size, "container %s", id);
		else
			(void)snprintf(buf, size, "container %s (%.24s)", name, id);
	} else if (level == LEVEL_POD) {
		const struct owner_names *names = ledger_group_at(ledger, LEVEL_POD, row)->names;

		(void)snprintf(buf, size, "pod %s/%s", names->text[LABEL_NAMESPACE],
			       names->text[LABEL_POD_NAME]);
	} else {
		const struct level_info *info = &level_info[level];
		const struct owner_names *names = ledger_group_at(ledger, level, row)->names;

		if (info->called == info->id)
			(void)snprintf(buf, size, "%s %s", info->name, names->text[info->id]);
		else
			(void)snprintf(buf, size, "%s %s (%s)", info->name,
				       names->text[info->called], names->text[info->id]);
	}
}

/* After a change of names a container has several rows: the latest is meant. */
static bool is_same_container(const struct search *search, enum level level, uint32_t row)
{
	return level == LEVEL_CONTAINER && search->level == LEVEL_CONTAINER &&
	       strcmp(ledger_container_at(search->ledger, search->row)
			      ->names->text[LABEL_CONTAINER_ID],
		      ledger_container_at(search->ledger, row)->names->text[LABEL_CONTAINER_ID]) ==
		       0;
}

static void consider(struct search *search, enum level level, uint32_t row, enum fit fit)
{
	struct explain_answer *answer = search->answer;

	if (fit == FIT_NOT || fit < search->best)
		return;
	if (fit == search->best && search->count == 1 && is_same_container(search, level, row)) {
		if (ledger_container_at(search->ledger, row)->row.serial <
		    ledger_container_at(search->ledger, search->row)->row.serial)
			return;
		search->best = FIT_NOT; /* as if the other had not been met */
	}
	if (fit > search->best) {
		search->best = fit;
		search->count = 0;
		answer->near_count = 0;
	}
	if (search->count++ == 0) {
		search->level = level;
		search->row = row;
	}
	if (answer->near_count < EXPLAIN_NEAR_MAX)
		describe(search, level, row, answer->near[answer->near_count++],
			 EXPLAIN_NEAR_BYTES);
	answer->near_total = search->count;
}

/* The living one before any that has ended, then the one that started last. */
static bool is_rather(const struct ledger_process *process, const struct ledger_process *other)
{
	if (process->row.ended != other->row.ended)
		return !process->row.ended;
	return process->start_ns > other->start_ns;
}

/* In one way of writing: no zeros before it. */
static void look_at_pids(struct search *search)
{
	const struct ledger_process *best = NULL;
	uint32_t best_row = LEDGER_NONE;
	uint64_t pid = 0;

	if (search->text[0] == '0' || parse_u64(search->text, strlen(search->text), &pid) < 0 ||
	    pid > UINT32_MAX)
		return;
	for (uint32_t row = 0; row < ledger_slots(search->ledger, LEVEL_PROCESS); row++) {
		const struct ledger_process *process = ledger_process_at(search->ledger, row);

		if (!process->row.used || process->pid != (uint32_t)pid ||
		    (best && !is_rather(process, best)))
			continue;
		best = process;
		best_row = row;
	}
	if (best)
		consider(search, LEVEL_PROCESS, best_row, FIT_EXACT);
}

/*
 * By what they run: only in the second look, because owners are meant before the processes that are
 * called as they are.
 */
static void look_at_commands(struct search *search)
{
	const char *text = search->text;

	for (uint32_t row = 0; row < ledger_slots(search->ledger, LEVEL_PROCESS); row++) {
		const struct ledger_process *process = ledger_process_at(search->ledger, row);

		if (!process->row.used || !text[0])
			continue;
		if (strcmp(process->comm, text) == 0)
			consider(search, LEVEL_PROCESS, row,
				 process->row.ended ? FIT_ENDED : FIT_EXACT);
		else
			consider(search, LEVEL_PROCESS, row, fit_near(process->comm, text));
	}
}

static void look_at_processes(struct search *search)
{
	if (search->near)
		look_at_commands(search);
	else
		look_at_pids(search);
}

/* A systemd unit is called "nginx.service"; "nginx" will do. */
static enum fit fit_unit(const char *id, const char *text, bool lives)
{
	size_t len = strlen(text);

	if (strncmp(id, text, len) == 0 && strcmp(id + len, ".service") == 0)
		return lives ? FIT_EXACT : FIT_ENDED;
	return FIT_NOT;
}

static void look_at_containers(struct search *search)
{
	const char *text = search->text;

	for (uint32_t row = 0; row < ledger_slots(search->ledger, LEVEL_CONTAINER); row++) {
		const struct ledger_container *container = ledger_container_at(search->ledger, row);
		const struct owner_names *names = container->names;
		bool lives;
		enum fit fit;

		if (!container->row.used)
			continue;
		lives = (container->living || container->is_there) && !container->replaced;
		fit = better(fit_text(names->text[LABEL_CONTAINER_ID], text, lives),
			     fit_text(names->text[LABEL_CONTAINER_NAME], text, lives));
		fit = better(fit, fit_unit(names->text[LABEL_CONTAINER_ID], text, lives));
		fit = better(fit, fit_in_namespace(names, LABEL_CONTAINER_NAME, text, lives));
		if (search->near)
			fit = better(fit_near(names->text[LABEL_CONTAINER_ID], text),
				     fit_near(names->text[LABEL_CONTAINER_NAME], text));
		consider(search, LEVEL_CONTAINER, row, fit);
	}
}

static void look_at_groups(struct search *search, enum level group)
{
	enum label_key called = level_info[group].called, id = level_info[group].id;
	const char *text = search->text;

	for (uint32_t row = 0; row < ledger_slots(search->ledger, group); row++) {
		const struct ledger_group *rows = ledger_group_at(search->ledger, group, row);
		bool lives;
		enum fit fit;

		if (!rows->row.used)
			continue;
		lives = rows->row.members > 0;
		fit = better(fit_text(rows->names->text[called], text, lives),
			     fit_text(rows->names->text[id], text, lives));
		fit = better(fit, fit_in_namespace(rows->names, called, text, lives));
		if (search->near)
			fit = better(fit_near(rows->names->text[called], text),
				     fit_near(rows->names->text[id], text));
		consider(search, group, row, fit);
	}
}

static void look(struct search *search, enum level level)
{
	if (level == LEVEL_PROCESS)
		look_at_processes(search);
	else if (level == LEVEL_CONTAINER)
		look_at_containers(search);
	else
		look_at_groups(search, level);
}

/*
 * Without a kind, the levels in order: if a pod has the name of its only container, or a VM the
 * name of its owner, the first match is as good as any.
 */
static void look_everywhere(struct search *search)
{
	for (enum level level = LEVEL_PROCESS; level < LEVEL_COUNT; level++) {
		look(search, level);
		if (search->best == FIT_EXACT)
			return;
	}
}

static bool has_kind(struct search *search, enum level *ret)
{
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		const char *kind = level == LEVEL_PROCESS ? "pid" : level_info[level].name;
		size_t len = strlen(kind);

		if (strncmp(search->text, kind, len) != 0 || search->text[len] != ':')
			continue;
		search->text += len + 1;
		*ret = level;
		return true;
	}
	return false;
}

static void copy_names(struct explain_answer *answer, const struct owner_names *names)
{
	for (size_t key = 0; key < LABEL_KEY_COUNT; key++)
		(void)snprintf(answer->names[key], sizeof(answer->names[key]), "%s",
			       names->text[key]);
}

static void take_row(struct search *search)
{
	struct explain_answer *answer = search->answer;
	const struct ledger *ledger = search->ledger;
	uint32_t row = search->row;

	answer->explanation.level = search->level;
	answer->explanation.row = row;
	if (search->level == LEVEL_PROCESS) {
		const struct ledger_process *process = ledger_process_at(ledger, row);

		answer->explanation.serial = process->row.serial;
		answer->pid = process->pid;
		memcpy(answer->comm, process->comm, sizeof(answer->comm));
		answer->ended = process->row.ended;
		answer->waiting = ledger_container_at(ledger, process->container)->waiting;
		copy_names(answer, ledger_container_at(ledger, process->container)->names);
	} else if (search->level == LEVEL_CONTAINER) {
		const struct ledger_container *container = ledger_container_at(ledger, row);

		answer->explanation.serial = container->row.serial;
		answer->waiting = container->waiting;
		answer->ended = !container->living && !container->is_there;
		copy_names(answer, container->names);
	} else {
		const struct ledger_group *group = ledger_group_at(ledger, search->level, row);

		answer->explanation.serial = group->row.serial;
		answer->ended = !group->row.members;
		copy_names(answer, group->names);
	}
}

void explain_find(const struct ledger *ledger, struct explain_answer *answer)
{
	struct search search = { .ledger = ledger, .answer = answer, .text = answer->target };
	enum level level = LEVEL_COUNT;

	answer->near_count = answer->near_total = 0;
	answer->result = EXPLAIN_NOT_FOUND;
	for (bool kind = has_kind(&search, &level); search.best == FIT_NOT; search.near = true) {
		if (kind)
			look(&search, level);
		else
			look_everywhere(&search);
		if (search.near)
			break;
	}
	if (search.best < FIT_BEGAN)
		return;
	if (search.count > 1) {
		answer->result = EXPLAIN_AMBIGUOUS;
		return;
	}
	answer->result = EXPLAIN_FOUND;
	take_row(&search);
}
