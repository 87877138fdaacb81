// A question's page loads what has changed as soon as a result of it is in. Without this it does so every few seconds.

import { follow } from "./live.js";

const { question, venue } = document.querySelector("script[data-question]").dataset;

follow(() => `/api/v1/live?venue=${encodeURIComponent(venue)}`, {
  "question-moved"(moved) {
    if (String(moved.question) === question) document.dispatchEvent(new Event("stale"));
  },
});
