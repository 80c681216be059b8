// SPDX-License-Identifier: Apache-2.0
/*
 * Series may have tens of megabytes. They are cut out of the body by its brackets, and the rest,
 * which is small, is parsed.
 */
#include "trainers/train_body.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "base/text/ascii.h"
#include "base/text/json_scan.h"
#include "repository/model_json.h"
#include "repository/node_type.h"

/* ---- series ---- */

/* The body while it is scanned. */
struct cut {
	const char *text;
	size_t len, at;
	struct json_scan scan;
	struct {
		const char *text;
		size_t len;
	} keys[2]; /* the last strings of the outermost object, and of the objects in it */
	struct train_body *body;
	struct strbuf rest;
};

static bool is_key(const struct cut *cut, size_t level, const char *quoted)
{
	return cut->keys[level].len == strlen(quoted) &&
	       memcmp(cut->keys[level].text, quoted, cut->keys[level].len) == 0;
}

/* The destination of the object or array that was just opened, if it has series. */
static struct train_series *series_here(const struct cut *cut)
{
	if (cut->scan.depth == 2 && is_key(cut, 0, "\"prom_response\""))
		return &cut->body->series;
	if (cut->scan.depth == 3 && is_key(cut, 0, "\"trainer\"") &&
	    is_key(cut, 1, "\"idle_prom_response\""))
		return &cut->body->idle;
	return NULL;
}

static enum json_piece next_piece(struct cut *cut)
{
	enum json_piece piece;

	cut->at += json_scan_next(&cut->scan, cut->text + cut->at, cut->len - cut->at, &piece);
	return piece;
}

/* From the bracket at @begin, which was read, to the one that closes it. */
static void cut_series(struct cut *cut, size_t begin, struct train_series *ret)
{
	size_t depth = cut->scan.depth;

	while (cut->at < cut->len) {
		if (next_piece(cut) == PIECE_CLOSE && cut->scan.depth == depth)
			break;
	}
	*ret = (struct train_series){ cut->text + begin, cut->at - begin };
	strbuf_add_str(&cut->rest, "{}");
}

static void cut_text(struct cut *cut)
{
	while (cut->at < cut->len) {
		size_t begin = cut->at, level;
		enum json_piece piece = next_piece(cut);
		struct train_series *series = piece == PIECE_OPEN ? series_here(cut) : NULL;

		if (series) {
			cut_series(cut, begin, series);
			continue;
		}
		strbuf_add(&cut->rest, cut->text + begin, cut->at - begin);
		level = cut->scan.depth - 1;
		if (piece != PIECE_STRING || level >= ARRAY_SIZE(cut->keys))
			continue;
		cut->keys[level].text = cut->text + begin;
		cut->keys[level].len = cut->at - begin;
	}
}

/* ---- members ---- */

/* The rest of the body. Reading continues after a fault, so one response names all. */
struct members {
	struct train_body *body;
	struct diag *diag;
	int result; /* -EINVAL after a fault */
};

static void wrong(struct members *members, const char *member, const char *what)
{
	members->result = diag_add(members->diag, -EINVAL, "%s: %s", member, what);
}

static void take_trainers(struct members *members, const json_t *names, const char *member,
			  struct train_trainers *ret)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));
		const struct trainer *trainer = name ? trainer_find(name) : NULL;
		bool is_known = false;
		char what[128];

		(void)snprintf(what, sizeof(what), "there is no trainer \"%.80s\"",
			       name ? name : "");
		for (size_t k = 0; k < ret->count; k++)
			is_known |= ret->list[k] == trainer;
		if (!trainer)
			wrong(members, member, what);
		else if (!is_known && ret->count == TRAINERS_MAX)
			wrong(members, member, "has too many trainers");
		else if (!is_known)
			ret->list[ret->count++] = trainer;
	}
}

