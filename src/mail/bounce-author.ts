import { addressesOf, decodeWords, firstAddress } from './header-fields.ts'
import { fieldOf, leavesOf, type MimePart } from './mime-parts.ts'

/** Parts of a mail → whether its author is a mail system, or its header has the null return path. Never throws. */
export function isMailSystem(mail: MimePart): boolean {
  return hasNullReturnPath(mail) || hasSystemAuthor(mail)
}

/** `Return-Path: <>`: the last server adds it, so a mail has it only after a forwarder sent it on. RFC 5321 §4.4 */
export function hasNullReturnPath(mail: MimePart): boolean {
  return /^<\s*>/.test(fieldOf(mail, 'return-path'))
}

/** Whether `From` names a mail system, or `X-Failed-Recipients` is there. Only a postmaster may be a person. */
export function hasSystemAuthor(mail: MimePart): boolean {
  if (failedAddresses(mail).length > 0) return true
  const from = fieldOf(mail, 'from').slice(0, 2_000)
  if (
    /^"?(?:courier mail server|mail delivery (?:sub)?system|mail deliver system|mail system|system administrator)\b/i.test(
      from,
    )
  )
    return true
  if (from.trim() === '<>' || /^mailer-daemon <>$/i.test(from)) return true
  const author = firstAddress(from) ?? from
  return /^<?(?:mailer-?daemon|post[-_]?master|mail-?daemon|mdaemon|microsoftexchange[0-9a-f]+|mail\.?delivery)(?:[+@>]|$)/i.test(
    author,
  )
}

/** Whether the subject begins with `Re:` or the same in another language. Of mail systems, only some gateways of mobile networks
 *  write so. */
export function isAnswer(mail: MimePart): boolean {
  return /^\s*(?:re|aw|sv|antw|rv|r|odp|vs|回复|答复)\s*:/i.test(subjectOf(mail))
}

/** A read receipt. RFC 8098 §3 */
export function isDispositionNotification(mail: MimePart): boolean {
  const isReport = /report-type\s*=\s*"?disposition-notification/i.test(fieldOf(mail, 'content-type').slice(0, 1_000))
  return isReport || leavesOf(mail).some(({ type }) => type === 'message/disposition-notification')
}

/** Addresses of `X-Failed-Recipients`, which Exim and Gmail write. */
export function failedAddresses(mail: MimePart): string[] {
  return addressesOf(fieldOf(mail, 'x-failed-recipients').slice(0, 100_000))
}

export function subjectOf(mail: MimePart): string {
  return decodeWords(fieldOf(mail, 'subject').slice(0, 1_000))
}
