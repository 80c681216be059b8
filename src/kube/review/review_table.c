// SPDX-License-Identifier: Apache-2.0
#include "kube/review/review_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define WAYS         4
#define TOKEN_SETS   64
#define UNKNOWN_SETS 64
#define ALLOWED_SETS 128
#define DENIED_SETS  64

struct kept {
	unsigned char hash[REVIEW_HASH_LEN];
	char scope[REVIEW_SCOPE_MAX + 1]; /* "" of tokens */
	char *user;                       /* owned; of valid tokens */
	uint64_t until_ns;                /* 0: the place is free */
	uint64_t used;                    /* when, by the count of questions */
};

/* Places for one kind of answers. */
struct places {
	size_t sets;
	struct kept (*kept)[WAYS];
};

struct review_table {
	uint64_t questions;
	struct places tokens, unknown, allowed, denied;
	struct kept memory[TOKEN_SETS + UNKNOWN_SETS + ALLOWED_SETS + DENIED_SETS][WAYS];
};

int review_table_new(struct review_table **ret)
{
	struct review_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->tokens = (struct places){ TOKEN_SETS, table->memory };
	table->unknown = (struct places){ UNKNOWN_SETS, table->tokens.kept + TOKEN_SETS };
	table->allowed = (struct places){ ALLOWED_SETS, table->unknown.kept + UNKNOWN_SETS };
	table->denied = (struct places){ DENIED_SETS, table->allowed.kept + ALLOWED_SETS };
	*ret = table;
	return 0;
}

void review_table_free(struct review_table *table)
{
	if (!table)
		return;
	for (size_t set = 0; set < TOKEN_SETS; set++) {
		for (size_t way = 0; way < WAYS; way++)
			free(table->tokens.kept[set][way].user);
	}
	free(table);
}

static struct kept *set_of(const struct places *places, const unsigned char *hash,
			   const char *scope)
{
	uint64_t number;

	memcpy(&number, hash, sizeof(number));
	return places->kept[hash64_text(number, scope) % places->sets];
}

/* A hash says nothing about its token, so that comparing it may take any time. */
static bool is_of(const struct kept *kept, const unsigned char *hash, const char *scope)
{
	return memcmp(kept->hash, hash, REVIEW_HASH_LEN) == 0 && strcmp(kept->scope, scope) == 0;
}

static struct kept *find(struct review_table *table, const struct places *places,
			 const unsigned char *hash, const char *scope, uint64_t now_ns)
{
	struct kept *set = set_of(places, hash, scope);

	for (size_t way = 0; way < WAYS; way++) {
		if (set[way].until_ns > now_ns && is_of(&set[way], hash, scope)) {
			set[way].used = ++table->questions;
			return &set[way];
		}
	}
	return NULL;
}

/* The place for an answer: where the same question has one already, or the least used place. */
static struct kept *place_for(const struct places *places, const unsigned char *hash,
			      const char *scope)
{
	struct kept *set = set_of(places, hash, scope), *oldest = &set[0];

	for (size_t way = 0; way < WAYS; way++) {
		if (set[way].until_ns && is_of(&set[way], hash, scope))
			return &set[way];
		if (set[way].used < oldest->used)
			oldest = &set[way];
	}
	return oldest;
}

static void put(struct review_table *table, const struct places *places, const unsigned char *hash,
		const char *scope, char *user, uint64_t until_ns)
{
	struct kept *kept = place_for(places, hash, scope);

	free(kept->user);
	*kept = (struct kept){ .user = user, .until_ns = until_ns, .used = ++table->questions };
	memcpy(kept->hash, hash, REVIEW_HASH_LEN);
	(void)snprintf(kept->scope, sizeof(kept->scope), "%s", scope);
}

/* Until when the answer counts or counted; 0 without one. The answer does not count as used. */
static uint64_t end_of(const struct places *places, const unsigned char *hash, const char *scope)
{
	const struct kept *set = set_of(places, hash, scope);

	for (size_t way = 0; way < WAYS; way++) {
		if (set[way].until_ns && is_of(&set[way], hash, scope))
			return set[way].until_ns;
	}
	return 0;
}

bool review_table_token_ends(const struct review_table *table, const unsigned char *hash,
			     uint64_t now_ns)
{
	return end_of(&table->tokens, hash, "") <= now_ns + REVIEW_RENEW_NS;
}

bool review_table_access_ends(const struct review_table *table, const unsigned char *hash,
			      const char *scope, uint64_t now_ns)
{
	return end_of(&table->allowed, hash, scope) <= now_ns + REVIEW_RENEW_NS;
}

bool review_table_was_admitted(const struct review_table *table, const unsigned char *hash,
			       const char *scope, uint64_t now_ns)
{
	uint64_t valid_ns = end_of(&table->tokens, hash, "");
	uint64_t allowed_ns = end_of(&table->allowed, hash, scope);

	return valid_ns && now_ns < valid_ns + REVIEW_KNOWN_NS && allowed_ns &&
	       now_ns < allowed_ns + REVIEW_KNOWN_NS;
}

/* An answer that has become another one counts no more. */
static void drop(const struct places *places, const unsigned char *hash, const char *scope)
{
	struct kept *kept = place_for(places, hash, scope);

	if (kept->until_ns && is_of(kept, hash, scope))
		kept->until_ns = 0;
}

enum review_answer review_table_token(struct review_table *table, const unsigned char *hash,
				      uint64_t now_ns, const char **ret_user)
{
	const struct kept *kept = find(table, &table->tokens, hash, "", now_ns);

	if (kept) {
		*ret_user = kept->user;
		return REVIEW_YES;
	}
	return find(table, &table->unknown, hash, "", now_ns) ? REVIEW_NO : REVIEW_NOT_KEPT;
}

enum review_answer review_table_access(struct review_table *table, const unsigned char *hash,
				       const char *scope, uint64_t now_ns)
{
	if (find(table, &table->allowed, hash, scope, now_ns))
		return REVIEW_YES;
	return find(table, &table->denied, hash, scope, now_ns) ? REVIEW_NO : REVIEW_NOT_KEPT;
}

int review_table_put_token(struct review_table *table, const unsigned char *hash, const char *user,
			   uint64_t now_ns)
{
	char *copy = user ? strdup(user) : NULL;

	if (user && !copy)
		return -ENOMEM;
	drop(user ? &table->unknown : &table->tokens, hash, "");
	if (user)
		put(table, &table->tokens, hash, "", copy, now_ns + REVIEW_TOKEN_NS);
	else
		put(table, &table->unknown, hash, "", NULL, now_ns + REVIEW_UNKNOWN_NS);
	return 0;
}

void review_table_put_access(struct review_table *table, const unsigned char *hash,
			     const char *scope, bool allowed, uint64_t now_ns)
{
	drop(allowed ? &table->denied : &table->allowed, hash, scope);
	if (allowed)
		put(table, &table->allowed, hash, scope, NULL, now_ns + REVIEW_ALLOWED_NS);
	else
		put(table, &table->denied, hash, scope, NULL, now_ns + REVIEW_DENIED_NS);
}
