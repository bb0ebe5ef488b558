/** Text → the same without blanks at its ends: spaces and tabs unless told otherwise, for `trim` also takes line ends and much
 *  of Unicode. Linear: a pattern like `[ \t]+$` looks at each of n blanks in the middle n times, and thirty thousand of them
 *  held the process up for seconds. Never throws. */
export function trimBlanks(text: string, blanks = ' \t'): string {
  let start = 0
  let end = text.length
  while (start < end && blanks.includes(text[start]!)) start++
  while (end > start && blanks.includes(text[end - 1]!)) end--
  return text.slice(start, end)
}
