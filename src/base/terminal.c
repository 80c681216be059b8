// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_wants_colour(int fd)
{
	const char *no_colour = getenv("NO_COLOR"), *type = getenv("TERM");

	return isatty(fd) && !(no_colour && *no_colour) && !(type && strcmp(type, "dumb") == 0);
}

void terminal_size(int fd, unsigned *ret_rows, unsigned *ret_columns)
{
	struct winsize size;

	*ret_rows = *ret_columns = 0;
	if (ioctl(fd, TIOCGWINSZ, &size) < 0)
		return;
	*ret_rows = size.ws_row;
	*ret_columns = size.ws_col;
}
