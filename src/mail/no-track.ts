import type { HtmlTag } from './html-scan.ts'

/** How a link asks not to be tracked: by an attribute, as the services define it that people come from. migration.md
 *  has the table. */

/** Whether an attribute of the tag asks for no click tracking. */
export function asksNotToTrack({ attributes }: HtmlTag): boolean {
  return attributes.some(
    ({ name, value }) => PRESENT.has(name) || VALUES.get(name)?.has(value.trim().toLowerCase()) === true,
  )
}

/** Text or HTML → the same with plain schemes in the place of Postal's `https+notrack://`, which no browser opens. Links
 *  with that scheme are never tracked. */
export function withoutNoTrackScheme(text: string): string {
  return text.replace(NO_TRACK_SCHEME, '$1$2')
}

/** Attribute of Amazon SES, which it removes: a colon makes it invalid in HTML. */
export const REMOVED = 'ses:no-track'

/** Any value counts, as at the services. */
const PRESENT: ReadonlySet<string> = new Set([
  'data-no-track', // ours
  'data-pm-no-track', // Postmark
  'data-mt-no-track', // Mailtrap
  'mc:disable-tracking', // Mailchimp Transactional
  REMOVED,
])

const ON = new Set(['true', '1', 'yes', 'on', ''])
const OFF = new Set(['off', '0', 'false', 'no'])
const VALUES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['clicktracking', OFF], // SendGrid
  ['data-msys-clicktrack', OFF], // SparkPost
  ['disable-tracking', ON], // Mailgun
  ['data-disable-tracking', ON], // OneSignal
])

const NO_TRACK_SCHEME = /\b(https?)\+notrack(:\/\/)/gi
