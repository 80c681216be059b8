/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects a selector of Kubernetes selects (k8s.io/apimachinery/pkg/apis/meta/v1
 * LabelSelector). Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/strbuf.h"

/*
 * A LabelSelector, with matchLabels and matchExpressions: NULL or null selects nothing, an empty
 * one everything. An unknown operator selects nothing. @labels may be NULL: no labels.
 */
bool label_selector_matches(const json_t *selector, const json_t *labels);
/* True if @labels have each pair of @wanted, as with nodeSelector; NULL wants nothing. */
bool labels_have(const json_t *labels, json_t *wanted);
/* One of matchExpressions: In, NotIn, Exists or DoesNotExist; an unknown operator does not hold. */
bool label_expression_holds(const json_t *expression, const json_t *labels);
/*
 * Adds a selector in the form that a query of the API server has: "app=kepler,tier in (a,b),!old".
 * Parts that are not understood are left out, so that the server selects more, not less.
 */
void label_selector_query(const json_t *selector, struct strbuf *out);
