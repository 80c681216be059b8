/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts a trained model into a repository, in the layout of upstream's model-db: its node type into
 * the index, its row into the table, its file into its group. Existing content stays; the same
 * models always give the same bytes, so that a repository can be kept in git.
 *
 * A model is one file, NAME.json, of our own format. If its form is one of upstream's (a line or a
 * curve), the file also has upstream's weights, so that an old Kepler can evaluate it. A model with
 * features that match none of upstream's groups is put into a separate one
 * (repository/own_group.h).
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "model/trained_model.h"

#define PUBLICATION_NAME_MAX 128

struct publication {
	const char *root;      /* the repository's folder */
	const char *pipeline;  /* letters, digits, ".", "-" and "_" */
	const char *publisher; /* "" unknown */
};

/* The rule of publication_judge() for one error; one that is NAN is not known. */
bool publication_error_is_good(double mae_w, double mape_percent);
/*
 * Checks whether a model is good enough: no error above 100 W or 100 %, and at most 20 % or 10 W,
 * which is upstream's rule. 0; -ERANGE with the component and its error; -ENODATA: an error is not
 * known.
 */
int publication_judge(const struct trained_model *model, struct diag *diag);
/* 0 with the file's path below the root in *ret_path; or -errno with a diagnosis. */
int publication_add(const struct publication *publication, const struct trained_model *model,
		    char ret_path[PUBLICATION_NAME_MAX * 4], struct diag *diag);
/*
 * Writes a file below @folder, with the folders that it needs, replacing an earlier one. 0, or
 * -errno with a diagnosis.
 */
int publication_write_file(const char *folder, const char *file, const void *data, size_t len,
			   struct diag *diag);
/* The file of a model, as it is written. 0 or -ENOMEM. */
int publication_write_model(const struct trained_model *model, const char *name,
			    struct strbuf *out);
