/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An edition is the content that the model server serves: a repository as it was read, the files
 * that were requested, and the answers to earlier requests. A change of the repository makes a new
 * edition; answers under way keep the bodies of the old one.
 *
 * Files are read before the first request, weights first, up to EDITION_KEPT_MAX bytes, which stay.
 * Any other file is read when it is requested. It stays while answers send it, so that all of them
 * share one body, and after that until EDITION_LENT_MAX bytes of other files have been read. Its
 * checksum and signature are kept for as long as the file is the same. Kept answers refer to files
 * and have no body of their own.
 *
 * References are counted, but only one thread at a time uses an edition: first the one that
 * prepares it, then the server's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/map.h"
#include "model-server/served_body.h"
#include "repository/repository.h"

#define EDITION_KEPT_MAX         (24U << 20) /* bytes of files that stay */
#define EDITION_LENT_MAX         (20U << 20) /* bytes of other files that no answer sends */
#define EDITION_FACTS_MAX        16384       /* files with a checksum in memory, but no content */
#define EDITION_ANSWERS_MAX      2048        /* requests with a kept answer */
#define EDITION_ANSWER_BYTES_MAX (4U << 20)  /* bytes of these */
#define EDITION_KEY_MAX          4096        /* bytes of a request that is kept */

/* The facts about a file that a client gets before it reads the file. */
struct file_facts {
	size_t size;
	char sha256[CHECKSUM_TEXT_LEN + 1];
	char signature[96]; /* base64; "" none */
	uint64_t identity;  /* file_tree_identity() */
};

/* A file of a model, or its weights for the first API. */
struct edition_slot {
	struct served_body *body; /* NULL: it is not in memory */
	struct file_facts *facts; /* NULL: not known without the body */
};

/* The answer to a request of the first API. */
struct edition_answer {
	const struct model_entry *entry; /* NULL: no model fits; @refusal has the reason */
	bool weights;                    /* else the archive */
	struct served_body *refusal;
};

struct edition {
	unsigned refs;
	struct repository *repository;
	const struct signing_key *key; /* borrowed; NULL: nothing is signed */
	struct edition_slot *slots; /* three an entry: weights, archive, weights of the first API */
	size_t *lent;               /* slots, the one that was read first first */
	size_t lent_count, lent_size;
	size_t kept_bytes, lent_bytes, answer_bytes;
	size_t facts_count;
	struct map answers;
	struct kept_answer *kept;
	size_t kept_count;
};

/* Takes @repository over, also on failure. With one reference. NULL: no memory. */
struct edition *edition_new(struct repository *repository, const struct signing_key *key);
struct edition *edition_ref(struct edition *edition);
void edition_unref(struct edition *edition); /* NULL is fine */
/*
 * Reads files in advance, up to the first that does not stay. A file that cannot be read fails
 * again when it is requested.
 */
void edition_prepare(struct edition *edition);
/* Forgets files that no answer sends until there is room for another one. */
void edition_make_room(struct edition *edition);

/*
 * A file of a model, as it is in the repository. A reference is given; NULL with a diagnosis if it
 * cannot be read, or does not fit in addition to the bodies that are being sent.
 */
struct served_body *edition_file(struct edition *edition, const struct model_entry *entry,
				 enum model_file file, struct diag *diag);
/*
 * The known content of that file; it is read only if it was not before, or has changed. 0, or
 * -errno with a diagnosis.
 */
int edition_describe(struct edition *edition, const struct model_entry *entry, enum model_file file,
		     struct file_facts *ret, struct diag *diag);
/*
 * Its weights together with "model_name", "machine_spec" and "mae", as in upstream's server.
 */
struct served_body *edition_weights(struct edition *edition, const struct model_entry *entry,
				    struct diag *diag);

/* Returns true if the answer to @request is kept; its refusal is borrowed. */
bool edition_find_answer(struct edition *edition, const void *request, size_t len,
			 struct edition_answer *ret);
void edition_keep_answer(struct edition *edition, const void *request, size_t len,
			 const struct edition_answer *answer);
