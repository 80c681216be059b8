// SPDX-License-Identifier: Apache-2.0
/*
 * A set is one piece of memory: what finds it, the struct that others see, its pairs, and the texts
 * one behind the other, each terminated. So two sets of the same table are equal when those bytes
 * are. They hang in buckets by their hash.
 */
#include "energy/owner_names.h"

#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/hostile.h"
#include "base/macro.h"
#include "energy/label_text.h"

#define FIRST_BUCKETS 64U

struct interned {
	struct interned *next; /* in its bucket */
	struct names_table *table;
	uint64_t hash, id_hash;
	uint32_t refs;
	uint32_t size; /* of the texts */
	struct owner_names names;
	struct label extra[];
};

struct names_table {
	struct interned **buckets;
	size_t bucket_count; /* a power of two, or 0 */
	size_t count;
	size_t refs; /* of those that use it, and one of each set */
};

/* The texts of a set as it will be, before it is known whether it is there already. */
struct draft {
	size_t size, extra_count;
	char bytes[LABEL_KEY_COUNT * (OWNER_NAME_MAX + 1U) + OWNER_EXTRA_BYTES + OWNER_NAME_MAX +
		   1U];
};

/* The one place where an interned set is not const: its references are counted. */
static struct interned *interned_of(const struct owner_names *names)
{
	const char *at = (const char *)names - offsetof(struct interned, names);

	return (struct interned *)(uintptr_t)at;
}

static const char *bytes_of(const struct interned *set)
{
	return (const char *)&set->extra[set->names.extra_count];
}

/* ---- the table ---- */

struct names_table *names_table_get(struct names_table *shared)
{
	struct names_table *table = shared ? shared : calloc(1, sizeof(*table));

	if (table)
		table->refs++;
	return table;
}

void names_table_put(struct names_table *table)
{
	if (!table || --table->refs > 0)
		return;
	free(table->buckets);
	free(table);
}

size_t names_table_count(const struct names_table *table)
{
	return table->count;
}

static struct interned **bucket_of(const struct names_table *table, uint64_t hash)
{
	return &table->buckets[(hash ^ hash >> 32) & (table->bucket_count - 1)];
}

/*
 * Grows the table so that there is at most one set per bucket on average. Without memory the chains
 * grow instead. False: not even the first buckets could be allocated.
 */
static bool reach(struct names_table *table)
{
	struct names_table wider = *table;

	if (table->count < table->bucket_count)
		return true;
	wider.bucket_count = table->bucket_count ? table->bucket_count * 2 : FIRST_BUCKETS;
	wider.buckets = calloc(wider.bucket_count, sizeof(struct interned *));
	if (!wider.buckets)
		return table->bucket_count > 0;
	for (size_t i = 0; i < table->bucket_count; i++) {
		struct interned *set = table->buckets[i], *next;

		for (; set; set = next) {
			struct interned **bucket = bucket_of(&wider, set->hash);

			next = set->next;
			set->next = *bucket;
			*bucket = set;
		}
	}
	free(table->buckets);
	*table = wider;
	return true;
}

/* ---- cleaning names ---- */

static bool is_extra_name(const char *name)
{
	static const char prefix[] = "label_";

	return strncmp(name, prefix, strlen(prefix)) == 0 &&
	       name[strspn(name,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] ==
		       '\0';
}

static bool has_name(const struct owner_names *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names->extra[i].name, name) == 0)
			return true;
	}
	return false;
}

/* The cost of a pair is more than its two terminators, so there is room for all. */
static void draft_extra(struct draft *draft, const struct owner_names *names)
{
	size_t used = 0;

	for (size_t i = 0; i < names->extra_count && draft->extra_count < OWNER_EXTRA_MAX; i++) {
		const struct label *label = &names->extra[i];
		size_t len = strlen(label->name), cost = len + OWNER_EXTRA_PUNCTUATION;
		char *at = draft->bytes + draft->size;

		if (!is_extra_name(label->name) || has_name(names, i, label->name) ||
		    used + cost > OWNER_EXTRA_BYTES)
			continue;
		memcpy(at, label->name, len + 1);
		label_text(at + len + 1, OWNER_NAME_MAX + 1, label->value);
		cost += strlen(at + len + 1);
		if (used + cost > OWNER_EXTRA_BYTES)
			continue;
		used += cost;
		draft->size += cost - OWNER_EXTRA_PUNCTUATION + 2;
		draft->extra_count++;
	}
}

