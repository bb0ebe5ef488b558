/** Text → the same without blanks at its ends: spaces and tabs by default; `trim` also removes line ends and much of
 *  Unicode. Linear: a pattern like `[ \t]+$` scans n inner blanks n times, and thirty thousand of them blocked the
 *  process for seconds. Never throws. */
export function trimBlanks(text: string, blanks = ' \t'): string {
  let start = 0
  let end = text.length
  while (start < end && blanks.includes(text.charAt(start))) start++
  while (end > start && blanks.includes(text.charAt(end - 1))) end--
  return text.slice(start, end)
}
