// The head of every page. Light or dark: the system's choice, or the visitor's, kept in this browser. Runs before the first picture of a page
// is drawn, hence no module.
(() => {
  const root = document.documentElement;
  const kept = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const show = (theme) => {
    root.classList.toggle("light", theme === "light");
    root.classList.toggle("dark", theme === "dark");
  };
  show(kept());
  document.addEventListener("DOMContentLoaded", () => {
    const top = document.querySelector(".top");
    if (!top) return;
    const system = matchMedia("(prefers-color-scheme: dark)");
    const dark = () => root.classList.contains("dark") || (system.matches && !root.classList.contains("light"));
    const button = document.createElement("button");
    button.type = "button";
    button.className = "theme";
    const label = () => {
      button.textContent = dark() ? "Light" : "Dark";
      button.title = dark() ? "Show the pages light" : "Show the pages dark";
    };
    button.addEventListener("click", () => {
      const theme = dark() ? "light" : "dark";
      show(theme);
      try {
        localStorage.setItem("theme", theme);
      } catch {
        // Kept for this page only.
      }
      label();
    });
    system.addEventListener("change", label);
    label();
    top.append(button);
    // The menu of venues lies over the page: it goes by a click beside it and by Escape.
    const menu = top.querySelector("details.menu");
    if (!menu) return;
    document.addEventListener("click", (event) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  });
})();