static void draft_names(struct draft *draft, const struct owner_names *names)
{
	draft->size = draft->extra_count = 0;
	for (size_t i = 0; i < LABEL_KEY_COUNT; i++) {
		char *at = draft->bytes + draft->size;

		label_text(at, OWNER_NAME_MAX + 1, names->text[i]);
		draft->size += strlen(at) + 1;
	}
	draft_extra(draft, names);
}

static struct interned *find(const struct names_table *table, const struct draft *draft,
			     uint64_t hash)
{
	struct interned *set = *bucket_of(table, hash);

	while (set && (set->hash != hash || set->size != draft->size ||
		       set->names.extra_count != draft->extra_count ||
		       memcmp(bytes_of(set), draft->bytes, draft->size) != 0))
		set = set->next;
	return set;
}

static struct interned *add(struct names_table *table, const struct draft *draft, uint64_t hash)
{
	size_t head = sizeof(struct interned) + draft->extra_count * sizeof(struct label);
	struct interned *set = malloc(head + draft->size), **bucket = bucket_of(table, hash);
	const char *at;

	if (!set)
		return NULL;
	*set = (struct interned){
		.next = *bucket,
		.table = names_table_get(table),
		.hash = hash,
		.id_hash = owner_names_hash(draft->bytes), /* the first text */
		.size = (uint32_t)draft->size,
		.names = { .extra = set->extra, .extra_count = draft->extra_count },
	};
	at = memcpy((char *)set + head, draft->bytes, draft->size);
	for (size_t i = 0; i < LABEL_KEY_COUNT; i++, at += strlen(at) + 1)
		set->names.text[i] = at;
	for (size_t i = 0; i < draft->extra_count; i++) {
		set->extra[i].name = at;
		at += strlen(at) + 1;
		set->extra[i].value = at;
		at += strlen(at) + 1;
	}
	*bucket = set;
	table->count++;
	return set;
}

/* ---- sets ---- */

const struct owner_names *owner_names_intern(struct names_table *table,
					     const struct owner_names *names)
{
	struct draft draft;
	struct interned *set;
	uint64_t hash;

	if (!reach(table))
		return NULL;
	draft_names(&draft, names);
	hash = HOSTILE_OR(0, hash64_bytes(HASH64_START, draft.bytes, draft.size));
	set = find(table, &draft, hash);
	if (!set)
		set = add(table, &draft, hash);
	if (!set)
		return NULL;
	set->refs++;
	return &set->names;
}

const struct owner_names *owner_names_part(const struct owner_names *names, uint32_t keys)
{
	struct owner_names part = { 0 };

	owner_names_take(&part, names, keys);
	return owner_names_intern(interned_of(names)->table, &part);
}

const struct owner_names *owner_names_ref(const struct owner_names *names)
{
	if (names)
		interned_of(names)->refs++;
	return names;
}

void owner_names_unref(const struct owner_names *names)
{
	struct interned *set = names ? interned_of(names) : NULL, **at;

	if (!set || --set->refs > 0)
		return;
	at = bucket_of(set->table, set->hash);
	while (*at != set)
		at = &(*at)->next;
	*at = set->next;
	set->table->count--;
	names_table_put(set->table);
	free(set);
}

void owner_names_take(struct owner_names *names, const struct owner_names *from, uint32_t keys)
{
	for (size_t i = 0; i < LABEL_KEY_COUNT; i++) {
		if (keys & LABEL_BIT(i))
			names->text[i] = from->text[i];
	}
	if (keys & LABELS_EXTRA) {
		names->extra = from->extra;
		names->extra_count = from->extra_count;
	}
}

bool owner_names_agree(const struct owner_names *a, const struct owner_names *b, uint32_t keys)
{
	for (size_t i = 0; a != b && i < LABEL_KEY_COUNT; i++) {
		if (keys & LABEL_BIT(i) && strcmp(a->text[i], b->text[i]) != 0)
			return false;
	}
	return true;
}

bool owner_names_know(const struct owner_names *names, uint32_t keys)
{
	for (size_t i = 0; i < LABEL_KEY_COUNT; i++) {
		if (keys & LABEL_BIT(i) && names->text[i][0])
			return true;
	}
	return false;
}

uint64_t owner_names_id_hash(const struct owner_names *names)
{
	return interned_of(names)->id_hash;
}

uint64_t owner_names_hash(const char *text)
{
	return hash64_text(HASH64_START, text);
}
