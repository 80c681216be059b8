// SPDX-License-Identifier: Apache-2.0
#include "kepler/top/top_terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"

/* The alternate screen without a cursor; buttons of the mouse, in SGR form. */
#define ENTER "\033[?1049h\033[?25l\033[?1000h\033[?1006h"
#define LEAVE "\033[?1006l\033[?1000l\033[?25h\033[?1049l"
#define HOME  "\033[H"
#define CLEAR "\033[J"

static volatile sig_atomic_t ended, resized;

static void note_end(int signal)
{
	(void)signal;
	ended = 1;
}

static void note_size(int signal)
{
	(void)signal;
	resized = 1;
}

static int write_all(const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, bytes, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0 && ended)
			return -EINTR;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* Without SA_RESTART, so that a wait ends. */
static void catch_signals(void)
{
	static const int ends[] = { SIGTERM, SIGHUP, SIGINT, SIGPIPE };
	struct sigaction action = { .sa_handler = note_end };

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		(void)sigaction(ends[i], &action, NULL);
	action.sa_handler = note_size;
	(void)sigaction(SIGWINCH, &action, NULL);
}

int top_terminal_open(struct top_terminal *terminal)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &terminal->before) < 0 || !isatty(STDOUT_FILENO))
		return -ENOTTY;
	catch_signals();
	raw = terminal->before;
	cfmakeraw(&raw);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) < 0)
		return -errno;
	terminal->is_open = true;
	return write_all(ENTER, strlen(ENTER));
}

void top_terminal_close(struct top_terminal *terminal)
{
	if (!terminal->is_open)
		return;
	(void)write_all(LEAVE, strlen(LEAVE));
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal->before);
	terminal->is_open = false;
}

int top_terminal_show(const struct strbuf *frame)
{
	CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT;

	strbuf_add_str(&all, HOME);
	strbuf_add(&all, frame->data, frame->len);
	strbuf_add_str(&all, CLEAR);
	return strbuf_error(&all) < 0 ? strbuf_error(&all) : write_all(all.data, all.len);
}

bool top_terminal_ended(void)
{
	return ended;
}

bool top_terminal_resized(void)
{
	bool was = resized;

	resized = 0;
	return was;
}

/* POSIX: the first of these that is not empty decides. */
bool top_terminal_has_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}
