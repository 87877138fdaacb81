// Follows a live stream and comes back by itself: the browser does so after a cut, this does where the server refused.

const PATIENCE_MS = [1000, 2000, 5000, 10000];

// `address` is asked for where to go on each time a new connection is made; `events`: name -> what to do with the data.
// Returns a function that ends it. `state` is told true and false as the connection comes and goes.
export function follow(address, events, state = () => {}) {
  let source = null;
  let failures = 0;
  let timer = 0;
  let ended = false;

  function open() {
    source = new EventSource(address());
    source.addEventListener("open", () => {
      failures = 0;
      state(true);
    });
    source.addEventListener("error", () => {
      state(false);
      if (source.readyState !== EventSource.CLOSED || ended) return;
      timer = setTimeout(open, PATIENCE_MS[Math.min(failures++, PATIENCE_MS.length - 1)]);
    });
    for (const [name, act] of Object.entries(events)) {
      source.addEventListener(name, (event) => act(JSON.parse(event.data)));
    }
  }

  function end() {
    ended = true;
    clearTimeout(timer);
    source.close();
  }

  open();
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted && !ended) open();
  });
  return end;
}
