/* SPDX-License-Identifier: Apache-2.0 */
/* Files that commands of training and validation read and write. */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "model/trained_model.h"
#include "samples/sample_table.h"

#define SAMPLE_FILE_MAX (512U * 1024 * 1024) /* bytes of a CSV file, unpacked */

/*
 * 0, or -errno with a diagnosis that names the file. Rows may be packed (samples/packed_file.h).
 */
int sample_file_read(const char *path, struct sample_table *ret, struct diag *diag);
int model_file_load(const char *path, struct trained_model *ret, struct diag *diag);
int model_file_save(const char *path, const struct trained_model *model, struct diag *diag);
/* Prints to standard output: 0 or -EIO, -ENOMEM with a diagnosis. */
int text_print(const struct strbuf *text, struct diag *diag);
