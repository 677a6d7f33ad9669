package pages

import (
	"os"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
)

// TestTheWorkerComputesWhatTheBrowserDoes compares digests of files around the sizes of blocks and slices.
func TestTheWorkerComputesWhatTheBrowserDoes(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p := publisher(t, d, "tony@example.org")
	wrong := browser.Eval[string](&p.Document, `(async () => {
		const { worker: url, upload } = document.querySelector('[data-part="upload"]').dataset;
		const worker = new Worker(url, { type: "module" });
		const { secrets } = JSON.parse(upload).rules;
		const hex = (b) => Array.from(new Uint8Array(b), (n) => n.toString(16).padStart(2, "0")).join("");
		const wrong = [];
		const slice = 1 << 20;
		for (const size of [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, slice - 1, slice, slice + 1, 3_333_333]) {
			const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) % 256);
			const want = hex(await crypto.subtle.digest("SHA-256", bytes));
			const got = await new Promise((done) => {
				worker.onmessage = ({ data }) => data.sha256 && done(data.sha256);
				worker.postMessage({ id: 0, file: new File([bytes], "x"), secrets });
			});
			if (got !== want) wrong.push(size);
		}
		return wrong.join();
	})()`)
	if wrong != "" {
		t.Errorf("other digests of files of %s bytes", wrong)
	}
	p.Clean()
}

// wantSame expects that a module of the page that publishes finds in a corpus what Go finds. find is an expression over
// corpus and module for what it finds otherwise, as texts.
func wantSame(t *testing.T, email, corpus, module, find string) {
	t.Helper()
	p := publisher(t, harness.NewEnv(t, harness.Unlimited), email)
	text, err := os.ReadFile("../../../shared/publishing/" + corpus)
	harness.NoError(t, err)
	wrong := browser.Eval[string](&p.Document, `(async () => {
		const corpus = `+string(text)+`;
		const { worker, upload } = document.querySelector('[data-part="upload"]').dataset;
		const module = await import(worker.replace("sha256.js", "`+module+`"));
		return (await (`+find+`)).join(", ");
	})()`)
	if wrong != "" {
		t.Errorf("finds otherwise: %s", wrong)
	}
	p.Clean()
}

// TestThePageJudgesNamesLikeTheCommandLine judges the names that the rules in Go are tested with.
func TestThePageJudgesNamesLikeTheCommandLine(t *testing.T) {
	t.Parallel()
	wantSame(t, "john@example.org", "leftout/testdata/names.json", "choose.js", `(() => {
		const judge = new module.Judge(JSON.parse(upload).rules);
		return Object.entries(corpus).flatMap(([kind, paths]) => paths.filter((path) => judge.kind(path) !== kind));
	})()`)
}

// TestThePageFindsTitlesLikeTheCommandLine reads the pages that titles in Go are tested with.
func TestThePageFindsTitlesLikeTheCommandLine(t *testing.T) {
	t.Parallel()
	wantSame(t, "grace@example.org", "lint/testdata/titles.json", "title.js", `(async () => {
		const wrong = [];
		for (const { path, body, title } of corpus) {
			const got = await module.titleOf(path, new Blob([body]));
			if (got !== title) wrong.push(path + " " + body + ": " + got);
		}
		return wrong;
	})()`)
}

// TestThePageAppliesIgnoreFilesLikeTheCommandLine divides folders that the walk in Go is tested with.
func TestThePageAppliesIgnoreFilesLikeTheCommandLine(t *testing.T) {
	t.Parallel()
	wantSame(t, "adele@example.org", "../../cmd/vitrine/folder/testdata/ignore.json", "choose.js", `(async () => {
		const judge = new module.Judge(JSON.parse(upload).rules);
		const wrong = [];
		for (const { name, ignore, published, left, unapplied = false } of corpus) {
			const files = { ...ignore };
			for (const path of [...published, ...left]) files[path] = "x";
			const chosen = Object.entries(files).map(([path, text]) => ({ path: "site/" + path, file: new File([text], path) }));
			const choice = await module.choose(chosen, judge);
			const got = choice.files.map(({ path }) => path).filter((path) => !/\.(git|artifact)ignore$/.test(path));
			if (got.join("|") !== published.sort().join("|") || unapplied !== (choice.note !== "")) wrong.push(name + ": " + got);
		}
		return wrong;
	})()`)
}

// TestThePageFindsSecretsLikeTheCommandLine searches the texts that the search in Go is tested with.
func TestThePageFindsSecretsLikeTheCommandLine(t *testing.T) {
	t.Parallel()
	wantSame(t, "radia@example.org", "leak/testdata/secrets.json", "leak.js", `(async () => {
		const { secrets } = JSON.parse(upload).rules;
		const searching = new Worker(worker, { type: "module" });
		const wrong = [];
		for (const { name, text, want, before = 0, wide } of corpus.cases) {
			const filled = text.replaceAll("{token}", corpus.token).replaceAll("{line}", corpus.line);
			const all = ".".repeat(before) + filled;
			const file = new File([wide ? Uint16Array.from(all, (c) => c.charCodeAt()) : all], "x");
			const got = await new Promise((done) => {
				searching.onmessage = ({ data }) => data.sha256 && done(data.secret);
				searching.postMessage({ id: 0, file, secrets });
			});
			if (got !== want) wrong.push(name + ": " + got);
		}
		return wrong;
	})()`)
}
