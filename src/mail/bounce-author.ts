import { addressesOf, decodeWords, firstAddress } from './header-fields.ts'
import { fieldOf, leavesOf, type MimePart } from './mime-parts.ts'

/** Parts of a mail → whether a mail system wrote it, or its header has the null return path. Never throws. */
export function isMailSystem(mail: MimePart): boolean {
  return hasNullReturnPath(mail) || hasSystemAuthor(mail)
}

/** `Return-Path: <>`: the final server adds it, so it is present only after a forwarder. RFC 5321 §4.4 */
export function hasNullReturnPath(mail: MimePart): boolean {
  return /^<\s*>/.test(fieldOf(mail, 'return-path'))
}

/** Whether `From` names a mail system, or `X-Failed-Recipients` is present. Only postmaster may be a person. */
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

/** Whether the subject starts with `Re:` or its equivalent in another language. Among mail systems, only some mobile
 *  gateways do this. */
export function isAnswer(mail: MimePart): boolean {
  return /^\s*(?:re|aw|sv|antw|rv|r|odp|vs|回复|答复)\s*:/i.test(subjectOf(mail))
}

/** A read receipt. RFC 8098 §3 */
export function isDispositionNotification(mail: MimePart): boolean {
  const isReport = /report-type\s*=\s*"?disposition-notification/i.test(fieldOf(mail, 'content-type').slice(0, 1_000))
  return isReport || leavesOf(mail).some(({ type }) => type === 'message/disposition-notification')
}

/** Addresses in `X-Failed-Recipients`, as written by Exim and Gmail. */
export function failedAddresses(mail: MimePart): string[] {
  return addressesOf(fieldOf(mail, 'x-failed-recipients').slice(0, 100_000))
}

export function subjectOf(mail: MimePart): string {
  return decodeWords(fieldOf(mail, 'subject').slice(0, 1_000))
}