static void take_isolator(struct members *members, const char *name)
{
	static const struct {
		const char *name, *ours;
		enum train_isolator isolator;
	} isolators[] = {
		{ "MinIdleIsolator", "min", TRAIN_ISOLATE_MINIMUM },
		{ "NoneIsolator", "none", TRAIN_ISOLATE_NONE },
		{ "ProfileBackgroundIsolator", "profile", TRAIN_ISOLATE_PROFILE },
		{ "IdleIsolator", "idle", TRAIN_ISOLATE_IDLE },
		{ "TrainIsolator", "trainer", TRAIN_ISOLATE_MODEL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(isolators); i++) {
		if (strcmp(name, isolators[i].name) == 0 || strcmp(name, isolators[i].ours) == 0) {
			members->body->isolator = isolators[i].isolator;
			return;
		}
	}
	if (*name)
		wrong(members, "trainer.isolator",
		      "must be MinIdleIsolator, NoneIsolator, IdleIsolator, "
		      "ProfileBackgroundIsolator or TrainIsolator");
}

/* A text, if there is one. */
static void take_text(struct members *members, const json_t *value, const char *member, char *ret,
		      size_t size)
{
	const char *text = json_string_value(value);

	if (text && strlen(text) >= size)
		wrong(members, member, "is too long");
	else if (text)
		(void)snprintf(ret, size, "%s", text);
}

/* A name that becomes a part of a path. */
static void take_name(struct members *members, const json_t *value, const char *member,
		      char ret[TRAIN_NAME_MAX])
{
	take_text(members, value, member, ret, TRAIN_NAME_MAX);
	for (const char *c = ret; *c; c++) {
		if (!ascii_is_alnum(*c) && !strchr("._-", *c)) {
			wrong(members, member,
			      "must have letters, digits, \".\", \"-\" and \"_\" only");
			return;
		}
	}
	if (!*ret || *ret == '.')
		wrong(members, member, "must not be empty or begin with a dot");
}

static void take_hints(struct members *members, const json_t *hints, const char *member,
		       struct train_hints *ret)
{
	size_t count = json_array_size(hints);

	if (count > TRAIN_HINTS_MAX)
		wrong(members, member, "has too many texts");
	for (size_t i = 0; i < count && i < TRAIN_HINTS_MAX; i++) {
		if (!json_string_length(json_array_get(hints, i)))
			wrong(members, member, "must not have an empty text");
		take_text(members, json_array_get(hints, i), member, ret->text[ret->count++],
			  TRAIN_NAME_MAX);
	}
}

static void take_trainer(struct members *members, const json_t *trainer)
{
	const json_t *arguments = json_object_get(trainer, "isolator_args");
	struct train_body *body = members->body;

	take_trainers(members, json_object_get(trainer, "abs_trainers"), "trainer.abs_trainers",
		      &body->trainers[MODEL_ABS_POWER]);
	take_trainers(members, json_object_get(trainer, "dyn_trainers"), "trainer.dyn_trainers",
		      &body->trainers[MODEL_DYN_POWER]);
	take_isolator(members, model_json_text(trainer, "isolator"));
	take_text(members, json_object_get(arguments, "abs_pipeline_name"),
		  "trainer.isolator_args.abs_pipeline_name", body->abs_pipeline, TRAIN_NAME_MAX);
	take_hints(members, json_object_get(arguments, "bg_hints"),
		   "trainer.isolator_args.bg_hints", &body->bg_hints);
	take_hints(members, json_object_get(arguments, "target_hints"),
		   "trainer.isolator_args.target_hints", &body->target_hints);
}

static void take_machine(struct members *members, const json_t *spec)
{
	static const char *const numbers[] = { "cores", "chips", "memory", "frequency" };
	struct machine_spec *machine = &members->body->machine;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		const json_t *value = json_object_get(spec, numbers[i]);
		char member[32];

		(void)snprintf(member, sizeof(member), "machine_spec.%s", numbers[i]);
		if (value && (!json_is_integer(value) || json_integer_value(value) < 0 ||
			      json_integer_value(value) > UINT32_MAX))
			wrong(members, member, "must be a whole number");
	}
	machine_spec_read(spec, machine);
	if (!machine->processor[0])
		(void)snprintf(machine->processor, sizeof(machine->processor), TRAIN_SPEC_NONE);
}

/* Returns true if the members are consistent. */
static void check(struct members *members, const json_t *series)
{
	const struct train_body *body = members->body;

	if (!body->series.text)
		wrong(members, "prom_response",
		      series ? "must be an object of series"
			     : "is missing; it must have the series");
	if (!body->trainers[MODEL_ABS_POWER].count && !body->trainers[MODEL_DYN_POWER].count)
		wrong(members, "trainer", "abs_trainers or dyn_trainers must name a trainer");
	if (body->isolator == TRAIN_ISOLATE_PROFILE && !body->idle.text)
		wrong(members, "trainer.isolator",
		      "ProfileBackgroundIsolator needs idle_prom_response");
	if (body->isolator == TRAIN_ISOLATE_MODEL && !body->idle.text && !body->bg_hints.count &&
	    !body->target_hints.count)
		wrong(members, "trainer.isolator",
		      "TrainIsolator needs idle_prom_response, or bg_hints or target_hints in "
		      "isolator_args, to find the background");
}

/* @json is the body without its series. */
static int take_members(const json_t *json, struct train_body *ret, struct diag *diag)
{
	struct members members = { ret, diag, 0 };

	take_name(&members, json_object_get(json, "name"), "name", ret->name);
	take_name(&members, json_object_get(json, "energy_source"), "energy_source", ret->source);
	take_text(&members, json_object_get(json, "node"), "node", ret->node, sizeof(ret->node));
	take_machine(&members, json_object_get(json, "machine_spec"));
	take_trainer(&members, json_object_get(json, "trainer"));
	ret->uses_vm_metrics = json_is_true(json_object_get(json, "use_vm_metrics"));
	if (members.result == 0)
		check(&members, json_object_get(json, "prom_response"));
	return members.result;
}

int train_body_read(const char *text, size_t len, struct train_body *ret, struct diag *diag)
{
	struct cut cut = { .text = text, .len = len, .body = ret, .rest = STRBUF_INIT };
	CLEANUP(model_json_release) json_t *body = NULL;
	int r;

	*ret = (struct train_body){ .name = "kepler", .source = "rapl-sysfs" };
	cut_text(&cut);
	r = strbuf_error(&cut.rest);
	if (r < 0)
		(void)diag_set(diag, r, "out of memory");
	else
		body = model_json_parse("the body without its series",
					cut.rest.data ? cut.rest.data : "", cut.rest.len, diag);
	strbuf_release(&cut.rest);
	return body ? take_members(body, ret, diag) : r < 0 ? r : -EINVAL;
}
