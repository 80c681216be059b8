// SPDX-License-Identifier: Apache-2.0
#include "kepler/stat/stat_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

int stat_output_open(struct stat_output *output, const char *name)
{
	int fd;

	output->name = *name ? name : "standard error";
	output->file = stderr;
	if (!*name)
		return 0;
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	output->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (output->file)
		return 0;
	(void)fprintf(stderr, "kepler: %s: %s\n", name, strerrordesc_np(errno));
	return 1;
}

int stat_output_write(struct stat_output *output, const struct strbuf *text)
{
	errno = ENOMEM;
	if (strbuf_error(text) == 0 &&
	    fwrite(text->data, 1, text->len, output->file) == text->len &&
	    fflush(output->file) == 0)
		return 0;
	(void)fprintf(stderr, "kepler: %s: the result could not be written: %s\n", output->name,
		      strerrordesc_np(errno));
	return 1;
}

void stat_output_close(struct stat_output *output)
{
	if (output->file && output->file != stderr)
		(void)fclose(output->file);
	output->file = NULL;
}
