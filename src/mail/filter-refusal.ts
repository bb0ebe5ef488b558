import { subjectOf } from './bounce-author.ts'
import { noticeText } from './bounce-notice.ts'
import { saysUnread } from './failure-words.ts'
import { beginningOf, leavesOf, type MimePart } from './mime-parts.ts'

/** Parts of a mail → whether it is the disposition notification of a filter in the mailbox that refused ours: `deleted`
 *  without a person's action, other than the receipt for a mail deleted unread. Reads 64 KiB; never throws.
 *  RFC 5429 §2.1.1, RFC 8098 §3.2.6.2 */
export function isFilterRefusal(mail: MimePart): boolean {
  const part = leavesOf(mail).find(({ type }) => type === 'message/disposition-notification')
  if (part === undefined || !isDeletedBySystem(beginningOf(part, LONGEST_PART))) return false
  return !saysUnread(`${subjectOf(mail)}\n${noticeText(mail)}`)
}

const LONGEST_PART = 65_536

function isDeletedBySystem(fields: string): boolean {
  const disposition = fields.split('\n').find((line) => line.toLowerCase().startsWith('disposition:')) ?? ''
  const said = disposition.toLowerCase()
  return said.includes('automatic-action/') && said.includes('deleted')
}
