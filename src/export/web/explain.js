// SPDX-License-Identifier: Apache-2.0
// How a number came about. The answer is ready at the end of the interval, so it is asked for again until then.

const RETRY_MS = 700, PATIENCE_MS = 30000;

async function answerTo(path, isWanted) {
	for (const until = Date.now() + PATIENCE_MS; Date.now() < until && isWanted();) {
		const answer = await fetch(path, { cache: "no-store", headers: { Accept: "text/plain" } });
		if (answer.status === 403)
			return "Explanations are answered on the machine itself only: kepler explain, or this page there.";
		if (answer.status !== 202 && answer.status !== 503)
			return answer.text();
		await new Promise(done => setTimeout(done, RETRY_MS));
	}
	return "There was no answer in time.";
}

export async function showWhy(name, question) {
	const dialog = document.getElementById("why"), text = document.getElementById("why-text");
	const path = `/explain/${encodeURIComponent(question)}`;
	document.getElementById("why-title").textContent = name;
	document.getElementById("why-link").href = path;
	text.textContent = "The answer is ready at the end of the interval …";
	dialog.showModal();
	try {
		text.textContent = await answerTo(path, () => dialog.open);
	} catch (error) {
		text.textContent = `Kepler does not respond: ${error.message}`;
	}
}
