// SPDX-License-Identifier: Apache-2.0
// What is shown, as it stands in the address: it can be bookmarked and sent, and the back button works.

export const LEVELS = ["namespace", "pod", "container", "process", "vm", "service", "user", "gpu"];
/** Those that are not part of the path from the node to a process. */
export const isBeside = level => ["namespace", "vm", "service", "user", "gpu"].includes(level);
const KEYS = ["level", "namespace", "pod", "container", "q", "sort", "range", "by"];
const RANGES = ["5m", "1h", "24h"];
const SORTS = ["watts", "joules", "cpu", "name"];

const pick = (value, allowed, otherwise) => allowed.includes(value) ? value : otherwise;

export function readRoute(search) {
	const args = new URLSearchParams(search);
	return {
		level: pick(args.get("level"), LEVELS, ""),
		namespace: args.get("namespace") || "", pod: args.get("pod") || "", container: args.get("container") || "",
		q: args.get("q") || "",
		sort: pick(args.get("sort"), SORTS, "watts"),
		range: pick(args.get("range"), RANGES, "5m"),
		by: pick(args.get("by"), ["owner", "zone"], "owner"),
	};
}

export function writeRoute(route) {
	const args = new URLSearchParams();
	const usual = readRoute("");
	for (const key of KEYS) {
		if (route[key] && route[key] !== usual[key])
			args.set(key, route[key]);
	}
	const text = args.toString();
	return text ? `?${text}` : location.pathname;
}

/** The place one level deeper into a row, or null. */
export function inside(route, row) {
	switch (route.level) {
	case "namespace": return { ...route, level: "pod", namespace: row.owner, pod: "", container: "", q: "" };
	case "pod": return { ...route, level: "container", pod: row.owner, container: "", q: "" };
	case "container": return { ...route, level: "process", container: row.owner, q: "" };
	default: return null;
	}
}

/** Is the row in the place that the path leads to? */
export function isInside(route, row) {
	if (isBeside(route.level))
		return true;
	if (route.level === "process" && route.container)
		return row.container === route.container;
	if (route.level !== "pod" && route.pod)
		return row.pod === route.pod;
	if (!route.namespace)
		return true;
	return route.level === "pod" ? row.owner.startsWith(`${route.namespace}/`) : row.namespace === route.namespace;
}

/** What /explain calls the row. */
export function questionOf(route, row) {
	switch (route.level) {
	case "process": return `pid:${row.pid}`;
	case "service": return row.owner;
	case "user": case "gpu": return "";
	case "container": return row.pod ? `pod:${row.pod}` : row.owner;
	default: return `${route.level}:${row.owner}`;
	}
}
