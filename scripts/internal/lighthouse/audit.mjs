// Audits pages with Lighthouse in one browser. Reads {chrome, pages: [{name, url, cookie}]} from the standard input and
// writes one JSON line for each page: its score, where the browser ended, and the audits that failed.
import { text } from "node:stream/consumers";
import { launch } from "chrome-launcher";
import lighthouse from "lighthouse";

const { chrome, pages } = JSON.parse(await text(process.stdin));
const browser = await launch({
  chromePath: chrome,
  chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
try {
  for (const { name, url, cookie } of pages) {
    const { lhr } = await lighthouse(url, {
      port: browser.port,
      logLevel: "error",
      onlyCategories: ["accessibility"],
      extraHeaders: cookie ? { Cookie: cookie } : undefined,
    });
    const failed = Object.values(lhr.audits)
      .filter((audit) => audit.score === 0)
      .map((audit) => `${audit.id}: ${(audit.details?.items ?? []).map((item) => item.node?.snippet).join(" ")}`);
    console.log(JSON.stringify({
      name,
      score: lhr.categories.accessibility.score,
      at: lhr.finalDisplayedUrl,
      error: lhr.runtimeError?.message ?? "",
      failed,
    }));
  }
} finally {
  await browser.kill();
}
