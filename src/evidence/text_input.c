// SPDX-License-Identifier: Apache-2.0
#include "evidence/text_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int text_input_open_fd(struct text_input *input, int fd, const char *name, struct diag *diag)
{
	input->name = name;
	input->at = input->len = input->error = 0;
	input->line = 1;
	input->column = 0;
	input->at_line_end = false;
	input->file = gzdopen(fd, "rb");
	if (input->file)
		return 0;
	(void)close(fd);
	return diag_set(diag, -ENOMEM, "%s: out of memory", name);
}

int text_input_open(struct text_input *input, const char *path, struct diag *diag)
{
	struct stat status;
	bool is_standard = strcmp(path, "-") == 0;

	input->file = NULL;
	int fd = is_standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return diag_set(diag, -errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		(void)close(fd);
		return diag_set(diag, -EISDIR, "%s: is a folder; name a file", path);
	}
	return text_input_open_fd(input, fd, is_standard ? "standard input" : path, diag);
}

void text_input_close(struct text_input *input)
{
	if (input->file)
		(void)gzclose(input->file);
	input->file = NULL;
}

int text_input_peek(struct text_input *input)
{
	if (input->at < input->len)
		return input->buffer[input->at];
	if (input->error < 0)
		return TEXT_INPUT_END;
	input->at = 0;
	input->len = gzread(input->file, input->buffer, sizeof(input->buffer));
	if (input->len < 0)
		input->error = -EIO;
	if (input->len <= 0) {
		input->len = 0;
		return TEXT_INPUT_END;
	}
	return input->buffer[0];
}

int text_input_next(struct text_input *input)
{
	int c = text_input_peek(input);
	if (c == TEXT_INPUT_END)
		return c;
	input->line += input->at_line_end;
	input->column = input->at_line_end ? 1 : input->column + 1;
	input->at_line_end = c == '\n';
	input->at++;
	return c;
}

int text_input_fail(const struct text_input *input, struct diag *diag, const char *format, ...)
{
	char text[DIAG_TEXT_MAX];
	va_list args;

	if (input->error < 0) {
		int number = 0;
		const char *reason = gzerror(input->file, &number);
		return diag_set(diag, input->error, "%s: cannot be read: %s", input->name,
				number == Z_ERRNO ? strerror(errno) : reason);
	}
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return diag_set(diag, -EPROTO, "%s:%llu:%llu: %s", input->name,
			(unsigned long long)input->line, (unsigned long long)input->column, text);
}
