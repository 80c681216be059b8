/* SPDX-License-Identifier: Apache-2.0 */
/* Files that commands of training and validation read and write. */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "model/trained_model.h"

/* 0, or -errno with a diagnosis that names the file. */
int model_file_load(const char *path, struct trained_model *ret, struct diag *diag);
int model_file_save(const char *path, const struct trained_model *model, struct diag *diag);
/* Writes @text to a file, or to standard output for "-": 0 or -errno with a diagnosis. */
int output_write(const char *path, const struct strbuf *text, struct diag *diag);
