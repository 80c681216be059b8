/* SPDX-License-Identifier: Apache-2.0 */
/* Reading objects of Kubernetes: values by a path of keys, and times. Pure. */
#pragma once

#include <jansson.h>

/* "2026-11-29T13:00:00.000000Z" as seconds since 1970; NaN: another text. */
double kube_time_s(const char *text);
#define KUBE_END ((const char *)NULL) /* of a path of keys */
/* A text in an object, by a path of keys that ends with KUBE_END; "" if it is not there. */
const char *kube_text(const json_t *object, const char *key, ...) __attribute__((sentinel));
/* The value there, or NULL. */
json_t *kube_at(const json_t *object, const char *key, ...) __attribute__((sentinel));
