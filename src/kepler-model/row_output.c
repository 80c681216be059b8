// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/row_output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX (1U << 20)

static bool is_stdout(const struct row_output *output)
{
	return strcmp(output->path, "-") == 0;
}

static int cannot_write(const struct row_output *output, int r, struct diag *diag)
{
	return r < 0 ? diag_set(diag, r, "%s: cannot be written: %s", output->path,
				strerrordesc_np(-r))
		     : 0;
}

int row_output_open(struct row_output *ret, const char *path, struct diag *diag)
{
	*ret = (struct row_output){ .path = path, .text = STRBUF_INIT };
	return is_stdout(ret) ? 0
			      : cannot_write(ret, file_output_open(&ret->file, path, 0644), diag);
}

static int write_text(struct row_output *output, struct diag *diag)
{
	struct strbuf *text = &output->text;
	int r = 0;

	if (strbuf_error(text) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (!is_stdout(output))
		r = cannot_write(
			output, file_replacement_write(&output->file, text->data, text->len), diag);
	else if (fwrite(text->data, 1, text->len, stdout) != text->len)
		r = diag_set(diag, -EIO, "standard output: %s", strerrordesc_np(errno));
	strbuf_reset(text);
	return r;
}

int row_output_flush(struct row_output *output, struct diag *diag)
{
	return output->text.len < TEXT_MAX ? 0 : write_text(output, diag);
}

int row_output_finish(struct row_output *output, struct diag *diag)
{
	int r = write_text(output, diag);

	if (r < 0)
		return r;
	if (!is_stdout(output))
		return cannot_write(output, file_replacement_finish(&output->file), diag);
	return fflush(stdout) == 0
		       ? 0
		       : diag_set(diag, -EIO, "standard output: %s", strerrordesc_np(errno));
}

void row_output_close(struct row_output *output)
{
	file_replacement_close(&output->file);
	strbuf_release(&output->text);
}
