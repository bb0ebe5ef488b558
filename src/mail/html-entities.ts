import { DecodingMode, HtmlEntityDecoder } from 'entities/decode'

/** Replaces the HTML character references of a text. Unknown names stay as they are. Never throws, takes linear time.
 *  HTML Living Standard §13.2.5.72–80 */
export function decodeEntities(text: string): string {
  return decode(text, DecodingMode.Legacy)
}

/** Replaces the character references of a raw attribute value. Unlike in text, a name without a semicolon is a query
 *  parameter when `=` or a letter follows: `?a=1&copy=2` stays as it is. HTML Living Standard §13.2.5.73 */
export function decodeAttribute(value: string): string {
  return decode(value, DecodingMode.Attribute)
}

function decode(text: string, mode: DecodingMode): string {
  let at = text.indexOf('&')
  if (at < 0) return text
  decoded = ''
  let start = 0
  for (; at >= 0; at = text.indexOf('&', at + 1)) {
    decoded += text.slice(start, at)
    decoder.startEntity(mode)
    let length = decoder.write(text, at + 1)
    if (length < 0) length = decoder.end()
    start = at + length
    if (length > 0) at = start - 1
  }
  return decoded + text.slice(start)
}

// One decoder for all texts: creating one costs several times as much as a reference, and decoding is synchronous.
let decoded = ''
const decoder = new HtmlEntityDecoder((code) => {
  if (!isControl(code)) decoded += String.fromCodePoint(code)
})

/** Browsers keep these characters, but they show nothing, and the text goes into mail and pages. */
function isControl(code: number): boolean {
  return code < 32 && code !== 9 && code !== 10 && code !== 13
}
