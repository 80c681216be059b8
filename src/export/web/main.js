// SPDX-License-Identifier: Apache-2.0
// Asks for the power now once per second and for the history less often, while the page is visible.
import { amount, watts, percent } from "./format.js";
import { LEVELS, isBeside, readRoute, writeRoute, inside, isInside, questionOf } from "./route.js";
import { Graph } from "./graph.js";
import { Table, COLUMNS } from "./table.js";
import { showWhy } from "./explain.js";
import { listFindings } from "./findings.js";

const ROWS_MAX = 4096;
const RANGES = { "5m": { title: "5 min", seconds: 300, step: 2 }, "1h": { title: "1 h", seconds: 3600, step: 15 },
	"24h": { title: "24 h", seconds: 86400, step: 300 } };
const TITLES = { namespace: "Namespaces", pod: "Pods", container: "Containers", process: "Processes", vm: "VMs",
	service: "Services", user: "Users", gpu: "GPUs" };

const $ = id => document.getElementById(id);
let route = readRoute(location.search);
let now = null, lastMs = 0, paused = false, historyMs = 0, findingsMs = 0, asks = 0;
const graph = new Graph($("graph"));
const table = new Table($("body"), enter, row => showWhy(row.name, row.question));

function fill(parent, children) {
	parent.replaceChildren(...children);
}

function make(name, text, className) {
	const made = document.createElement(name);
	made.textContent = text;
	if (className)
		made.className = className;
	return made;
}

function dot(colour) {
	const made = make("i", "", "dot");
	made.style.background = colour;
	return made;
}

async function ask(path) {
	const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(10000) });
	if (!answer.ok)
		throw new Error(`${answer.status}: ${(await answer.text()).slice(0, 200).replace(/^\d+: /, "")}`);
	return answer.json();
}

/* ---- the place that is shown ---- */

function go(next, replace) {
	const isElsewhere = next.level !== route.level || next.namespace !== route.namespace || next.pod !== route.pod || next.container !== route.container;
	route = next;
	history[replace ? "replaceState" : "pushState"](null, "", writeRoute(route));
	if (isElsewhere) {
		now = now && { ...now, rows: [], level: "" };
		if (!replace)
			$("rows").focus({ preventScroll: true });
	}
	drawControls();
	drawRows();
	tick();
}

function enter(row) {
	const next = inside(route, row.row);
	if (next)
		go(next);
}

