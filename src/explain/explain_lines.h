/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of an explanation: a label and a text that is wrapped below itself at 79 columns, and
 * the forms in which values appear in it. Names are untrusted: what a terminal should not get is
 * printed as a question mark.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

#define EXPLAIN_VALUE_MAX 40

/* Appends @text so that a terminal can show it; newlines only if @lines. */
void explain_add_clean(struct strbuf *out, const char *text, bool lines);
/* Appends "  series    words that go on below each other". */
void say(struct strbuf *out, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Each returns @buf: "1,876,210,123"; "14:03:59 UTC", after its date if @date; "5s". */
const char *explain_count(char buf[EXPLAIN_VALUE_MAX], uint64_t value);
const char *explain_clock(char buf[EXPLAIN_VALUE_MAX], int64_t realtime_ms, bool date);
const char *explain_duration(char buf[EXPLAIN_VALUE_MAX], uint64_t ns);

#define COUNT(value)    explain_count((char[EXPLAIN_VALUE_MAX]){ 0 }, value)
#define CLOCK(ms, date) explain_clock((char[EXPLAIN_VALUE_MAX]){ 0 }, ms, date)
#define DURATION(ns)    explain_duration((char[EXPLAIN_VALUE_MAX]){ 0 }, ns)
