/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of training and validation, as a table or as JSON. */
#pragma once

#include <jansson.h>

#include "base/strbuf.h"
#include "training/model_training.h"

/* A line of the table: a component of a model or trainer. */
void report_add_head(struct strbuf *out);
void report_add_line(const char *component, const char *name, const struct training_result *result,
		     struct strbuf *out);
/* The same as an object, given to the caller. */
json_t *report_object(const char *component, const char *name,
		      const struct training_result *result);
/* All of a training. */
void report_add_training(const struct training_request *request,
			 const struct training_report *report, struct strbuf *out);
void report_add_training_json(const struct training_request *request,
			      const struct training_report *report, struct strbuf *out);
