/** The beginning of a text: at most so many UTF-16 code units, and whole characters only. Half of one is no text: some
 *  programs, such as PHP, refuse the JSON that contains it. */
export function cutText(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
}

/** True if a text has at most this many code points. A longer one is not read to its end. */
export function hasAtMost(text: string, most: number): boolean {
  return text.length <= most || (text.length <= 2 * most && [...text].length <= most)
}
