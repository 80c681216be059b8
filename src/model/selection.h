/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses among trained models the one that is expected to be least wrong on a machine: by the
 * error that it was found to have, and by how far that machine is from the one that it was trained
 * on. Pure.
 *
 * A model of another machine is scaled by the number of cores: it is asked for what its own machine
 * would do at the same load of each core, and its answer is multiplied by core_ratio. What that
 * adds to the error was measured on 248 machine types of SPECpower_ssj2008, by predicting each from
 * each other (docs/models.md has the table). A model of many machines has that error already.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/trained_model.h"

/* How well a model's machine fits; the best is first. */
enum model_match {
	MATCH_MACHINE,   /* the same processor, cores, chips, memory and frequency */
	MATCH_PROCESSOR, /* the same processor in another machine */
	MATCH_FAMILY,    /* of its vendor, line and generation */
	MATCH_POOLED,    /* the model was trained on many machines */
	MATCH_LINE,      /* of its vendor and line */
	MATCH_OTHER,
	MATCH_UNKNOWN, /* the model does not name its machine */
};

/* Borrowed. */
struct model_candidate {
	const struct machine_spec *machine;
	bool is_pooled; /* trained on many machines; its error is for other machines */
	enum model_output output;
	const char *source;
	const char *const *features;
	size_t feature_count;
	double error_ratio;    /* relative to power, on unseen rows; NAN: unknown */
	const char *component; /* NULL or "platform": of the whole machine; "package", "dram", … */
};

struct model_request {
	const struct machine_spec *machine; /* as far as it is known */
	enum model_output output;
	const char *source;          /* "": any; sources of RAPL count as one */
	const char *const *features; /* available features */
	size_t feature_count;
	double error_max; /* of the accepted error, relative to power; 0: SELECTION_ERROR_MAX */
};

#define SELECTION_ERROR_MAX 0.5

struct model_choice {
	size_t index; /* of the candidates */
	enum model_match match;
	double expected_error; /* of power */
	double looseness;      /* the part of it that the other machine brings */
	/*
	 * The additional error, as a part of nine of ten answers, that the other machine brings to
	 * the model's own bound. NAN if the machine is not known.
	 */
	double bound_ratio;
	double distance;   /* in size: 0 the same */
	double core_ratio; /* cores here to cores of the model's machine */
	char reason[192];  /* for people */
};

const char *model_match_name(enum model_match match); /* "machine", "processor", … */
/* The quality of @candidate on the machine of @request; nothing else of @request is used. */
void model_judge(const struct model_candidate *candidate, const struct machine_spec *wanted,
		 struct model_choice *ret);
/*
 * 0; -ENOENT: no candidate has the output, the source and features that are there; -ERANGE: the
 * best is expected to be too far off. @diag says why.
 */
int model_select(const struct model_candidate *candidates, size_t count,
		 const struct model_request *request, struct model_choice *ret, struct diag *diag);
