// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/edition.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/macro.h"
#include "repository/model_json.h"

#define PREPARE_LEFT (4U << 20) /* bytes that stay free for what is asked for */

struct kept_answer {
	char *request;
	size_t len;
	struct served_body *body;
};

struct edition *edition_new(struct repository *repository, const struct signing_key *key)
{
	struct edition *edition = calloc(1, sizeof(*edition));

	if (!edition) {
		repository_free(repository);
		return NULL;
	}
	edition->repository = repository;
	edition->key = key;
	map_init(&edition->answers, EDITION_ANSWERS_MAX);
	edition->files = calloc(2 * repository->entry_count + 1, sizeof(struct served_body *));
	edition->weights = calloc(repository->entry_count + 1, sizeof(struct served_body *));
	edition->kept = calloc(EDITION_ANSWERS_MAX, sizeof(*edition->kept));
	if (edition->files && edition->weights && edition->kept)
		return edition;
	edition_free(edition);
	return NULL;
}

static void forget_answers(struct edition *edition)
{
	for (size_t i = 0; i < edition->kept_count; i++) {
		free(edition->kept[i].request);
		served_body_unref(edition->kept[i].body);
	}
	edition->kept_count = 0;
	map_release(&edition->answers);
	map_init(&edition->answers, EDITION_ANSWERS_MAX);
}

void edition_free(struct edition *edition)
{
	if (!edition)
		return;
	if (edition->kept)
		forget_answers(edition);
	for (size_t i = 0; edition->files && i < 2 * edition->repository->entry_count; i++)
		served_body_unref(edition->files[i]);
	for (size_t i = 0; edition->weights && i < edition->repository->entry_count; i++)
		served_body_unref(edition->weights[i]);
	map_release(&edition->answers);
	free(edition->files);
	free(edition->weights);
	free(edition->kept);
	repository_free(edition->repository);
	free(edition);
}

/* Keeps @body in @slot if there is room. */
static struct served_body *keep(struct edition *edition, struct served_body **slot,
				struct served_body *body)
{
	if (body && edition->kept_bytes + body->len <= EDITION_KEPT_MAX) {
		edition->kept_bytes += body->len;
		*slot = served_body_ref(body);
	}
	return body;
}

static void sign(const struct edition *edition, struct served_body *body)
{
	if (body && edition->key &&
	    signing_key_sign(edition->key, body->data, body->len, &body->signature) < 0)
		body->signature = NULL; /* the answer then has none, and a client refuses it */
}

struct served_body *edition_file(struct edition *edition, const struct model_entry *entry,
				 enum model_file file, struct diag *diag)
{
	size_t index = (size_t)(entry - edition->repository->entries);
	struct served_body **slot = &edition->files[2 * index + (file == FILE_ARCHIVE)];
	struct served_body *body;
	char name[96], *bytes = NULL;
	size_t len = 0;

	if (*slot)
		return served_body_ref(*slot);
	if (repository_read(edition->repository, entry, file, &bytes, &len, diag) < 0)
		return NULL;
	(void)snprintf(name, sizeof(name), "%s.%s", entry->name,
		       file == FILE_ARCHIVE ? "zip" : "json");
	body = served_body_new(200, file == FILE_ARCHIVE ? "application/zip" : "application/json",
			       bytes, len, file == FILE_ARCHIVE ? name : NULL);
	if (!body)
		(void)diag_set(diag, -ENOMEM, "out of memory");
	sign(edition, body);
	return keep(edition, slot, body);
}

/* A file of our own format has upstream's weights beside its own keys, which are left out. */
static void keep_upstreams(json_t *weights)
{
	const char *key;
	json_t *value;
	void *next;

	if (!json_object_get(weights, "format"))
		return;
	json_object_foreach_safe(weights, next, key, value)
	{
		if (!json_object_get(value, "All_Weights"))
			(void)json_object_del(weights, key);
	}
}

static char *complete_weights(const struct model_entry *entry, const struct served_body *file,
			      size_t *ret_len, struct diag *diag)
{
	CLEANUP(model_json_release)
	json_t *weights = model_json_parse(entry->name, file->data, file->len, diag);
	char *text;

	if (!weights)
		return NULL;
	keep_upstreams(weights);
	(void)json_object_set_new(weights, "model_name", json_string(entry->name));
	if (!machine_spec_is_empty(&entry->machine))
		(void)json_object_set_new(weights, "machine_spec",
					  machine_spec_write(&entry->machine));
	if (isfinite(entry->mae_w))
		(void)json_object_set_new(weights, "mae", json_real(entry->mae_w));
	text = json_dumps(weights, JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(17));
	if (text)
		*ret_len = strlen(text);
	else
		(void)diag_set(diag, -ENOMEM, "out of memory");
	return text;
}

struct served_body *edition_weights(struct edition *edition, const struct model_entry *entry,
				    struct diag *diag)
{
	struct served_body **slot = &edition->weights[entry - edition->repository->entries];
	struct served_body *file, *body;
	char *text;
	size_t len = 0;

	if (*slot)
		return served_body_ref(*slot);
	file = edition_file(edition, entry, FILE_WEIGHTS, diag);
	if (!file)
		return NULL;
	text = complete_weights(entry, file, &len, diag);
	body = served_body_new(200, "application/json", text, len, NULL);
	served_body_unref(file);
	return keep(edition, slot, body);
}

void edition_prepare(struct edition *edition)
{
	static const enum model_file order[] = { FILE_WEIGHTS, FILE_ARCHIVE };
	const struct repository *repository = edition->repository;

	for (size_t f = 0; f < ARRAY_SIZE(order); f++)
		for (size_t i = 0; i < repository->entry_count; i++) {
			const struct model_entry *entry = &repository->entries[i];

			if (edition->kept_bytes >= EDITION_KEPT_MAX - PREPARE_LEFT)
				return;
			if (!(entry->files & order[f]))
				continue;
			served_body_unref(edition_file(edition, entry, order[f], NULL));
			if (order[f] == FILE_WEIGHTS && !entry->weights_are_bad)
				served_body_unref(edition_weights(edition, entry, NULL));
		}
}

static struct map_key key_of(const void *request, size_t len)
{
	return (struct map_key){ hash64_bytes(HASH64_START, request, len), len };
}

struct served_body *edition_find_answer(struct edition *edition, const void *request, size_t len)
{
	uint32_t index = map_find(&edition->answers, key_of(request, len));
	const struct kept_answer *kept;

	if (index != MAP_NONE) {
		kept = &edition->kept[index];
		if (kept->len == len && memcmp(kept->request, request, len) == 0) {
			edition->hits++;
			return served_body_ref(kept->body);
		}
	}
	edition->misses++;
	return NULL;
}

/* Where there is no room, all are forgotten: the ones that are asked for often are back soon. */
void edition_keep_answer(struct edition *edition, const void *request, size_t len,
			 struct served_body *body)
{
	struct kept_answer *kept;
	char *copy;

	if (!len || len > EDITION_KEY_MAX)
		return;
	if (edition->kept_count == EDITION_ANSWERS_MAX)
		forget_answers(edition);
	copy = malloc(len);
	if (!copy)
		return;
	memcpy(copy, request, len);
	if (map_put(&edition->answers, key_of(request, len), (uint32_t)edition->kept_count) < 0) {
		free(copy);
		return;
	}
	kept = &edition->kept[edition->kept_count++];
	*kept = (struct kept_answer){ copy, len, served_body_ref(body) };
}
