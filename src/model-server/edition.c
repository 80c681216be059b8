// SPDX-License-Identifier: Apache-2.0
#include "model-server/edition.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macro.h"
#include "repository/model_json.h"

#define PREPARE_LEFT (4U << 20) /* bytes that stay free for requests */

enum slot_kind { SLOT_WEIGHTS, SLOT_ARCHIVE, SLOT_SERVED_WEIGHTS, SLOT_KIND_COUNT };

struct kept_answer {
	char *request;
	size_t len;
	struct edition_answer answer; /* its refusal is owned */
};

static size_t slot_count(const struct edition *edition)
{
	return SLOT_KIND_COUNT * edition->repository->entry_count;
}

static struct edition_slot *slot_of(struct edition *edition, const struct model_entry *entry,
				    enum slot_kind kind)
{
	size_t index = (size_t)(entry - edition->repository->entries);

	return &edition->slots[SLOT_KIND_COUNT * index + kind];
}

static enum slot_kind kind_of(enum model_file file)
{
	return file == FILE_ARCHIVE ? SLOT_ARCHIVE : SLOT_WEIGHTS;
}

/* ---- life ---- */

struct edition *edition_new(struct repository *repository, const struct signing_key *key)
{
	struct edition *edition = calloc(1, sizeof(*edition));

	if (!edition) {
		repository_free(repository);
		return NULL;
	}
	edition->refs = 1;
	edition->repository = repository;
	edition->key = key;
	map_init(&edition->answers, EDITION_ANSWERS_MAX);
	edition->slots = calloc(slot_count(edition) + 1, sizeof(*edition->slots));
	edition->kept = calloc(EDITION_ANSWERS_MAX, sizeof(*edition->kept));
	if (edition->slots && edition->kept)
		return edition;
	edition_unref(edition);
	return NULL;
}

static void forget_answers(struct edition *edition)
{
	for (size_t i = 0; i < edition->kept_count; i++) {
		free(edition->kept[i].request);
		served_body_unref(edition->kept[i].answer.refusal);
	}
	edition->kept_count = 0;
	edition->answer_bytes = 0;
	map_release(&edition->answers);
	map_init(&edition->answers, EDITION_ANSWERS_MAX);
}

struct edition *edition_ref(struct edition *edition)
{
	__atomic_fetch_add(&edition->refs, 1, __ATOMIC_RELAXED);
	return edition;
}

