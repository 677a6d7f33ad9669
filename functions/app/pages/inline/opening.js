// Asks what the link opens while the other files of the page are on their way. viewer.js goes on with it.
const opening = (({ publicId, scripts }) => {
  // The tab keeps for this link alone that a reader wants the scripts of an unclaimed artifact to run.
  const wish = `vitrine:scripts:${publicId}`;
  const wished = () => {
    try {
      return scripts === "ask" && sessionStorage.getItem(wish) === "run";
    } catch {
      // The browser keeps nothing.
      return false;
    }
  };
  const send = (path, body, signal) =>
    fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal,
    });
  const resolve = (blob, signal) => {
    const at = new URLSearchParams(location.search).get("at") || undefined;
    return send("/api/access-links/resolve", { public_id: publicId, blob, scripts: wished() || undefined, at }, signal);
  };
  const blob = location.hash.slice(1);
  const answer = blob && resolve(blob, AbortSignal.timeout(20_000));
  // viewer.js tells of a failure.
  if (answer) answer.catch(() => {});
  return { wish, send, resolve, first: { blob, answer } };
})(document.currentScript.dataset);
