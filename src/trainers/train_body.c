// SPDX-License-Identifier: Apache-2.0
#include "trainers/train_body.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/num.h"
#include "samples/json_stream.h"

#define LEVELS  4   /* of members that are looked at */
#define KEY_MAX 64  /* bytes of one of their names */
#define AT_MAX  200 /* of all of them, with dots between */

struct reading {
	struct json_stream json;
	const char *begin; /* of the body */
	struct train_body *body;
	unsigned depth;              /* of open brackets */
	char keys[LEVELS][KEY_MAX];  /* the member at each depth */
	struct train_series *series; /* that is being skipped, or NULL */
	unsigned series_depth;
	struct diag *diag;
	bool has_problem;
};

/* "trainer.abs_trainers", for messages. */
static const char *place_of(const struct reading *reading, char buf[AT_MAX])
{
	unsigned depth = reading->depth < LEVELS ? reading->depth : LEVELS;
	size_t len = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < depth && reading->keys[i][0]; i++)
		len += (size_t)snprintf(buf + len, AT_MAX - len, "%s%.60s", i ? "." : "",
					reading->keys[i]);
	return buf;
}

/* Reports a problem. Returns 0: reading goes on, so that one answer names all of them. */
static int wrong(struct reading *reading, const char *what)
{
	char at[AT_MAX];

	reading->has_problem = true;
	(void)diag_add(reading->diag, -EINVAL, "%s: %s", place_of(reading, at), what);
	return 0;
}

static bool is_at(const struct reading *reading, unsigned depth, const char *first,
		  const char *second)
{
	return reading->depth == depth && strcmp(reading->keys[0], first) == 0 &&
	       (!second || strcmp(reading->keys[1], second) == 0);
}

/* ---- series ---- */

static struct train_series *series_at(const struct reading *reading)
{
	if (is_at(reading, 1, "prom_response", NULL))
		return &reading->body->series;
	if (is_at(reading, 2, "trainer", "idle_prom_response"))
		return &reading->body->idle;
	return NULL;
}

static int open_bracket(struct reading *reading, bool object)
{
	struct train_series *series = reading->series ? NULL : series_at(reading);

	if (reading->depth == 0 && !object)
		return diag_set(reading->diag, -EINVAL, "the body must be a JSON object");
	if (series && series->text) {
		(void)wrong(reading, "is there twice");
	} else if (series) {
		series->text = reading->begin + reading->json.bytes;
		reading->series = series;
		reading->series_depth = reading->depth;
	}
	if (reading->depth < LEVELS)
		reading->keys[reading->depth][0] = '\0';
	reading->depth++;
	return 0;
}

static void close_bracket(struct reading *reading)
{
	reading->depth--;
	if (!reading->series || reading->depth != reading->series_depth)
		return;
	reading->series->len =
		(size_t)(reading->begin + reading->json.bytes + 1 - reading->series->text);
	reading->series = NULL;
}

/* ---- values ---- */

static int take_trainer(struct reading *reading, enum model_output output, const char *name)
{
	struct train_trainers *chosen = &reading->body->trainers[output];
	const struct trainer *trainer = trainer_find(name);
	char what[128];

	if (!trainer) {
		(void)snprintf(what, sizeof(what), "there is no trainer \"%.80s\"", name);
		return wrong(reading, what);
	}
	for (size_t i = 0; i < chosen->count; i++) {
		if (chosen->list[i] == trainer)
			return 0;
	}
	if (chosen->count == TRAINERS_MAX)
		return wrong(reading, "has too many trainers");
	chosen->list[chosen->count++] = trainer;
	return 0;
}

static int take_isolator(struct reading *reading, const char *name)
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

	if (!*name)
		return 0;
	for (size_t i = 0; i < sizeof(isolators) / sizeof(isolators[0]); i++) {
		if (strcmp(name, isolators[i].name) == 0 || strcmp(name, isolators[i].ours) == 0) {
			reading->body->isolator = isolators[i].isolator;
			return 0;
		}
	}
	return wrong(reading, "must be MinIdleIsolator, NoneIsolator, IdleIsolator, "
			      "ProfileBackgroundIsolator or TrainIsolator");
}

static int take_text(struct reading *reading, const char *text, char *ret, size_t size)
{
	if (strlen(text) >= size)
		return wrong(reading, "is too long");
	(void)snprintf(ret, size, "%s", text);
	return 0;
}

/* A name that becomes a part of a path. */
static int take_plain(struct reading *reading, const char *text, char ret[TRAIN_NAME_MAX])
{
	for (const char *c = text; *c; c++) {
		if (!ascii_is_alnum(*c) && !strchr("._-", *c))
			return wrong(reading,
				     "must have letters, digits, \".\", \"-\" and \"_\" only");
	}
	if (!*text || *text == '.')
		return wrong(reading, "must not be empty or begin with a dot");
	return take_text(reading, text, ret, TRAIN_NAME_MAX);
}

/* Whether this is the value of a member of trainer.isolator_args, or is in its list. */
static bool is_argument(const struct reading *reading, const char *name, bool in_list)
{
	return is_at(reading, in_list ? 4 : 3, "trainer", "isolator_args") &&
	       strcmp(reading->keys[2], name) == 0;
}

static int take_hint(struct reading *reading, const char *text, struct train_hints *ret)
{
	if (!*text)
		return wrong(reading, "must not have an empty text");
	if (ret->count == TRAIN_HINTS_MAX)
		return wrong(reading, "has too many texts");
	return take_text(reading, text, ret->text[ret->count++], TRAIN_NAME_MAX);
}

