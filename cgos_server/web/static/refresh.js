// Loads what has changed on a page about now, without losing the place: the main part is taken from a fresh copy of the
// same address. Nothing is loaded while the page cannot be seen, nor while somebody is in the middle of a form.
const seconds = Number(document.querySelector("script[data-seconds]").dataset.seconds);

async function refresh() {
  const active = document.activeElement;
  if (document.hidden || (active && active.closest("main form"))) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const other = fresh.getElementById(part.id);
      if (!other || part.innerHTML === other.innerHTML) continue;
      const at = active && part.contains(active) ? active.getAttribute("href") : null;
      part.replaceChildren(...document.adoptNode(other).childNodes);
      part.dispatchEvent(new CustomEvent("refreshed", { bubbles: true }));
      if (at) [...part.querySelectorAll("a")].find((link) => link.getAttribute("href") === at)?.focus();
    }
    const foot = fresh.querySelector(".foot");
    if (foot) document.querySelector(".foot").replaceWith(document.adoptNode(foot));
  } catch {
    // The server is away; the next time, perhaps.
  }
}

// What follows a stream says so when something has happened.
document.addEventListener("stale", refresh);
if (seconds > 0) setInterval(refresh, seconds * 1000);
