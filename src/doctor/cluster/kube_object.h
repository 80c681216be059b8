/* SPDX-License-Identifier: Apache-2.0 */
/* Reading objects of Kubernetes: values by a path of keys, and times. Pure. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* "2026-11-29T13:00:00.000000Z" as seconds since 1970; NaN: another text. */
double kube_time_s(const char *text);
/*
 * Is it a name of a node, a pod, a DaemonSet or a namespace (RFC 1123, which the API server
 * enforces)? Such a name is fit for the path of a URL and for a terminal.
 */
bool kube_is_name(const char *text);
#define KUBE_END ((const char *)NULL) /* of a path of keys */
/* A text in an object, by a path of keys that ends with KUBE_END; "" if it is not there. */
const char *kube_text(const json_t *object, const char *key, ...) __attribute__((sentinel));
/* The value there, or NULL. */
json_t *kube_at(const json_t *object, const char *key, ...) __attribute__((sentinel));
