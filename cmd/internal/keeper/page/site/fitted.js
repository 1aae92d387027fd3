// A screen that takes as many rows and columns as there is room for.

import { FitAddon } from "./vendor/addon-fit.mjs";

/**
 * fitted keeps a screen as large as its element, and tells its size; told is not called before the first change. It returns a
 * function that has it leave the screen alone, or take it up again.
 */
export function fitted(screen, told = () => {}) {
  const fit = new FitAddon();
  screen.term.loadAddon(fit);
  let held = false;
  const look = () => {
    if (held) return;
    const size = fit.proposeDimensions();
    if (screen.signal.aborted || !size || !(size.cols > 0) || !(size.rows > 0)) return;
    const [cols, rows] = [Math.min(size.cols, 1000), Math.min(size.rows, 1000)];
    if (cols === screen.term.cols && rows === screen.term.rows) return;
    screen.term.resize(cols, rows);
    told(rows, cols);
  };
  let planned = 0;
  const sizes = new ResizeObserver(() => {
    cancelAnimationFrame(planned);
    planned = requestAnimationFrame(look);
  });
  sizes.observe(screen.parent);
  screen.signal.addEventListener("abort", () => sizes.disconnect());
  look();
  return (hold) => {
    held = hold;
    look();
  };
}
