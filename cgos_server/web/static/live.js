// Follows a live stream and comes back by itself: the browser does so after a cut, this does where the server refused.
// A page that nobody sees lets go of its connection, of which browsers have six for one server, and goes on when seen.

const PATIENCE_MS = [1000, 2000, 5000, 10000];
const LOOK_MS = 5000; // the machine slept if so long a pause was much longer: the connection may be dead without a word
const SLEPT_MS = 30000;

// `address` is asked for where to go on each time a new connection is made; `events`: name -> what to do with the data.
// Returns a function that ends it. `state` is told true and false as the connection comes and goes while it is wanted.
// `element`: followed only while it is in view.
export function follow(address, events, state = () => {}, element = null) {
  let source = null;
  let failures = 0;
  let timer = 0;
  let ended = false;
  let away = false; // in the browser's cache of pages
  let inView = element === null;

  function open() {
    const mine = (source = new EventSource(address()));
    mine.addEventListener("open", () => {
      failures = 0;
      state(true);
    });
    mine.addEventListener("error", () => {
      if (mine !== source) return;
      state(false);
      if (mine.readyState !== EventSource.CLOSED) return;
      source = null;
      timer = setTimeout(look, PATIENCE_MS[Math.min(failures++, PATIENCE_MS.length - 1)]);
    });
    for (const [name, act] of Object.entries(events)) {
      mine.addEventListener(name, (event) => {
        if (mine === source) act(JSON.parse(event.data));
      });
    }
  }

  function close() {
    clearTimeout(timer);
    timer = 0;
    source?.close();
    source = null;
  }

  // There is one connection where one is wanted, and none otherwise.
  function look() {
    if (ended || away || document.hidden || !inView) close();
    else if (source === null) {
      clearTimeout(timer);
      open();
    }
  }

  function end() {
    ended = true;
    clearInterval(clock);
    close();
  }

  let last = Date.now();
  const clock = setInterval(() => {
    const now = Date.now();
    if (now - last > SLEPT_MS && source !== null) {
      close();
      look();
    }
    last = now;
  }, LOOK_MS);
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", () => {
    away = true;
    look();
  });
  addEventListener("pageshow", () => {
    away = false;
    look();
  });
  if (element !== null) {
    new IntersectionObserver((seen) => {
      inView = seen.at(-1).isIntersecting;
      look();
    }).observe(element);
  }
  look();
  return end;
}
