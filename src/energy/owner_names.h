/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of an owner of energy: one text per key, and further pairs (a pod's labels).
 *
 * Each source of names fills in the part of a set that it knows, and the set is interned: the table
 * has each set once, so equal sets are one pointer. An interned set never changes. It is clean
 * (label_text.h: cut to size, names that print alike are equal) but not escaped; escaping is left
 * to the code that prints it.
 *
 * A table, its sets and their references belong to one thread or to a lock of the caller. Other
 * threads may read a set while the owning thread keeps a reference: the label pool of a snapshot
 * keeps one until there are no readers left (snapshot/label_pool.h). The table is bounded by its
 * references: every owner, row and label slot has a limit of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/label_info.h"

#define OWNER_NAME_MAX 127 /* bytes of a text or a pair's value; what is longer is cut */
/* The number of pairs, their bytes in total, and the bytes that each pair adds to its texts. */
#define OWNER_EXTRA_MAX         16
#define OWNER_EXTRA_BYTES       1023
#define OWNER_EXTRA_PUNCTUATION 4

struct label {
	const char *name;  /* "label_app" */
	const char *value; /* any text */
};

/*
 * While a set is filled in, NULL counts as "" and everything is borrowed. In an interned set no
 * text is NULL, and it keeps, in order and as far as there is room, the pairs with a name that
 * begins with "label_" (as no key does), consists of [a-zA-Z0-9_] and is not the name of an earlier
 * pair.
 */
struct owner_names {
	const char *text[LABEL_KEY_COUNT];
	const struct label *extra;
	size_t extra_count;
};

struct names_table;

/* @shared with a reference more, or a new table where it is NULL. NULL without memory. */
struct names_table *names_table_get(struct names_table *shared);
/* Gives a reference back; a table goes with the last of these and of its sets. Takes NULL. */
void names_table_put(struct names_table *table);
/* Different sets in it. */
size_t names_table_count(const struct names_table *table);

/* The interned set of that content, and a reference to it. NULL without memory. */
const struct owner_names *owner_names_intern(struct names_table *table,
					     const struct owner_names *names);
/* The interned set of just those @keys of an interned one, in its table, and a reference. */
const struct owner_names *owner_names_part(const struct owner_names *names, uint32_t keys);
/* One more reference to an interned set; takes and returns NULL, too. */
const struct owner_names *owner_names_ref(const struct owner_names *names);
/* Gives one back. Takes NULL. */
void owner_names_unref(const struct owner_names *names);

/* Borrows those @keys of @from, which may be interned, for a set that is being filled in. */
void owner_names_take(struct owner_names *names, const struct owner_names *from, uint32_t keys);
/* Are those @keys equal? Both interned; LABELS_EXTRA is not looked at. */
bool owner_names_agree(const struct owner_names *a, const struct owner_names *b, uint32_t keys);
/* Is any of those @keys known? LABELS_EXTRA is not looked at. */
bool owner_names_know(const struct owner_names *names, uint32_t keys);
/* FNV-1a of an interned set's container_id, as owner_names_hash() of that text is. */
uint64_t owner_names_id_hash(const struct owner_names *names);
uint64_t owner_names_hash(const char *text);
