/** Bucket widths in which outcomes are counted for quality windows: 5 s for windows of up to two hours, a quarter of
 *  an hour for longer ones. A window begins at most one width early, and never has more than 3,000 rows of a domain.
 *  Each width is a multiple of the previous one. */
export const OUTCOME_WIDTHS_MS = [5_000, 900_000] as const

/** Longest window that uses the finer width. */
const FINE_WINDOW_MS = 2 * 3_600_000
/** config: quality.window_hours is at most 744. */
const LONGEST_WINDOW_MS = 744 * 3_600_000

/** How long the outcomes of each width are kept. */
export const OUTCOMES_KEPT_MS = [
  [OUTCOME_WIDTHS_MS[0], FINE_WINDOW_MS],
  [OUTCOME_WIDTHS_MS[1], LONGEST_WINDOW_MS],
] as const

/** Window in ms → the bucket width of its outcomes. */
export function widthFor(windowMs: number): number {
  return windowMs <= FINE_WINDOW_MS ? OUTCOME_WIDTHS_MS[0] : OUTCOME_WIDTHS_MS[1]
}