void edition_unref(struct edition *edition)
{
	if (!edition || __atomic_sub_fetch(&edition->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	if (edition->kept)
		forget_answers(edition);
	for (size_t i = 0; edition->slots && i < slot_count(edition); i++) {
		served_body_unref(edition->slots[i].body);
		free(edition->slots[i].facts);
	}
	map_release(&edition->answers);
	free(edition->slots);
	free(edition->lent);
	free(edition->kept);
	repository_free(edition->repository);
	free(edition);
}

/* ---- bodies in memory ---- */

/* Takes the lent body at @index of the list away. */
static void forget_lent(struct edition *edition, size_t index)
{
	struct edition_slot *slot = &edition->slots[edition->lent[index]];

	edition->lent_bytes -= served_body_bytes(slot->body);
	served_body_unref(TAKE_PTR(slot->body));
	edition->lent_count--;
	memmove(&edition->lent[index], &edition->lent[index + 1],
		(edition->lent_count - index) * sizeof(*edition->lent));
}

void edition_make_room(struct edition *edition)
{
	const size_t total_max = SERVED_BODIES_MAX - SERVED_BODIES_RESERVE - MODEL_FILE_MAX;
	size_t i = 0;

	while (i < edition->lent_count &&
	       (edition->lent_bytes > EDITION_LENT_MAX - MODEL_FILE_MAX ||
		served_bodies_total() > total_max)) {
		if (served_body_is_unshared(edition->slots[edition->lent[i]].body))
			forget_lent(edition, i);
		else
			i++;
	}
}

/* Puts @body into @slot, to stay if there is room, else for as long as it is sent. */
static struct served_body *keep(struct edition *edition, struct edition_slot *slot,
				struct served_body *body)
{
	if (!body)
		return NULL;
	if (edition->kept_bytes + served_body_bytes(body) <= EDITION_KEPT_MAX) {
		edition->kept_bytes += served_body_bytes(body);
	} else {
		if (ARRAY_RESERVE(edition->lent, edition->lent_size, edition->lent_count + 1) < 0)
			return body; /* the next answer reads it again */
		edition->lent[edition->lent_count++] = (size_t)(slot - edition->slots);
		edition->lent_bytes += served_body_bytes(body);
	}
	slot->body = served_body_ref(body);
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
	struct edition_slot *slot = slot_of(edition, entry, kind_of(file));
	struct served_body *body;
	char name[96], *bytes = NULL;
	size_t len = 0;

	if (slot->body)
		return served_body_ref(slot->body);
	edition_make_room(edition);
	if (repository_read(edition->repository, entry, file, &bytes, &len, diag) < 0)
		return NULL;
	(void)snprintf(name, sizeof(name), "%s.%s", entry->name,
		       file == FILE_ARCHIVE ? "zip" : "json");
	body = served_body_new(200, file == FILE_ARCHIVE ? "application/zip" : "application/json",
			       bytes, len, file == FILE_ARCHIVE ? name : NULL);
	if (!body)
		(void)diag_set(diag, -ENOMEM, "too many files are being sent; try again");
	sign(edition, body);
	return keep(edition, slot, body);
}

static void describe_body(const struct served_body *body, uint64_t identity, struct file_facts *ret)
{
	*ret = (struct file_facts){ .size = body->len, .identity = identity };
	(void)snprintf(ret->sha256, sizeof(ret->sha256), "%s", body->sha256);
	(void)snprintf(ret->signature, sizeof(ret->signature), "%s",
		       body->signature ? body->signature : "");
}

/* Without memory, or if the table is full, the file is read again next time. */
static void keep_facts(struct edition *edition, struct edition_slot *slot,
		       const struct file_facts *facts)
{
	if (!slot->facts && edition->facts_count < EDITION_FACTS_MAX) {
		slot->facts = malloc(sizeof(*slot->facts));
		edition->facts_count += slot->facts != NULL;
	}
	if (slot->facts)
		*slot->facts = *facts;
}

int edition_describe(struct edition *edition, const struct model_entry *entry, enum model_file file,
		     struct file_facts *ret, struct diag *diag)
{
	struct edition_slot *slot = slot_of(edition, entry, kind_of(file));
	struct served_body *body;
	uint64_t identity;

	if (slot->body) {
		describe_body(slot->body, 0, ret);
		return 0;
	}
	/* Before it is read: if the file is replaced meanwhile, the facts are of neither. */
	identity = repository_file_identity(edition->repository, entry, file);
	if (slot->facts && identity && slot->facts->identity == identity) {
		*ret = *slot->facts;
		return 0;
	}
	body = edition_file(edition, entry, file, diag);
	if (!body)
		return -EIO;
	describe_body(body, identity, ret);
	served_body_unref(body);
	if (identity)
		keep_facts(edition, slot, ret);
	return 0;
}

/* A file of our own format also has upstream's weights; its own keys are left out. */
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
	struct edition_slot *slot = slot_of(edition, entry, SLOT_SERVED_WEIGHTS);
	struct served_body *file, *body;
	char *text;
	size_t len = 0;

	if (slot->body)
		return served_body_ref(slot->body);
	file = edition_file(edition, entry, FILE_WEIGHTS, diag);
	if (!file)
		return NULL;
	text = complete_weights(entry, file, &len, diag);
	served_body_unref(file);
	edition_make_room(edition);
	body = served_body_new(200, "application/json", text, len, NULL);
	if (text && !body)
		(void)diag_set(diag, -ENOMEM, "too many files are being sent; try again");
	return keep(edition, slot, body);
}

void edition_prepare(struct edition *edition)
{
	static const enum model_file order[] = { FILE_WEIGHTS, FILE_ARCHIVE };
	const struct repository *repository = edition->repository;

	for (size_t f = 0; f < ARRAY_SIZE(order); f++)
		for (size_t i = 0; i < repository->entry_count; i++) {
			const struct model_entry *entry = &repository->entries[i];

			if (edition->kept_bytes >= EDITION_KEPT_MAX - PREPARE_LEFT ||
			    edition->lent_count)
				return;
			if (!(entry->files & order[f]))
				continue;
			served_body_unref(edition_file(edition, entry, order[f], NULL));
			if (order[f] == FILE_WEIGHTS && !entry->weights_are_bad)
				served_body_unref(edition_weights(edition, entry, NULL));
		}
}

/* ---- answers ---- */

static struct map_key key_of(const void *request, size_t len)
{
	return (struct map_key){ hash64_bytes(HASH64_START, request, len), len };
}

bool edition_find_answer(struct edition *edition, const void *request, size_t len,
			 struct edition_answer *ret)
{
	uint32_t index = map_find(&edition->answers, key_of(request, len));

	if (index != MAP_NONE) {
		const struct kept_answer *kept = &edition->kept[index];

		if (kept->len == len && memcmp(kept->request, request, len) == 0) {
			*ret = kept->answer;
			return true;
		}
	}
	return false;
}

/* Without room, all are forgotten: those that are requested often are back soon. */
void edition_keep_answer(struct edition *edition, const void *request, size_t len,
			 const struct edition_answer *answer)
{
	size_t bytes = len + (answer->refusal ? served_body_bytes(answer->refusal) : 0);
	struct kept_answer *kept;
	char *copy;

	if (!len || len > EDITION_KEY_MAX)
		return;
	if (edition->kept_count == EDITION_ANSWERS_MAX ||
	    edition->answer_bytes + bytes > EDITION_ANSWER_BYTES_MAX)
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
	*kept = (struct kept_answer){ copy, len, *answer };
	if (answer->refusal)
		(void)served_body_ref(answer->refusal);
	edition->answer_bytes += bytes;
}
