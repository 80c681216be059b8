/* SPDX-License-Identifier: Apache-2.0 */
/* The source cray-pm-counters: what the controller of a Cray blade counts. */
#pragma once

struct meter_ops;
extern const struct meter_ops cray_pm_meter;
