/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler doctor`: what this machine has, what was chosen, what is missing, why, and the one
 * command or setting that would get it. Text for people, --json for machines.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "kepler/config.h"

enum finding_level {
	FINDING_SHOW, /* a line of a picture */
	FINDING_OK,
	FINDING_NOTE, /* true of this machine; nothing to be done */
	FINDING_FIX,  /* something is missing that a setting would give */
	FINDING_FAIL, /* Kepler cannot work */
};

#define FINDINGS_MAX     64
#define FINDING_TEXT_MAX 640

struct finding {
	enum finding_level level;
	const char *topic; /* "energy", "processes", … */
	char text[FINDING_TEXT_MAX];
	char fix[FINDING_TEXT_MAX]; /* "" where nothing can be done */
};

struct findings {
	struct finding list[FINDINGS_MAX];
	size_t count; /* what is beyond the limit is not kept: there are fewer topics */
};

void findings_add(struct findings *findings, enum finding_level level, const char *topic,
		  const char *fix, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* 1 when anything is to be fixed or fails, else 0: the exit status. */
int findings_exit_status(const struct findings *findings);
void findings_print(const struct findings *findings, bool colour, struct strbuf *out);
void findings_print_json(const struct findings *findings, struct strbuf *out);

/* Looks at the machine under @config: opens every source, measures for a second, closes them. */
struct findings *doctor_examine(const struct config *config);

/* Its own options, beside those of all commands. */
extern const struct option_set doctor_options;
/* The command: `kepler doctor [OPTION]...`. Returns the exit status. */
int doctor_main(int argc, char *const *argv, char *const *environ_);
