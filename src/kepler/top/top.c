// SPDX-License-Identifier: Apache-2.0
/*
 * A loop that waits for a key, a signal, an answer or the next second. A session of its own is read
 * once more shortly after its first interval, so that the first screen has power.
 */
#include "kepler/top/top.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/terminal.h"
#include "config/config.h"
#include "kepler/top/top_source.h"
#include "kepler/top/top_terminal.h"
#include "options/program.h"
#include "top/top_frame.h"

#define FIRST_NS   (250 * NSEC_PER_MSEC)
#define TURN_NS    NSEC_PER_SEC
#define ESCAPE_MS  50 /* after which an escape is a key of its own */
#define ONCE_TRIES 100

struct top_config {
	struct config config;
	bool once, json;
	const char *at; /* "": now */
	unsigned view;
	enum top_sort sort;
	uint32_t limit;
};

#define OWN(member) .offset = offsetof(struct top_config, member)

static const struct option_choice sorts[] = { { "watts", TOP_BY_WATTS },
					      { "joules", TOP_BY_JOULES },
					      { "cpu", TOP_BY_CPU },
					      { "name", TOP_BY_NAME },
					      { 0 } };

static const struct option own_rows[] = {
	{ "once", NULL, OPTION_BOOL, OWN(once), .default_text = "false", .only_flag = true,
	  .help = "Print one reading and exit. This is implied if the output is not a terminal." },
	{ "json", NULL, OPTION_BOOL, OWN(json), .default_text = "false", .only_flag = true,
	  .help = "Print one reading as JSON, as at /api/v1/now (docs/now.md), and exit." },
	{ "at", NULL, OPTION_STRING, OWN(at), .default_text = "", .metavar = "-DURATION",
	  .may_be_empty = true, .only_flag = true,
	  .help = "Show the time before instead of now, such as -10m, from the recordings in "
		  "--record.dir. The left and right keys go to other intervals." },
	{ "level", NULL, OPTION_ENUM, OWN(view), .choices = view_choices, .default_text = "process",
	  .metavar = "LEVEL", .only_flag = true,
	  .help = "Level whose rows are shown: one of owners, or services (systemd units), users "
		  "of "
		  "processes, GPUs." },
	{ "sort", NULL, OPTION_ENUM, OWN(sort), .choices = sorts, .default_text = "watts",
	  .metavar = "ORDER", .only_flag = true, .help = "Order of the rows." },
	{ "limit", NULL, OPTION_U32, OWN(limit), .min = 1, .max = NOW_ROWS_MAX - 1,
	  .default_text = "40", .metavar = "N", .only_flag = true,
	  .help = "With --once and --json: number of rows. The last row has the sum of all "
		  "others." },
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

const struct option_set top_options = {
	.program = &config_program,
	.base = &config_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct top_config),
	.check = config_check,
};

struct top {
	const struct top_config *own;
	struct top_source *source;
	struct top_state state;
	struct top_keys keys;
	struct strbuf answer, frame;
	uint64_t next_ns; /* of the next reading; UINT64_MAX: the source says when */
	struct diag notice;
	bool is_shown; /* the reading is one of the level that is asked for */
};

static void pause_ns(uint64_t ns)
{
	const struct timespec wait = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				       .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	(void)nanosleep(&wait, NULL);
}

/* 0; -EAGAIN: there is no reading yet, or not with all rows; or -errno. */
static int fetch(struct top *top)
{
	const struct top_state *state = &top->state;
	struct now_reading reading = { 0 };
	int r = top_source_fetch(top->source, state->view, state->sort, top_state_limit(state),
				 &top->answer, &top->notice);

	if (r == 0)
		r = now_reading_parse(top->answer.data, top->answer.len, &reading, &top->notice);
	if (r < 0)
		return r;
	top->notice.text[0] = '\0';
	r = reading.is_complete ? 0 : -EAGAIN;
	return top_state_take(&top->state, &reading) < 0 ? -ENOMEM : r;
}

