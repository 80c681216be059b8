/* SPDX-License-Identifier: Apache-2.0 */
/* Records as bytes (docs/record-format.md), appended to a strbuf, whose error is the caller's. */
#pragma once

#include "base/strbuf.h"
#include "record/recording.h"

void record_encode_pair(struct strbuf *out, enum record_type type, const char *name,
			const char *value);
void record_encode_zone(struct strbuf *out, const struct recorded_zone *recorded);
void record_encode_idle(struct strbuf *out, uint32_t zone, const char *line);
void record_encode_owner(struct strbuf *out, const struct recorded_owner *owner);
void record_encode_process(struct strbuf *out, const struct recorded_process *process);
void record_encode_state(struct strbuf *out, const struct recorded_state *state);
void record_encode_interval(struct strbuf *out, const struct recorded_interval *interval);
void record_encode_end(struct strbuf *out, const struct recorded_end *last);
