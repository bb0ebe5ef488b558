import { addressesOf, decodeWords, firstAddress } from './header-fields.ts'
import { fieldOf, type MimePart } from './mime-parts.ts'

/** Parts of a mail → whether its header says that a mail system wrote it. No person writes so. The null return path says it
 *  best, but its field is not there before a mail is delivered. Never throws. */
export function isMailSystem(mail: MimePart): boolean {
  if (failedAddresses(mail).length > 0) return true
  if (/^<\s*>/.test(fieldOf(mail, 'return-path'))) return true
  const from = fieldOf(mail, 'from').slice(0, 2_000)
  if (
    /^"?(?:courier mail server|mail delivery (?:sub)?system|mail deliver system|mail system|system administrator)\b/i.test(
      from,
    )
  )
    return true
  const author = firstAddress(from) ?? from
  return /^<?(?:mailer-?daemon|post[-_]?master|mail-?daemon|mdaemon|microsoftexchange[0-9a-f]+|mail\.?delivery)(?:[+@>]|$)/i.test(
    author,
  )
}

/** Addresses of `X-Failed-Recipients`, which Exim and Gmail write. */
export function failedAddresses(mail: MimePart): string[] {
  return addressesOf(fieldOf(mail, 'x-failed-recipients').slice(0, 100_000))
}

export function subjectOf(mail: MimePart): string {
  return decodeWords(fieldOf(mail, 'subject').slice(0, 1_000))
}