static void write_clock(const struct top *top, char ret[static 16])
{
	time_t at = (time_t)top->state.reading.time_s;
	struct tm local;

	ret[0] = '\0';
	if (at > 0 && localtime_r(&at, &local))
		(void)strftime(ret, 16, "%H:%M:%S", &local);
}

static int draw(struct top *top, bool is_screen)
{
	char clock[16];
	const struct top_style style = {
		.colour = terminal_wants_colour(STDOUT_FILENO),
		.utf8 = top_terminal_has_utf8(),
		.is_screen = is_screen,
		.notice = top->notice.text[0] ? top->notice.text : NULL,
		.clock = clock,
	};

	write_clock(top, clock);
	strbuf_reset(&top->frame);
	return top_frame_draw(&top->state, &style, &top->frame);
}

static int print(const struct strbuf *text)
{
	if (fwrite(text->data, 1, text->len, stdout) == text->len && fflush(stdout) == 0)
		return 0;
	(void)fprintf(stderr, "kepler: standard output: %s\n", strerrordesc_np(errno));
	return 1;
}

/* A session of its own needs two readings, a second apart; an exporter may need one more. */
static int wait_for_reading(struct top *top)
{
	bool measures = top_source_measures(top->source);
	int r;

	top_source_measure(top->source);
	r = fetch(top); /* from here on all rows are wanted that are to be shown */
	for (unsigned i = 0; (measures && !i) || (r == -EAGAIN && i < ONCE_TRIES); i++) {
		pause_ns(measures ? TURN_NS : TURN_NS / 10);
		top_source_measure(top->source);
		r = fetch(top);
	}
	return r;
}

static int print_once(struct top *top)
{
	unsigned rows, columns;
	int r;

	terminal_size(STDOUT_FILENO, &rows, &columns);
	top->state.limit = top->own->limit;
	(void)top_state_resize(&top->state, 1, columns ? columns : 100);
	r = wait_for_reading(top);
	if (r < 0 && r != -EAGAIN) {
		(void)fprintf(stderr, "kepler: %s\n", top->notice.text);
		return 1;
	}
	if (top->own->json)
		return print(&top->answer);
	return draw(top, false) < 0 ? 1 : print(&top->frame);
}

static int show(struct top *top)
{
	return draw(top, true) < 0 ? -ENOMEM : top_terminal_show(&top->frame);
}

/* True if another reading is needed. */
static bool follow_key(struct top *top, const struct top_event *event)
{
	bool goes = event->key == KEY_LEFT || event->key == KEY_RIGHT;

	if (!goes || !top_source_is_past(top->source))
		return top_state_key(&top->state, event);
	return top_source_move(top->source, event->key == KEY_LEFT ? -1 : 1, &top->notice) == 0;
}

static void read_keys(struct top *top, bool *changed, bool *other_rows)
{
	struct top_event event;
	char bytes[64];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n == 0)
		top->state.quits = true; /* the terminal is gone */
	for (ssize_t i = 0; i < n; i++) {
		if (!top_keys_add(&top->keys, bytes[i], &event))
			continue;
		*changed = true;
		*other_rows |= follow_key(top, &event);
	}
}

