/** Characters that nobody sees and that change what is seen: control characters (C0, DEL, C1), marks and overrides of the
 *  writing direction, line and paragraph separators, joiners without width, and tags. Kept are the joiner and non-joiner of
 *  scripts and emoji (U+200D, U+200C). Unicode TR 36 §3.1, TR 9. */

/** Whether a text holds such a character; a lone surrogate counts. Linear. */
export function hasInvisible(text: string): boolean {
  return INVISIBLE.test(text)
}

/** Text from outside, for one cell or field of a terminal or log → the same with each such character written as
 *  `\u202e`, line ends and TAB too. Within a JSON string that is the same value. Linear, never throws. */
export function visible(text: string): string {
  return INVISIBLE.test(text) ? text.replace(INVISIBLE_ALL, escaped) : text
}

/** Text of ours, made of such parts and put on a terminal → the same, where line ends, TAB and the colours that we use
 *  (SGR 1, 2, 22, 31–36, 39) stay. The last net: it cannot tell our line ends from foreign ones. */
export function visibleLines(text: string): string {
  return INVISIBLE_BUT_LINES.test(text) ? text.replace(COLOUR_OR_INVISIBLE, keepColour) : text
}

/** As a class of a regular expression; for the pattern in the OpenAPI document too, so without the `v` flag. */
export const INVISIBLE_CLASS = String.raw`\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb`

const REST = String.raw`\u{e0000}-\u{e007f}\p{Cs}`
const INVISIBLE = new RegExp(`[${INVISIBLE_CLASS}${REST}]`, 'u')
const INVISIBLE_ALL = new RegExp(`[${INVISIBLE_CLASS}${REST}]`, 'gu')
const LINES_KEPT = INVISIBLE_CLASS.replace(String.raw`\u0000-\u001f`, String.raw`\u0000-\u0008\u000b-\u001f`)
const INVISIBLE_BUT_LINES = new RegExp(`[${LINES_KEPT}${REST}]`, 'u')
const COLOUR_OR_INVISIBLE = new RegExp(`\\u001b\\[(?:1|2|22|3[1-69])m|[${LINES_KEPT}${REST}]`, 'gu')

function keepColour(found: string): string {
  return found.length > 2 ? found : escaped(found)
}

/** Each of its one or two code units. */
function escaped(found: string): string {
  let text = ''
  for (let at = 0; at < found.length; at++) text += `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`
  return text
}
