import { addressesOf, decodeWords, firstAddress } from './header-fields.ts'
import { fieldOf, leavesOf, type MimePart } from './mime-parts.ts'

/** Parts of a mail → whether its header says that a mail system wrote it, or that it came from the null return path, which says
 *  it best, but whose field is not there before a mail is delivered. Never throws. */
export function isMailSystem(mail: MimePart): boolean {
  return hasNullReturnPath(mail) || hasSystemAuthor(mail)
}

/** A forwarder leaves the field in the mail that it sends on. */
export function hasNullReturnPath(mail: MimePart): boolean {
  return /^<\s*>/.test(fieldOf(mail, 'return-path'))
}

/** The author is a mail system. No person writes so, except as postmaster. */
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

/** The subject of an answer: `Re: …`, and the same in other languages. No mail system writes it but some gateways of mobile
 *  networks. */
export function isAnswer(mail: MimePart): boolean {
  return /^\s*(?:re|aw|sv|antw|rv|r|odp|vs|回复|答复)\s*:/i.test(subjectOf(mail))
}

/** A receipt for the reader's own doing, as RFC 8098 has it. */
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
