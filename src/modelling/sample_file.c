// SPDX-License-Identifier: Apache-2.0
#include "modelling/sample_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
int model_file_load(const char *path, struct trained_model *ret, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len;
	int r = read_file_alloc(path, MODEL_FILE_MAX, &text, &len);

	if (r == -EFBIG)
		return diag_set(diag, r, "%.200s: it has more than %u MiB", path,
				MODEL_FILE_MAX >> 20);
	if (r < 0)
		return diag_set(diag, r, "%.200s: cannot be read: %s", path, strerrordesc_np(-r));
	return trained_model_parse(ret, path, text, len, diag);
}

int model_file_save(const char *path, const struct trained_model *model, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = trained_model_write(model, &text);

	if (r < 0)
		return diag_set(diag, r, "out of memory");
	if (text.len > MODEL_FILE_MAX)
		return diag_set(diag, -EFBIG,
				"%.200s: the model has %zu bytes, and files of models may have %u; "
				"train on fewer rows, or with another trainer",
				path, text.len, MODEL_FILE_MAX);
	return output_write(path, &text, diag);
}

int output_write(const char *path, const struct strbuf *text, struct diag *diag)
{
	int r = strbuf_error(text);

	if (r < 0)
		return diag_set(diag, r, "out of memory");
	if (strcmp(path, "-") == 0)
		return fwrite(text->data, 1, text->len, stdout) == text->len && fflush(stdout) == 0
			       ? 0
			       : diag_set(diag, -EIO, "standard output: %s",
					  strerrordesc_np(errno));
	r = write_output_file(path, text->data, text->len, 0644);
	return r < 0 ? diag_set(diag, r, "%.200s: cannot be written: %s", path, strerrordesc_np(-r))
		     : 0;
}
