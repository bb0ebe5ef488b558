/** Widths of time in which outcomes are counted for windows of quality: 5 s for windows of up to two hours, a quarter of
 *  an hour for longer ones. A window begins at most one width early, and never has more than 3,000 rows of a domain. Each
 *  is a multiple of the one before it. */
export const OUTCOME_WIDTHS_MS = [5_000, 900_000] as const

/** The longest window that is looked at in the finer width. */
export const FINE_WINDOW_MS = 2 * 3_600_000
/** config: quality.window_hours is at most 744. */
export const LONGEST_WINDOW_MS = 744 * 3_600_000

/** Window in ms → the width that its outcomes are counted in. */
export function widthFor(windowMs: number): number {
  return windowMs <= FINE_WINDOW_MS ? OUTCOME_WIDTHS_MS[0] : OUTCOME_WIDTHS_MS[1]
}
