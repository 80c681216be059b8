/* SPDX-License-Identifier: Apache-2.0 */
/* The list that doctor fills, and its two printed forms. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

enum finding_level {
	FINDING_SHOW, /* a line of a picture, which is shown with the rest */
	FINDING_OK,
	FINDING_NOTE, /* true of this machine; a fix, if any, is a choice */
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
	char headline[FINDING_TEXT_MAX]; /* below the verdict; "" none */
	struct finding list[FINDINGS_MAX];
	size_t count; /* findings beyond the limit are dropped: there are fewer topics */
};

void findings_add(struct findings *findings, enum finding_level level, const char *topic,
		  const char *fix, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* 1 when anything is to be fixed or fails, else 0: the exit status. */
int findings_exit_status(const struct findings *findings);
struct findings_view {
	bool verbose; /* also findings without a remedy, and those that are fine */
	bool colour;
	size_t width; /* columns; 0: each finding is one line, as for grep */
};

/*
 * For people: the verdict, then what they can act on, then the rest, or how many findings that is.
 */
void findings_print(const struct findings *findings, const struct findings_view *view,
		    struct strbuf *out);
void findings_print_json(const struct findings *findings, struct strbuf *out);
