import { foreignUnsubscribe, foreignUnsubscribeInHtml } from './foreign-unsubscribe.ts'
import { fieldOf, isAttachment, leavesOf, type MimePart, readParts, textOf } from './mime-parts.ts'
import { findUnsubscribe } from './unsubscribe-placeholder.ts'

/** Finished mail → the first placeholder for an unsubscribe link, ours or that of another service, in its
 *  List-Unsubscribe or in a text that is not an attachment; null if there is none. Linear, never throws. */
export function placeholderInMail(mail: Uint8Array): string | null {
  const root = readParts(mail, mail.length)
  const header = fieldOf(root, 'list-unsubscribe')
  const inHeader = findUnsubscribe(header) ?? foreignUnsubscribe(header)
  if (inHeader !== null) return inHeader
  for (const part of leavesOf(root)) {
    const found = isAttachment(part) ? null : placeholderInPart(part)
    if (found !== null) return found
  }
  return null
}

function placeholderInPart(part: MimePart): string | null {
  if (part.type !== 'text/html' && part.type !== 'text/plain') return null
  const text = textOf(part)
  return (
    findUnsubscribe(text) ?? (part.type === 'text/html' ? foreignUnsubscribeInHtml(text) : foreignUnsubscribe(text))
  )
}
