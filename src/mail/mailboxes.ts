import { formatMailbox, type Mailbox, parseMailbox } from './address.ts'
import { decodeWords } from './encoded-words.ts'

/** Unfolded value of an author's address header, encoded words included → its one mailbox with decoded name; null if it
 *  is not exactly one by parseMailbox. Never throws. */
export function onlyMailbox(value: string): Mailbox | null {
  if (value.length > LONGEST) return null
  const bracketed = NAMELESS.exec(value)?.[1]
  return named(parseMailbox(bracketed?.includes('@') ? bracketed : value))
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

const LONGEST = 998 // RFC 5322 §2.1.1, as in the API
const NAMELESS = /^[ \t]*<([^<>]*)>[ \t]*$/
// An unclosed quote or comment extends to the end; failing there would make each one be tried again.
const TOKEN = /"(?:[^"\\]|\\.?)*"?|\((?:[^()\\]|\\.?)*\)?|[^",;:()]+|[,;:)]/gs

/** Only the name may be encoded. A name that cannot be written and read back is dropped. */
function named(mailbox: Mailbox | null): Mailbox | null {
  if (mailbox === null || mailbox.name === null) return mailbox
  const decoded = { ...mailbox, name: decodeWords(mailbox.name).trim() }
  const again = parseMailbox(formatMailbox(decoded))
  return again !== null && again.address === mailbox.address ? decoded : { ...mailbox, name: null }
}
