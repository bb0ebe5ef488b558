import { isAscii, isUtf8 } from 'node:buffer'
import { decodeWords, type HeaderField, readHeaderFields } from './header-fields.ts'
import { encodedWords, foldField, textField } from './header-text.ts'

/** Header section → the same with the UTF-8 text of its fields as encoded words, and the number of fields changed.
 *  Display names and comments of address fields, and fields of free text are encoded. Everything else goes as it came:
 *  addresses, fields with a syntax of their own, and text that is not UTF-8. The same object if nothing changes.
 *  Linear, never throws. RFC 2047 §5 */
export function encodeRawHeaders(head: Uint8Array): { bytes: Uint8Array; encoded: number } {
  if (isAscii(head)) return { bytes: head, encoded: 0 }
  const pieces: Uint8Array[] = []
  let copied = 0
  let encoded = 0
  for (const field of readHeaderFields(head).fields) {
    const written = head.subarray(field.start, field.end)
    const changed = isAscii(written) || !isUtf8(written) ? null : encodedField(field)
    if (changed === null) continue
    pieces.push(head.subarray(copied, field.start), Buffer.from(changed))
    copied = field.end
    encoded++
  }
  if (encoded === 0) return { bytes: head, encoded }
  pieces.push(head.subarray(copied))
  return { bytes: Buffer.concat(pieces), encoded }
}

const ADDRESSES = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'resent-from', 'resent-sender', 'resent-reply-to', 'resent-to'],
  ...['resent-cc', 'mail-reply-to', 'mail-followup-to', 'disposition-notification-to', 'return-receipt-to'],
])
/** Their values have a syntax in which an encoded word means nothing. */
const STRUCTURED =
  /^(?:content-|received|dkim-|domainkey-|arc-|authentication-|list-|mime-version$|date$|message-id$|in-reply-to$|references$|return-path$|resent-date$|resent-message-id$|auto-submitted$)/
const LONGEST_NAME = 60

function encodedField({ name, key, value }: HeaderField): string | null {
  if (name.length > LONGEST_NAME) return null
  if (ADDRESSES.has(key)) return encodedAddresses(name, value)
  return STRUCTURED.test(key) ? null : textField(name, decodeWords(value))
}

/** A piece of an address field: words of a display name, a comment, or what stays as it is. */
const PIECES = /\s+|"(?:[^"\\]|\\.)*"?|\((?:[^()\\]|\\.)*\)?|<[^>]*>?|[,:;]|[^\s"(<,:;]+/gs

const NESTED_COMMENT = /\([^()]*[(]/

/** Null if nothing can be encoded, or comments stand within comments. */
function encodedAddresses(name: string, value: string): string | null {
  if (NESTED_COMMENT.test(value)) return null
  const width = 74 - name.length
  const tokens: string[] = []
  let words: string[] = [] // of the display name before the next other piece
  let isApart = false // white space precedes
  const add = (text: string, apart: boolean) => {
    if (apart || tokens.length === 0) tokens.push(text)
    else tokens[tokens.length - 1] += text
  }
  const flush = () => {
    const said = words.join('')
    words = []
    if (said.trim() === '') return
    const isName = !isAscii(Buffer.from(said)) && !/[@()]/.test(unquotedText(said))
    const parts = isName ? encodedWords(nameIn(said), width) : [said.trim()]
    for (const [index, part] of parts.entries()) add(part, index > 0 || isApart)
    isApart = /\s$/.test(said)
  }
  for (const [piece] of value.matchAll(PIECES)) {
    const isWord = !/^[(<,:;]/.test(piece)
    if (isWord) {
      if (words.length === 0 && piece.trim() === '') isApart = true
      else words.push(piece)
      continue
    }
    flush()
    const isComment = /^\(.*\)$/s.test(piece) && !isAscii(Buffer.from(piece))
    const inside = isComment ? encodedWords(decodeWords(piece.replace(/^\(|\)$/g, '')), width - 2).join(' ') : ''
    add(isComment ? `(${inside})` : piece, isApart || piece.startsWith('<'))
    isApart = piece === ','
  }
  flush()
  const field = foldField(name, tokens)
  return field.replace(/\s+/g, '') === `${name}:${value}`.replace(/\s+/g, '') ? null : field
}

const unquotedText = (text: string) => text.replace(/"(?:[^"\\]|\\.)*"?/gs, '')

/** Words and quoted strings → the name that they mean. */
function nameIn(said: string): string {
  const plain = said.trim().replace(/"((?:[^"\\]|\\.)*)"?/gs, (_, text: string) => text.replace(/\\(.)/gs, '$1'))
  return decodeWords(plain.replace(/\s+/g, ' '))
}
