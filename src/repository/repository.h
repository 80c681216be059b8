/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A repository of power models: a folder of pipelines in the layout of upstream's model-db, or a
 * zip archive of it, such as the offline trainer's answer.
 *
 *     [FOLDER/]PIPELINE/node_type_index.json, metadata.json, SOURCE_OUTPUT_model_metadata.csv
 *     [FOLDER/]PIPELINE/SOURCE/OUTPUT/GROUP/TRAINER_NODETYPE.json and .zip
 *
 * It is read whole into an immutable value: the list of models with their descriptions, not the
 * models. A file that cannot be read is left out and becomes a line of the problems, so a broken
 * file costs one model. Links are not followed. Weights are small, so they are checked as well:
 * with a negative idle power, or power that falls with load, they are listed but never chosen.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "repository/file_tree.h"
#include "repository/model_entry.h"
#include "repository/node_type.h"

#define REPOSITORY_MODELS_MAX    50000
#define REPOSITORY_PIPELINES_MAX 256
#define REPOSITORY_PROBLEMS_MAX  1000 /* kept lines; all problems are counted */
#define REPOSITORY_PATH_MAX      1024

struct pipeline {
	char name[ENTRY_NAME_MAX];
	char path[256]; /* below the repository's folder; "" the folder itself */
	struct node_types types;
	size_t first, count; /* its models */
};

struct repository {
	struct file_tree *tree;
	struct pipeline *pipelines;
	size_t pipeline_count, pipeline_size;
	/* By pipeline, source, output, group and name. */
	struct model_entry *entries;
	size_t entry_count, entry_size;
	char **features; /* lists of features that entries refer to */
	size_t feature_count, feature_size;
	char *problems[REPOSITORY_PROBLEMS_MAX];
	size_t problem_count; /* all */
};

/* 0; or -errno with a diagnosis: @root cannot be read, it has too much, no memory. */
int repository_open(const char *root, struct repository **ret, struct diag *diag);
void repository_free(struct repository *repository); /* NULL is fine */
void repository_cleanup(struct repository **repository);

/* "PIPELINE/SOURCE/OUTPUT/GROUP/NAME.zip", below the folder. 0 or -ENAMETOOLONG. */
int repository_path(const struct repository *repository, const struct model_entry *entry,
		    enum model_file file, char *buf, size_t size);
/* The file's bytes, given to the caller: 0, or -errno with a diagnosis. */
int repository_read(const struct repository *repository, const struct model_entry *entry,
		    enum model_file file, char **ret, size_t *ret_len, struct diag *diag);
/* file_tree_identity() of that file. */
uint64_t repository_file_identity(const struct repository *repository,
				  const struct model_entry *entry, enum model_file file);
/*
 * The entry that has this path, as repository_path() gives it, and in *ret_file the file; or NULL.
 */
const struct model_entry *repository_find(const struct repository *repository, const char *path,
					  enum model_file *ret_file);
/*
 * A hash of names, sizes and times of all files below @root, or of that file: another one means
 * that something has changed. 0: it cannot be read.
 */
uint64_t repository_fingerprint(const char *root);
