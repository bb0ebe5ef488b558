import { SUPPRESSION_REASONS, type SuppressionReason } from '../../model/suppression.ts'
import { parseTime } from './times.ts'

/** A record of an export: its texts by column or key, in lower case without blanks and punctuation (`createdat` for
 *  `CreatedAt`). */
export type Row = Record<string, string>

/** The kind of list, for records that do not state it. `block`: addresses that were refused temporarily. */
export type ListKind = SuppressionReason | 'block'
export const LIST_KINDS: readonly ListKind[] = [...SUPPRESSION_REASONS, 'block']

/** Meaning of one record. */
export type Said =
  | {
      email: string
      reason: SuppressionReason
      at: number | null
      evidence: string
      /** Null or absent: the record names none. */
      stream?: string | null
      /** The kind of mail at the other service that alone is meant. */
      group?: string
    }
  | { passedOver: string }
  | { fault: string }

export interface Provider {
  name: ProviderName
  recognizes: (columns: ReadonlySet<string>) => boolean
  read: (row: Row, kind: ListKind | null) => Said
}

export const PROVIDER_NAMES = ['resend', 'postmark', 'sendgrid', 'mailgun', 'ses', 'postal'] as const
export type ProviderName = (typeof PROVIDER_NAMES)[number]

const POSTMARK: Record<string, SuppressionReason> = {
  HardBounce: 'hard_bounce',
  SpamComplaint: 'complaint',
  ManualSuppression: 'manual',
}
const RESEND: Record<string, SuppressionReason> = { bounce: 'hard_bounce', complaint: 'complaint', manual: 'manual' }
const SES: Record<string, SuppressionReason> = { BOUNCE: 'hard_bounce', COMPLAINT: 'complaint' }
const SOFT = 'was a temporary failure, which is not imported'

/** Export formats of other services, by API or as CSV. */
export const PROVIDERS: readonly Provider[] = [
  {
    // GET /message-streams/<id>/suppressions/dump
    name: 'postmark',
    recognizes: (columns) => columns.has('emailaddress') && columns.has('suppressionreason'),
    read: ({ emailaddress: email = '', suppressionreason = '', origin = '', createdat }) => {
      const reason = entryOf(POSTMARK, suppressionreason)
      if (reason === undefined) return { fault: `has an unknown SuppressionReason: ${suppressionreason}` }
      const isByRecipient = reason === 'manual' && origin === 'Recipient'
      const evidence = `Postmark: ${suppressionreason}${origin && `, origin ${origin}`}`
      return { email, reason: isByRecipient ? 'unsubscribe' : reason, at: parseTime(createdat), evidence }
    },
  },
  {
    // GET /suppressions
    name: 'resend',
    recognizes: (columns) => columns.has('email') && columns.has('origin'),
    read: ({ email = '', origin = '', sourceid = '', createdat }) => {
      const reason = entryOf(RESEND, origin)
      if (reason === undefined) return { fault: `has an unknown origin: ${origin}` }
      return { email, reason, at: parseTime(createdat), evidence: `Resend: ${origin}${sourceid && ` of ${sourceid}`}` }
    },
  },
  {
    // aws sesv2 list-suppressed-destinations
    name: 'ses',
    recognizes: (columns) => columns.has('emailaddress') && columns.has('lastupdatetime'),
    read: ({ emailaddress: email = '', reason: words = '', lastupdatetime }) => {
      const reason = entryOf(SES, words)
      if (reason === undefined) return { fault: `has an unknown Reason: ${words}` }
      return { email, reason, at: parseSeconds(lastupdatetime), evidence: `SES: ${words}` }
    },
  },
  {
    // The table `suppressions` of a mail server's database: addresses that Postal gave up on.
    name: 'postal',
    recognizes: (columns) => columns.has('address') && columns.has('keepuntil'),
    read: ({ type = '', address: email = '', reason: words = '', timestamp }, kind) => {
      if (type !== 'recipient') return { fault: `has an unknown type: ${type}` }
      if (kind === 'block') return { passedOver: SOFT }
      return { email, reason: kind ?? 'hard_bounce', at: parseSeconds(timestamp), evidence: `Postal: ${words || type}` }
    },
  },
  {
    // GET /v3/<domain>/bounces, /unsubscribes, /complaints
    name: 'mailgun',
    recognizes: (columns) => columns.has('address'),
    read: (row, kind) => {
      const { address: email = '', code = '', error = '', createdat } = row
      const own = 'code' in row || 'error' in row ? 'hard_bounce' : mailgunKind(row)
      const reason = kind ?? own
      if (reason === null) return { fault: UNTOLD }
      if (reason === 'block' || (reason === 'hard_bounce' && code.startsWith('4'))) return { passedOver: SOFT }
      const tags = row.tags ?? row.tag ?? ''
      const group = tags !== '' && !tags.includes('*') ? { group: tags } : {}
      const said = reason === 'hard_bounce' ? [code, error].join(' ').trim() : reason
      return { email, reason, at: parseTime(createdat), evidence: `Mailgun: ${said || reason}`, ...group }
    },
  },
  {
    // GET /v3/suppression/bounces, /spam_reports, /unsubscribes, /invalid_emails, /blocks, and /v3/asm/suppressions
    name: 'sendgrid',
    recognizes: (columns) => columns.has('email') && (columns.has('created') || columns.has('groupname')),
    read: (row, kind) => {
      const { email = '', reason: words = '', status = '', groupname = '', created = row.createdat } = row
      if (groupname !== '') {
        const evidence = `SendGrid: unsubscribed from ${groupname}`
        return { email, reason: 'unsubscribe', at: parseTime(created), evidence, group: groupname }
      }
      const own = 'ip' in row ? 'complaint' : 'status' in row || 'reason' in row ? 'hard_bounce' : null
      const reason = kind ?? own
      if (reason === null) return { fault: UNTOLD }
      const isSoft = reason === 'hard_bounce' && /^4/.test(status || words)
      if (reason === 'block' || isSoft) return { passedOver: SOFT }
      const said = words === '' ? [reason, status].join(' ').trim() : words
      return { email, reason, at: parseTime(created), evidence: `SendGrid: ${said}` }
    },
  },
]

/** The entry of a table; not what every object has, such as `constructor`. */
function entryOf<T>(table: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** Seconds with a fraction, or any other time. */
const parseSeconds = (text: string | undefined) => parseTime(text?.replace(/^(\d+)\.\d+$/, '$1'))

/** Applies to a whole list. */
export const UNTOLD = 'The list does not say whether these are bounces, complaints or unsubscribes. Set reason.'

function mailgunKind(row: Row): ListKind | null {
  if ('tags' in row || 'tag' in row) return 'unsubscribe'
  return 'count' in row ? 'complaint' : null
}

/** File name → its kind of list, by the names that services use; null if unknown. */
export function kindByName(file: string): ListKind | null {
  return KINDS.find(([pattern]) => pattern.test(file))?.[1] ?? null
}

const KINDS: [RegExp, ListKind][] = [
  [/block/i, 'block'],
  [/spam|complain/i, 'complaint'],
  [/unsub/i, 'unsubscribe'],
  [/bounce|invalid/i, 'hard_bounce'],
]
