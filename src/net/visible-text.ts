/** Invisible characters that change the displayed text: control characters (C0, DEL, C1), marks and overrides of the
 *  writing direction, line and paragraph separators, zero-width joiners, and tags. The joiner and non-joiner of
 *  scripts and emoji (U+200D, U+200C) are allowed. Unicode TR 36 §3.1, TR 9. */

/** True if a text contains such a character or a lone surrogate. Linear. */
export function hasInvisible(text: string): boolean {
  return INVISIBLE.test(text)
}

/** Untrusted text → the same for one cell or field of a terminal or log, with each such character written as
 *  `\u202e`, including line ends and TAB. Inside a JSON string that is the same value. Linear, never throws. */
export function visible(text: string): string {
  return INVISIBLE.test(text) ? text.replace(INVISIBLE_ALL, escaped) : text
}

/** Terminal output composed from such parts → the same, with line ends, TAB and the colours that we use (SGR 1, 2,
 *  22, 31–36, 39) kept. The last safeguard: it cannot distinguish our line ends from others. */
export function visibleLines(text: string): string {
  return INVISIBLE_BUT_LINES.test(text) ? text.replace(COLOUR_OR_INVISIBLE, keepColour) : text
}

/** As a character class of a regular expression. The OpenAPI document uses it too, so it does not need the `v` flag. */
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

/** Escapes each of its one or two code units. */
function escaped(found: string): string {
  let text = ''
  for (let at = 0; at < found.length; at++) text += `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`
  return text
}
