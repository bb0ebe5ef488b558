import { formatMailbox, type Mailbox, parseMailbox } from './address.ts'
import { decodeWords } from './encoded-words.ts'

/** Value of an address header of our own author (unfolded, encoded words and all) → its one mailbox, name decoded; null
 *  when it is not exactly one, as parseMailbox understands one. Never throws. */
export function onlyMailbox(value: string): Mailbox | null {
  if (value.length > LONGEST) return null
  const bracketed = NAMELESS.exec(value)?.[1]
  return named(parseMailbox(bracketed?.includes('@') ? bracketed : value))
}

/** The same for a header that may hold many: those of them that can be understood, in order; groups give their members.
 *  For showing what the author wrote, never for deciding who gets the mail. Linear, never throws. RFC 5322 §3.4. */
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

const LONGEST = 998 // RFC 5322 §2.1.1, as the API has it
const NAMELESS = /^[ \t]*<([^<>]*)>[ \t]*$/
// A quote or comment that never closes goes to the end: were it to fail there, each one would be tried so far again.
const TOKEN = /"(?:[^"\\]|\\.?)*"?|\((?:[^()\\]|\\.?)*\)?|[^",;:()]+|[,;:)]/gs

/** Only the name may be encoded. One that cannot be written back and read again is no name to show. */
function named(mailbox: Mailbox | null): Mailbox | null {
  if (mailbox === null || mailbox.name === null) return mailbox
  const decoded = { ...mailbox, name: decodeWords(mailbox.name).trim() }
  const again = parseMailbox(formatMailbox(decoded))
  return again !== null && again.address === mailbox.address ? decoded : { ...mailbox, name: null }
}
