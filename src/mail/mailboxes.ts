import { formatMailbox, type Mailbox, parseMailbox } from './address.ts'
import { endOfComment, endOfQuoted } from './address-list.ts'
import { trimBlanks } from './blanks.ts'
import { decodeWords } from './encoded-words.ts'

/** Unfolded value of an author's address header, encoded words included → its one mailbox with decoded name; null if it
 *  is not exactly one by parseMailbox. Comments, blanks around `@`, and commas before and behind the mailbox are allowed
 *  besides; a comment that could name somebody else is not. Never throws. RFC 5322 §3.2.2, §4.4 */
export function onlyMailbox(value: string): Mailbox | null {
  if (value.length > LONGEST) return null
  const bracketed = NAMELESS.exec(value)?.[1]
  const plain = plainForm(value)
  const mailbox =
    parseMailbox(bracketed?.includes('@') ? bracketed : value) ?? (plain === null ? null : parseMailbox(plain))
  return mailbox && withDecodedName(mailbox)
}

/** The same for a header with any number: the valid mailboxes in order; groups give their members. For display only,
 *  never to decide who receives the mail. Linear, never throws. RFC 5322 §3.4 */
export function mailboxesOf(value: string): Mailbox[] {
  const found: Mailbox[] = []
  let item = ''
  const take = () => {
    const mailbox = onlyMailbox(item)
    if (mailbox !== null) found.push(mailbox)
    item = ''
  }
  for (const [token] of value.matchAll(TOKEN)) {
    if (token === ',' || token === ';') take()
    else if (token === ':')
      item = '' // the name of a group
    else if (!token.startsWith('(')) item += token
  }
  take()
  return found
}

/** An address header with a space for each comment, without blanks around `@` and commas at either end; null if a quote or
 *  comment does not close, or a comment contains a character that separates addresses. */
function plainForm(value: string): string | null {
  let plain = ''
  for (let at = 0; at < value.length; at++) {
    const char = value.charAt(at)
    if (char === '"' || char === '(') {
      const end = char === '"' ? endOfQuoted(value, at) : endOfComment(value, at)
      const piece = value.slice(at, Math.max(end, at))
      if (end < 0 || (char === '(' && /[@<>,;:"]/.test(piece))) return null
      if (char === '"') plain += piece
      else if (!plain.endsWith('@')) plain += ' '
      at = end - 1
    } else if (char === '@') plain = `${plain.trimEnd()}@`
    else if (char.trim() !== '' || !plain.endsWith('@')) plain += char
  }
  return trimBlanks(plain, ' \t,')
}

const LONGEST = 998 // RFC 5322 §2.1.1, as in the API
const NAMELESS = /^[ \t]*<([^<>]*)>[ \t]*$/
// An unclosed quote or comment extends to the end; failing there would make each one be tried again.
const TOKEN = /"(?:[^"\\]|\\.?)*"?|\((?:[^()\\]|\\.?)*\)?|[^",;:()]+|[,;:)]/gs

/** Mailbox → the same with encoded words in its name decoded. A name that cannot be written and read back is dropped. */
export function withDecodedName(mailbox: Mailbox): Mailbox {
  if (mailbox.name === null) return mailbox
  const decoded = { ...mailbox, name: decodeWords(mailbox.name).trim() }
  const again = parseMailbox(formatMailbox(decoded))
  return again !== null && again.address === mailbox.address ? decoded : { ...mailbox, name: null }
}
