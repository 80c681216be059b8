/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to `kepler explain`: the requested row, its names, the series that shows it, and how
 * its numbers of the last interval came about. A plain value: all texts are copies, so another
 * thread can read it while the loop continues.
 */
#pragma once

#include "attribution/explanation.h"
#include "energy/owner_names.h"
#include "snapshot/snapshot.h"

#define EXPLAIN_TARGET_MAX 256 /* bytes of the request's target, including its end */
#define EXPLAIN_NEAR_MAX   8
#define EXPLAIN_NEAR_BYTES 320

enum explain_result {
	EXPLAIN_FOUND,
	EXPLAIN_NOT_FOUND,
	EXPLAIN_AMBIGUOUS, /* more than one row is called so */
};

/* Where the energy of the row is shown. */
enum explain_series {
	EXPLAIN_SHOWN,       /* in its own series */
	EXPLAIN_SETTLES,     /* in one that is new: it shows 0 for a while */
	EXPLAIN_KEPT,        /* in one that has ended, for a while */
	EXPLAIN_WAITS,       /* in none yet: its names are awaited */
	EXPLAIN_IN_OTHER,    /* a process: in the series "other" of its container */
	EXPLAIN_HIDDEN,      /* in none yet, or no more */
	EXPLAIN_UNPUBLISHED, /* not known: the page shows an earlier interval */
};

/* The model behind an estimated zone of the explanation, as the snapshot shows it. */
struct explained_model {
	uint32_t zone; /* index */
	char name[SNAPSHOT_MODEL_TEXT];
	double error_w; /* half-width of the 90 % interval of its power; NaN: not known */
	bool outside;
};

/*
 * In a virtual machine: the account that its host keeps of it. The energy is the one of the zones
 * with that source, as the host counted it; here is the work.
 */
struct explained_host {
	const char *source; /* static; NULL: the host has sent nothing */
	uint64_t cpu_us;    /* that the host counted for this machine so far */
	/* Over the last whole minute: by the host, and by the machine's own CPUs; 0: not known. */
	uint64_t compared_host_us, compared_own_us;
};

struct explain_answer {
	char target[EXPLAIN_TARGET_MAX];
	enum explain_result result;
	/* Rows that are called nearly so, or all so: "container checkout (3f2a91c04b1e)". */
	char near[EXPLAIN_NEAR_MAX][EXPLAIN_NEAR_BYTES];
	size_t near_count;
	size_t near_total; /* those for which there was no room included */

	/* For a process. */
	uint32_t pid;
	char comm[LEDGER_COMM_MAX];
	int64_t start_ms; /* realtime */
	bool ended;
	bool waiting; /* its owner's names are awaited */
	bool is_gone; /* its row was let go when the interval was published */
	/* For its owner, or for the group. */
	char names[LABEL_KEY_COUNT][OWNER_NAME_MAX + 1];

	enum explain_series series;
	int64_t series_ms;  /* realtime of its birth, where it has one */
	int64_t now_ms;     /* realtime of the interval's end */
	int error;          /* -errno: processes could not be read in it; 0 */
	uint64_t sequence;  /* of the snapshot that shows it */
	uint64_t counts_uj; /* with EXPLAIN_IN_OTHER: the energy that counts towards a series */
	/* Configured: the energy for a series, how long it shows 0, and how long it is kept. */
	uint64_t min_uj, settle_ns, keep_ns;
	struct explanation explanation;
	struct explained_model models[SNAPSHOT_MODELS];
	size_t model_count;
	struct explained_host host;
};

/* The model of zone @zone of the explanation; NULL: it has none, or it is not known. */
static inline const struct explained_model *
explain_answer_model(const struct explain_answer *answer, uint32_t zone)
{
	for (size_t i = 0; i < answer->model_count; i++) {
		if (answer->models[i].zone == zone)
			return &answer->models[i];
	}
	return NULL;
}