/** The levels above, from the node on. */
function places() {
	const list = [{ name: "Node", route: { ...route, level: "namespace", namespace: "", pod: "", container: "", q: "" } }];
	if (route.namespace)
		list.push({ name: route.namespace, route: { ...route, level: "pod", pod: "", container: "", q: "" } });
	if (route.pod)
		list.push({ name: route.pod.replace(/^[^/]*\//, ""), route: { ...route, level: "container", container: "", q: "" } });
	if (route.container)
		list.push({ name: route.container.replace(/ in .*$/, ""), route: { ...route, level: "process", q: "" } });
	return list;
}

function choices(group, options, chosen, choose) {
	fill(group, options.map(([key, title]) => {
		const button = make("button", title);
		button.type = "button";
		button.setAttribute("aria-pressed", key === chosen);
		button.addEventListener("click", () => choose(key));
		return button;
	}));
}

function drawPath() {
	const list = places();
	fill($("path"), list.map((place, i) => {
		const item = make("li", ""), isLast = i === list.length - 1;
		const link = make(isLast ? "span" : "a", place.name);
		if (isLast) {
			link.setAttribute("aria-current", "page");
		} else {
			link.href = writeRoute(place.route);
			link.addEventListener("click", event => {
				if (!event.metaKey && !event.ctrlKey) {
					event.preventDefault();
					go(place.route);
				}
			});
		}
		item.append(link);
		return item;
	}));
}

function drawHead() {
	fill($("head"), COLUMNS.map(({ key, title, sort }) => {
		const cell = make("th", "", key);
		cell.scope = "col";
		if (!title) {
			cell.append(make("span", "Explanation", "hide"));
			return cell;
		}
		const button = make("button", title);
		button.type = "button";
		if ((sort || key) === route.sort && !sort)
			cell.setAttribute("aria-sort", key === "name" ? "ascending" : "descending");
		button.addEventListener("click", () => go({ ...route, sort: sort || key }, true));
		cell.append(button);
		return cell;
	}));
}

/* The elements that have the focus are not replaced by the values of each second. */
function drawControls() {
	drawPath();
	drawHead();
	choices($("level"), LEVELS.map(level => [level, TITLES[level]]), route.level, level => go({ ...route, level,
		container: level === "process" ? route.container : "", pod: level === "process" || level === "container" ? route.pod : "",
		namespace: isBeside(level) ? "" : route.namespace }));
	choices($("by"), [["owner", "Owners"], ["zone", "Zones"]], route.by, by => { go({ ...route, by }, true); drawHistory(); drawControls(); });
	choices($("range"), Object.entries(RANGES).map(([key, { title }]) => [key, title]), route.range, range => {
		historyMs = 0;
		go({ ...route, range }, true);
	});
	if ($("search") !== document.activeElement)
		$("search").value = route.q;
}

/* ---- power now ---- */

function fact(name, value) {
	return [make("dt", name), make("dd", value)];
}

/** Money and carbon dioxide of the node's power, with the site's overhead; nothing where a rate is not known. */
function costs(rates, total, estimated) {
	const kilowatts = total / 1000 * (rates?.pue ?? 1), mark = estimated ? "~" : "", facts = [];
	if (total === null || !rates)
		return facts;
	if (rates.price_per_kwh !== null)
		facts.push(...fact("Cost", `${mark}${amount(kilowatts * rates.price_per_kwh)} ${rates.currency}/h`));
	if (rates.carbon_grams_per_kwh !== null)
		facts.push(...fact("CO₂e", `${mark}${amount(kilowatts * rates.carbon_grams_per_kwh)} g/h (${rates.carbon_kind})`));
	if (facts.length && rates.pue !== null)
		facts.push(...fact("with PUE", `${rates.pue}`));
	return facts;
}

function drawPower() {
	const { total_watts: total, estimated, error_watts: error, parts } = now;
	const unit = watts(total).split(" ");
	fill($("total"), [document.createTextNode(`${unit[0]} `), make("small", unit[1] || "W")]);
	$("quality").className = estimated ? "estimated" : "";
	$("quality").textContent = total === null ? "The power is not known now." :
		estimated ? `Estimated${error ? `, ±\u00a0${watts(error).replace(" ", "\u00a0")} (90\u00a0%)` : ""}` : "Measured";
	fill($("parts"), parts.map(part => {
		const item = make("li", "");
		const bar = make("i", "");
		bar.style.width = `${total > 0 ? part.watts * 100 / total : 0}%`;
		item.append(make("span", part.rest ? `rest of ${part.zone}` : part.zone), make("span", watts(part.watts, part.quality === "estimated")), bar);
		return item;
	}));
	const facts = [];
	if (now.idle_watts !== null)
		facts.push(...fact(now.idle_provisional ? "Idle, at most" : "Idle", watts(now.idle_watts, estimated)));
	facts.push(...fact("Unattributed", watts(now.unattributed_watts, estimated)));
	facts.push(...costs(now.rates, total, estimated));
	if (now.exporter)
		facts.push(...fact("Kepler", `${watts(now.exporter.watts, estimated)} · ${percent(now.exporter.cpu_percent)} CPU`));
	fill($("facts"), facts);
	$("node").textContent = now.node;
	document.title = `${watts(total, estimated)} · ${now.node} · Kepler`;
	$("law").textContent = total === null ? "" :
		`Rows ${watts(total - (now.idle_watts || 0) - (now.unattributed_watts || 0), estimated)} + ` +
		`idle ${watts(now.idle_watts || 0, estimated)} + unattributed ${watts(now.unattributed_watts, estimated)} = ` +
		`${watts(total, estimated)}. Kepler ${now.version}`;
}

const sorts = {
	watts: (a, b) => b.watts - a.watts, joules: (a, b) => b.joules - a.joules, cpu: (a, b) => b.cpu - a.cpu,
	name: (a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
};

function rowOf(row) {
	const isOther = row.pid === null && row.command === "other" && row.owner === "";
	const next = isOther ? null : inside(route, row);
	return {
		row, isOther, name: isOther ? "everything else" : row.pid ? row.command : row.owner,
		note: row.pid ? `${row.pid} · ${row.owner}` : "",
		watts: row.watts, cpu: row.cpu_percent, joules: row.joules,
		colour: route.level === "container" ? graph.colourOf(row.owner) : "",
		href: next ? writeRoute(next) : "", question: questionOf(route, row),
	};
}

function drawRows() {
	if (!now)
		return;
	const isPart = route.q || route.container || (route.pod && route.level !== "pod") || (route.namespace && route.level !== "namespace");
	const words = route.q.toLowerCase().split(/\s+/).filter(Boolean);
	const all = now.level === route.level ? now.rows.filter(row => isInside(route, row)).map(rowOf) : [];
	const others = all.filter(row => row.isOther);
	const rows = all.filter(row => !row.isOther && words.every(word => `${row.name} ${row.note}`.toLowerCase().includes(word)));
	rows.sort(sorts[route.sort]);
	const sum = rows.reduce((total, row) => total + (row.watts || 0), 0);
	$("sum").textContent = `${rows.length.toLocaleString("en")} ${rows.length === 1 ? "row" : "rows"} · ${watts(sum, now.estimated)}`;
	table.show(isPart ? rows : [...rows, ...others.filter(row => row.watts >= 0.005 || row.joules >= 0.005)],
		{ total: now.total_watts, estimated: now.estimated });
	$("table").setAttribute("aria-rowcount", rows.length + 1);
	/* A namespace without pods, such as that of the services, has containers only. */
	if (route.level === "pod" && route.namespace && now.level === "pod" && now.complete && !all.some(row => !row.isOther))
		go({ ...route, level: "container" }, true);
}

/* ---- history ---- */

function drawHistory() {
	if (!graph.data)
		return;
	graph.show(graph.data, route.by, RANGES[route.range].seconds);
	$("graph").setAttribute("aria-label", graph.summary());
	$("past-title").textContent = graph.isEstimated() ? "History, estimated" : "History";
	$("past-title").className = graph.isEstimated() ? "estimated" : "";
	const sizes = new Map(graph.bands.map(band => [band, band.values.reduce((sum, value) => sum + (value || 0), 0)]));
	fill($("legend"), [...graph.bands].sort((a, b) => sizes.get(b) - sizes.get(a)).map(band => {
		const item = make("li", "");
		item.append(dot(band.colour), make("span", band.name));
		return item;
	}));
	drawTip();
	if (route.level === "container")
		drawRows(); /* with the colours of the areas */
}

function drawTip() {
	const reading = graph.reading(), tip = $("tip");
	tip.hidden = !reading;
	if (!reading)
		return;
	const list = make("ul", "");
	for (const { name, colour, text } of reading.list) {
		const item = make("li", "");
		item.append(dot(colour), make("span", name), make("b", text));
		list.append(item);
	}
	fill(tip, [make("p", `${reading.time} · ${reading.total}`), list]);
	const isRight = reading.x > graph.width / 2;
	tip.style.left = isRight ? "auto" : `${reading.x + 12}px`;
	tip.style.right = isRight ? `${graph.width - reading.x + 12}px` : "auto";
}

function moveCursor(step) {
	graph.cursor = step;
	graph.draw();
	drawTip();
}

$("graph").addEventListener("pointermove", event => moveCursor(graph.stepAt(event.offsetX)));
$("graph").addEventListener("pointerleave", () => moveCursor(-1));
$("graph").addEventListener("blur", () => moveCursor(-1));
$("graph").addEventListener("keydown", event => {
	const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
	if (!step || !graph.history || !graph.history.points)
		return;
	event.preventDefault();
	const last = graph.history.points - 1;
	moveCursor(graph.cursor < 0 ? last : Math.max(0, Math.min(last, graph.cursor + step)));
	const reading = graph.reading();
	$("reading").textContent = `${reading.time}: ${reading.total}; ` +
		reading.list.slice(0, 3).map(item => `${item.name} ${item.text}`).join(", ");
});
new ResizeObserver(() => graph.draw()).observe($("graph"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawHistory);

/* ---- the loop ---- */

function drawState(error) {
	const age = Math.round((Date.now() - lastMs) / 1000);
	$("state").className = error || paused ? "old" : "";
	$("state").textContent = paused ? "Paused" : !error ? "Live" :
		lastMs ? `No answer for ${age} s: ${error.message}` : error.message;
}

async function askHistory() {
	const { seconds, step } = RANGES[route.range];
	if (Date.now() - historyMs < step * 1000)
		return;
	historyMs = Date.now();
	graph.data = await ask(`/api/v1/history?seconds=${seconds}&step=${step}&owners=8`);
	drawHistory();
}

async function askFindings() {
	if (Date.now() - findingsMs < 30000)
		return;
	findingsMs = Date.now();
	const list = listFindings(await ask("/api/v1/findings"));
	$("findings").hidden = !list.length;
	fill($("unused"), list);
}

/* A Kubernetes node begins with its namespaces, any other machine with its services and containers. */
async function chooseLevel() {
	const page = await ask("/api/v1/now?level=namespace&limit=100");
	if (page.complete && !route.level)
		go({ ...route, level: page.rows.some(row => !["", "system", "kernel"].includes(row.owner)) ? "namespace" : "container" }, true);
}

async function tick() {
	const mine = ++asks;
	clearTimeout(tick.timer);
	let error = null;
	if (!paused && !document.hidden) {
		try {
			if (!route.level)
				await chooseLevel();
			const page = await ask(`/api/v1/now?level=${route.level || "container"}&limit=${ROWS_MAX}&sort=${route.sort}`);
			await table.still();
			if (mine !== asks)
				return;
			now = page;
			lastMs = Date.now();
			$("live").hidden = false;
			$("plain").hidden = true;
			drawPower();
			drawRows();
			await askHistory();
			await askFindings();
		} catch (caught) {
			error = caught;
		}
	}
	if (mine !== asks)
		return;
	drawState(error);
	if (!document.hidden)
		tick.timer = setTimeout(tick, now && now.rows.length > 1500 ? 2000 : 1000);
}

function pause() {
	paused = !paused;
	$("pause").setAttribute("aria-pressed", paused);
	$("pause").textContent = paused ? "Resume" : "Pause";
	tick();
}

$("pause").addEventListener("click", pause);
$("search").addEventListener("input", () => {
	route = { ...route, q: $("search").value };
	history.replaceState(null, "", writeRoute(route));
	drawRows();
});
addEventListener("keydown", event => {
	if (event.ctrlKey || event.metaKey || event.altKey || $("why").open)
		return;
	const isTyping = event.target === $("search");
	if (event.key === "/" && !isTyping) {
		event.preventDefault();
		$("search").focus();
	} else if (event.key === "Escape" && isTyping) {
		$("search").value = "";
		$("search").dispatchEvent(new Event("input"));
		$("search").blur();
	} else if (event.key === "Backspace" && !isTyping && places().length > 1) {
		go(places().at(-2).route);
	} else if (event.key === "p" && !isTyping) {
		pause();
	}
});
addEventListener("popstate", () => {
	route = readRoute(location.search);
	now = now && { ...now, rows: [], level: "" };
	historyMs = 0;
	drawControls();
	drawRows();
	tick();
});
document.addEventListener("visibilitychange", () => document.hidden || tick());
drawControls();
tick();
