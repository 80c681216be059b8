/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values out of a model's JSON, each checked, with messages that begin with FILE: PLACE. A key that
 * is missing is an error unless the function says otherwise. All return 0, -EINVAL or -ENOMEM.
 * Pure.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct json_source {
	const char *file; /* as messages name it */
	struct diag *diag;
};

/* Reports a fault at @place, "" for the whole file; returns -EINVAL. */
int json_value_refuse(const struct json_source *source, const char *place, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

int json_value_object(const struct json_source *source, const json_t *object, const char *place,
		      const char *key, const json_t **ret);
/* An array of at most @max elements. */
int json_value_array(const struct json_source *source, const json_t *object, const char *place,
		     const char *key, size_t max, const json_t **ret);
/* Finite. */
int json_value_number(const struct json_source *source, const json_t *object, const char *place,
		      const char *key, double *ret);
/* @otherwise if the key is missing or null. */
int json_value_number_or(const struct json_source *source, const json_t *object, const char *place,
			 const char *key, double otherwise, double *ret);
/* A whole number from 0 to @max; 0 if the key is missing. */
int json_value_count(const struct json_source *source, const json_t *object, const char *place,
		     const char *key, uint64_t max, uint64_t *ret);
/*
 * Text that fits @size with its end, without control characters; "" where the key is missing, which
 * is left to the caller to judge.
 */
int json_value_text(const struct json_source *source, const json_t *object, const char *place,
		    const char *key, char *ret, size_t size);
/* An array of finite numbers, at most @max; *ret is given, free() releases it; NULL where none. */
int json_value_numbers(const struct json_source *source, const json_t *object, const char *place,
		       const char *key, size_t max, double **ret, size_t *ret_count);
/* An array of exactly @count whole numbers from 0 to @max; given, as above. */
int json_value_counts(const struct json_source *source, const json_t *object, const char *place,
		      const char *key, size_t count, uint32_t max, uint32_t **ret);
