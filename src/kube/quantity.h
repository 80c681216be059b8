/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes quantities: "100m", "1.5", "128Mi", "1e3", "2k". Pure and exact; fractions of the unit
 * are rounded up, as the scheduler does.
 *
 * Grammar: k8s.io/apimachinery/pkg/api/resource, quantity.go. Signs are refused, because a request
 * or a limit has none.
 */
#pragma once

#include <stdint.h>

/* Thousandths of a unit: CPUs as millicpu. 0, -EINVAL or -ERANGE; *ret only on success. */
int quantity_parse_milli(const char *text, uint64_t *ret);
