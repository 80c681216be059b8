/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the online trainer for one type of machine: a bounded sample of learned rows
 * (training/reservoir.h), the newest blocks of rows, the model in use, and how well it fits
 * (drift.h).
 *
 * Rows go into the open block. A block with enough rows is closed: the model in use is judged by
 * it, and it is held out. Once LEARNER_BLOCKS are held out, the oldest one is learned, so no model
 * has seen the blocks that judge it. When the drift alarm begins, the machine has changed: the
 * learned rows are forgotten, and so are the held-out blocks from before. All sizes are bounded.
 * Pure but for memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "model/trained_model.h"
#include "samples/sample_table.h"
#include "training/drift.h"
#include "training/reservoir.h"

#define LEARNER_BLOCKS         8
#define LEARNER_BLOCK_ROWS     512 /* of a block that is full, and closed */
#define LEARNER_BLOCK_ROWS_MIN 30
#define LEARNER_FEATURES_MAX   16
#define LEARNER_COLUMNS_MAX    (1 + LEARNER_FEATURES_MAX + MODEL_COMPONENTS_MAX)
#define LEARNER_STATE_MAX      (64U << 20) /* bytes of a state */

/* Rows of columns: the time in seconds, features, and the power of components in W. */
struct learner_block {
	double *rows;
	size_t count;
};

struct learner {
	char name[MODEL_NAME_MAX]; /* letters, digits, "_": of files */
	struct machine_spec machine;
	char columns[LEARNER_COLUMNS_MAX][SAMPLE_NAME_MAX];
	size_t features, components; /* components: 0 until the first rows */
	size_t load;                 /* which feature shows how much runs */
	struct reservoir reservoir;
	struct learner_block held[LEARNER_BLOCKS], open; /* the oldest one first */
	size_t held_count;
	struct drift drift;
	double until_s;   /* rows of some node were taken up to here */
	double trained_s; /* when it was last trained; 0: never */
	uint64_t taken, left_out, learned;
	uint64_t fresh;   /* blocks that were learned since it was trained */
	bool alarm_began; /* the alarm of drift, with a block; the caller resets it */
	struct trained_model current;
	bool has_current;
};

/* @features end with NULL; at most LEARNER_FEATURES_MAX. */
void learner_init(struct learner *learner, const char *name, const struct machine_spec *machine,
		  const char *const *features);
void learner_release(struct learner *learner);

/*
 * Takes the rows of a node that are later than *until_s, and not later than @end_s, into the open
 * block, and closes it whenever it is full; *until_s becomes the latest time among them. Later rows
 * are left out, and so are those in which something was not measured. 0; -ENODATA with a diagnosis:
 * the rows lack a column; -ENOMEM.
 */
int learner_take(struct learner *learner, const struct sample_table *table, double *until_s,
		 double end_s, struct diag *diag);
/* Closes the open block if it has LEARNER_BLOCK_ROWS_MIN rows: 1, else 0; -ENOMEM. */
int learner_close_block(struct learner *learner);

/* The sample of learned rows in the order of their times, as CSV. 0 or -ENOMEM. */
int learner_write_rows(const struct learner *learner, struct strbuf *out);
/*
 * Mean absolute error of @model on each held-out block, over all components in sum, into @ret. 0,
 * or -ENOENT with a feature or a component that it lacks.
 */
int learner_judge(const struct learner *learner, const struct trained_model *model,
		  double ret[LEARNER_BLOCKS], struct diag *diag);
/* States the error that @model has on the held-out blocks, and its bound. 0, -ENOENT, -ENOMEM. */
int learner_state_error(const struct learner *learner, struct trained_model *model,
			struct diag *diag);

/* All but the model in use, as text with a checksum. 0, -ENOMEM, -EIO. */
int learner_save(const struct learner *learner, struct strbuf *out);
/*
 * Into a learner of the same machine and features that has taken nothing: 0, or -EINVAL with why it
 * cannot be used; -ENOMEM. After a failure it must be released and created again.
 */
int learner_load(struct learner *learner, const char *name, const char *text, size_t len,
		 struct diag *diag);
/* The same without the line of the checksum. */
int learner_parse(struct learner *learner, const char *name, const char *text, size_t len,
		  struct diag *diag);
