/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An edition of what the model server serves: a repository as it was read, its files as far as
 * they have been asked for, and the answers to requests that came before. A change of the
 * repository makes a new edition; answers under way keep the bodies of the old one.
 *
 * Files are read before the first request, weights first, up to EDITION_KEPT_MAX bytes; one beyond
 * that is read for each request. One thread uses an edition at a time: the one that prepares it,
 * then the server's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/map.h"
#include "kepler-model/served_body.h"
#include "repository/repository.h"

#define EDITION_KEPT_MAX    (24U << 20) /* bytes of files */
#define EDITION_ANSWERS_MAX 2048        /* requests whose answers are kept */
#define EDITION_KEY_MAX     4096        /* bytes of a request that is kept */

struct edition {
	struct repository *repository;
	const struct signing_key *key; /* borrowed; NULL: nothing is signed */
	struct served_body **files;    /* two an entry: weights, archive */
	struct served_body **weights;  /* of the first API, one an entry */
	size_t kept_bytes;
	struct map answers;
	struct kept_answer *kept;
	size_t kept_count;
	uint64_t hits, misses;
};

/* Takes @repository over, also on failure. NULL: no memory. */
struct edition *edition_new(struct repository *repository, const struct signing_key *key);
void edition_free(struct edition *edition); /* NULL is fine */
/*
 * Reads files and makes answers in advance, as far as they are kept; what fails fails again later.
 */
void edition_prepare(struct edition *edition);

/*
 * A file of a model, as it is in the repository. A reference is given; NULL with a diagnosis when
 * it cannot be read.
 */
struct served_body *edition_file(struct edition *edition, const struct model_entry *entry,
				 enum model_file file, struct diag *diag);
/*
 * Its weights with "model_name", "machine_spec" and "mae" beside them, as upstream's server has it.
 */
struct served_body *edition_weights(struct edition *edition, const struct model_entry *entry,
				    struct diag *diag);

/* The answer to @request, if it is kept: a reference is given; NULL: it is not. */
struct served_body *edition_find_answer(struct edition *edition, const void *request, size_t len);
void edition_keep_answer(struct edition *edition, const void *request, size_t len,
			 struct served_body *body);