static int take_argument(struct reading *reading, const char *text)
{
	struct train_body *body = reading->body;

	if (is_argument(reading, "abs_pipeline_name", false))
		return take_text(reading, text, body->abs_pipeline, TRAIN_NAME_MAX);
	if (is_argument(reading, "bg_hints", true))
		return take_hint(reading, text, &body->bg_hints);
	if (is_argument(reading, "target_hints", true))
		return take_hint(reading, text, &body->target_hints);
	return 0;
}

static int take_string(struct reading *reading, const char *text)
{
	struct train_body *body = reading->body;

	if (is_at(reading, 1, "name", NULL))
		return take_plain(reading, text, body->name);
	if (is_at(reading, 1, "energy_source", NULL))
		return take_plain(reading, text, body->source);
	if (is_at(reading, 1, "node", NULL))
		return take_text(reading, text, body->node, sizeof(body->node));
	if (is_at(reading, 2, "trainer", "isolator"))
		return take_isolator(reading, text);
	if (is_at(reading, 3, "trainer", "abs_trainers"))
		return take_trainer(reading, MODEL_ABS_POWER, text);
	if (is_at(reading, 3, "trainer", "dyn_trainers"))
		return take_trainer(reading, MODEL_DYN_POWER, text);
	if (is_at(reading, 2, "machine_spec", "processor"))
		return take_text(reading, text, body->machine.processor,
				 sizeof(body->machine.processor));
	if (series_at(reading))
		return wrong(reading, "must be an object of series");
	return take_argument(reading, text);
}

static int take_number(struct reading *reading, const char *text, size_t len)
{
	struct machine_spec *machine = &reading->body->machine;
	const struct {
		const char *name;
		uint32_t *ret;
	} numbers[] = { { "cores", &machine->cores },
			{ "chips", &machine->chips },
			{ "memory", &machine->memory_gb },
			{ "frequency", &machine->frequency_mhz } };
	uint64_t number;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!is_at(reading, 2, "machine_spec", numbers[i].name))
			continue;
		if (parse_u64(text, len, &number) < 0 || number > UINT32_MAX)
			return wrong(reading, "must be a whole number");
		*numbers[i].ret = (uint32_t)number;
	}
	return series_at(reading) ? wrong(reading, "must be an object of series") : 0;
}

static int take_token(void *userdata, enum json_token token, const char *text, size_t len)
{
	struct reading *reading = userdata;
	bool is_known = !reading->series && reading->depth;

	switch (token) {
	case JSON_TOKEN_OBJECT:
	case JSON_TOKEN_ARRAY:
		return open_bracket(reading, token == JSON_TOKEN_OBJECT);
	case JSON_TOKEN_OBJECT_END:
	case JSON_TOKEN_ARRAY_END:
		close_bracket(reading);
		return 0;
	case JSON_TOKEN_KEY:
		if (is_known && reading->depth <= LEVELS)
			(void)snprintf(reading->keys[reading->depth - 1], KEY_MAX, "%s", text);
		return 0;
	case JSON_TOKEN_STRING:
		return is_known ? take_string(reading, text) : 0;
	case JSON_TOKEN_NUMBER:
		return is_known ? take_number(reading, text, len) : 0;
	case JSON_TOKEN_WORD:
		if (is_known && is_at(reading, 1, "use_vm_metrics", NULL))
			reading->body->uses_vm_metrics = *text == 't';
		return 0;
	}
	return 0;
}

static int check(const struct train_body *body, struct diag *diag)
{
	int r = 0;

	if (!body->series.text)
		r = diag_add(diag, -EINVAL, "prom_response: is missing; it must have the series");
	if (!body->trainers[MODEL_ABS_POWER].count && !body->trainers[MODEL_DYN_POWER].count)
		r = diag_add(diag, -EINVAL,
			     "trainer: abs_trainers or dyn_trainers must name a trainer");
	if (body->isolator == TRAIN_ISOLATE_PROFILE && !body->idle.text)
		r = diag_add(diag, -EINVAL,
			     "trainer.isolator: ProfileBackgroundIsolator needs "
			     "idle_prom_response");
	if (body->isolator == TRAIN_ISOLATE_MODEL && !body->idle.text && !body->bg_hints.count &&
	    !body->target_hints.count)
		r = diag_add(diag, -EINVAL,
			     "trainer.isolator: TrainIsolator needs idle_prom_response, or "
			     "bg_hints or target_hints in isolator_args, to say what is "
			     "background");
	return r;
}

int train_body_read(const char *text, size_t len, struct train_body *ret, struct diag *diag)
{
	struct diag why = { "" };
	struct reading reading = { .begin = text, .body = ret, .diag = diag ? diag : &why };
	int r;

	*ret = (struct train_body){ .name = "kepler", .source = "rapl-sysfs" };
	json_stream_init(&reading.json, take_token, &reading);
	r = json_stream_feed(&reading.json, text, len, reading.diag);
	if (r == 0)
		r = json_stream_end(&reading.json, reading.diag);
	json_stream_release(&reading.json);
	if (r == 0 && !reading.has_problem)
		r = check(ret, reading.diag);
	if (r == -ENOMEM)
		return diag_set(reading.diag, r, "out of memory");
	if (r < 0 || reading.has_problem)
		return -EINVAL;
	if (!ret->machine.processor[0])
		(void)snprintf(ret->machine.processor, sizeof(ret->machine.processor),
			       TRAIN_SPEC_NONE);
	return 0;
}