static void wait_for_event(struct top *top, bool *changed, bool *other_rows)
{
	struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				{ .fd = top_source_fd(top->source), .events = POLLIN } };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t wait_ns = top->next_ns > now_ns ? top->next_ns - now_ns : 0;
	struct top_event event;
	int ms = wait_ns > TURN_NS ? -1 : (int)((wait_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
	int n;

	if (top->keys.len && (ms < 0 || ms > ESCAPE_MS))
		ms = ESCAPE_MS;
	n = poll(fds, ARRAY_SIZE(fds), ms);
	if (n == 0 && top_keys_flush(&top->keys, &event)) {
		*changed = true;
		*other_rows |= follow_key(top, &event);
	}
	if (n > 0 && fds[0].revents)
		read_keys(top, changed, other_rows);
	if (n > 0 && fds[1].revents)
		*other_rows |= top_source_drain(top->source);
}

static void follow_size(struct top *top)
{
	unsigned rows, columns;

	terminal_size(STDOUT_FILENO, &rows, &columns);
	(void)top_state_resize(&top->state, rows, columns);
}

/* One turn: events, and a reading where it is due. 0, or -errno: the terminal is gone. */
static int turn(struct top *top)
{
	bool changed = false, other_rows = false;
	uint64_t now_ns;

	wait_for_event(top, &changed, &other_rows);
	if (top_terminal_resized()) {
		follow_size(top);
		changed = true;
	}
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (now_ns >= top->next_ns) {
		top->next_ns = now_ns + TURN_NS;
		top_source_measure(top->source);
		other_rows |= !top_source_is_past(top->source);
	}
	if (other_rows)
		(void)fetch(top); /* what failed is in the notice */
	return changed || other_rows ? show(top) : 0;
}

static uint64_t first_turn_ns(const struct top_source *source)
{
	if (top_source_is_fed(source))
		return UINT64_MAX;
	return clock_ns(CLOCK_MONOTONIC) + (top_source_measures(source) ? FIRST_NS : TURN_NS);
}

static int run_screen(struct top *top)
{
	struct top_terminal terminal = { .is_open = false };
	int r = top_terminal_open(&terminal);

	if (r < 0) {
		(void)fprintf(stderr, "kepler: the terminal: %s\n", strerrordesc_np(-r));
		return 1;
	}
	follow_size(top);
	top_source_measure(top->source);
	top->next_ns = first_turn_ns(top->source);
	(void)fetch(top);
	r = show(top);
	while (r == 0 && !top->state.quits && !top_terminal_ended())
		r = turn(top);
	top_terminal_close(&terminal);
	return r < 0 ? 1 : 0;
}

/* 0; -EINVAL: it is not a duration. */
static int open_source(const struct top_config *own, bool is_screen, struct top_source **ret,
		       struct diag *diag)
{
	const char *text = own->at + (own->at[0] == '-');
	uint64_t before_ns;

	if (!own->at[0])
		return top_source_open(&own->config, geteuid() == 0, is_screen, ret, diag);
	if (own->view == VIEW_USER)
		return diag_set(diag, -EINVAL,
				"--level=user: recordings have no users; choose another level"
				" with --at, such as process");
	if (parse_duration_ns(text, &before_ns) < 0)
		return diag_set(diag, -EINVAL,
				"--at: must be a duration before now, such as -10m or -1h30m, not "
				"\"%.40s\"",
				own->at);
	return top_source_open_past(
		&own->config, (int64_t)((clock_ns(CLOCK_REALTIME) - before_ns) / NSEC_PER_MSEC),
		ret, diag);
}

static int run(const struct top_config *own)
{
	bool is_screen = !own->once && !own->json && isatty(STDOUT_FILENO);
	struct top top = { .own = own, .answer = STRBUF_INIT, .frame = STRBUF_INIT };
	struct diag diag = { "" };
	int r, status = 1;

	top.state.view = own->view;
	top.state.sort = own->sort;
	r = open_source(own, is_screen, &top.source, &diag);
	if (r < 0)
		(void)fprintf(stderr, "kepler: %s\n", diag.text);
	if (r == -EINVAL)
		status = PROGRAM_USAGE;
	else if (r == 0)
		status = is_screen ? run_screen(&top) : print_once(&top);
	top_source_close(top.source);
	top_state_release(&top.state);
	strbuf_release(&top.answer);
	strbuf_release(&top.frame);
	return status;
}

int top_main(int argc, char *const *argv, char *const *environ_)
{
	const struct option_args args = { .argc = argc, .argv = argv, .environ_ = environ_ };
	struct top_config own = { .limit = 0 };
	int status;

	if (options_load_or_print(&top_options, &args, &own.config.options, stderr) < 0)
		return PROGRAM_USAGE;
	/* Messages would be written over the screen. */
	log_setup(LOG_LEVEL_ERROR, own.config.log.format);
	status = run(&own);
	options_release(&top_options, &own.config.options);
	return status;
}
