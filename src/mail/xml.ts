/** What a document contains, in its order. */
export interface XmlEvents {
  /** Start of an element: its name without a namespace prefix. */
  open(name: string): void
  /** End of the innermost open element, with the text directly in it: entities resolved, at most MAX_TEXT characters,
   *  without blanks at both ends. */
  close(name: string, text: string): void
}

/** Why a text is no XML that we read. The message is one line of ASCII. */
export class XmlFault extends Error {}

/** XML → its elements. No document types and no entities but the five predefined ones and numbers, so that nothing is
 *  expanded or fetched: a document with a DOCTYPE is refused. Attributes are skipped. At most MAX_DEPTH open elements;
 *  those still open at the end get no `close`. One pass, linear. Throws XmlFault. W3C XML 1.0 */
export function readXml(text: string, { open, close }: XmlEvents): void {
  const stack: { name: string; text: string }[] = []
  const add = (characters: string) => {
    const inner = stack.at(-1)
    if (inner !== undefined && inner.text.length < MAX_TEXT) inner.text += characters.slice(0, MAX_TEXT)
  }
  const end = (name: string) => {
    const inner = stack.pop()
    if (inner?.name !== name) throw new XmlFault('the XML closes an element that is not open')
    close(localName(name), inner.text.slice(0, MAX_TEXT).trim())
  }

  for (let at = 0; at < text.length; ) {
    const tagAt = text.indexOf('<', at)
    if (tagAt !== at) add(resolved(text.slice(at, Math.min(tagAt < 0 ? text.length : tagAt, at + MAX_TEXT))))
    if (tagAt < 0) return
    const next = text[tagAt + 1]
    if (next === '?') at = after('?>', text, tagAt + 2)
    else if (next === '!') {
      if (text.startsWith('<!--', tagAt)) at = after('-->', text, tagAt + 4)
      else if (text.startsWith('<![CDATA[', tagAt)) {
        at = after(']]>', text, tagAt + 9)
        add(text.slice(tagAt + 9, Math.min(at - 3, tagAt + 9 + MAX_TEXT)))
      } else throw new XmlFault('the XML has a document type, which is not allowed')
    } else if (next === '/') {
      at = after('>', text, tagAt + 2)
      end(text.slice(tagAt + 2, Math.min(at - 1, tagAt + 2 + MAX_NAME)).trim())
    } else {
      const tag = readTag(text, tagAt + 1)
      at = tag.end
      if (stack.length >= MAX_DEPTH) throw new XmlFault('the XML is nested too deeply')
      stack.push({ name: tag.name, text: '' })
      open(localName(tag.name))
      if (tag.isEmpty) end(tag.name)
    }
  }
}

const MAX_DEPTH = 32
/** Longer texts are cut. */
export const MAX_TEXT = 1_000
const MAX_NAME = 100

function after(mark: string, text: string, from: number): number {
  const at = text.indexOf(mark, from)
  if (at < 0) throw new XmlFault('the XML is truncated')
  return at + mark.length
}

/** `from`: behind the `<`. A `>` in a quoted attribute does not end the tag. */
function readTag(text: string, from: number): { name: string; isEmpty: boolean; end: number } {
  let nameEnd = from
  while (nameEnd - from <= MAX_NAME && isNameCode(text.charCodeAt(nameEnd))) nameEnd++
  const name = text.slice(from, nameEnd)
  if (name === '' || name.length > MAX_NAME) throw new XmlFault('the XML has an element without a valid name')
  for (let at = nameEnd; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === GREATER) return { name, isEmpty: text[at - 1] === '/', end: at + 1 }
    if (code === LESS) break
    if (code === QUOTE || code === APOSTROPHE) at = after(code === QUOTE ? '"' : "'", text, at + 1) - 1
  }
  throw new XmlFault('the XML has an element without an end')
}

const [LESS, GREATER, QUOTE, APOSTROPHE] = [60, 62, 34, 39]

/** Letters, digits, `-`, `.`, `:`, `_` and everything beyond ASCII; NaN at the end. */
function isNameCode(code: number): boolean {
  if (code >= 97 && code <= 122) return true
  if ((code >= 65 && code <= 90) || (code >= 48 && code <= 58)) return true
  return code >= 128 || code === 45 || code === 46 || code === 95
}

function localName(name: string): string {
  const colon = name.indexOf(':')
  return colon < 0 ? name : name.slice(colon + 1)
}

/** Entities that are not predefined stay as they are. */
function resolved(text: string): string {
  return text.includes('&')
    ? text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(lt|gt|amp|quot|apos));/gi, character)
    : text
}

function character(whole: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return PREDEFINED[name.toLowerCase()] ?? whole
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : whole
}

const PREDEFINED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }
