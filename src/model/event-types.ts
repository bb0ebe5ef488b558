import { LISTED_ATTACHMENTS } from './inbound-message.ts'
import { QUALITY_METRICS } from './quality.ts'
import type { Counted, CountingContext } from './stats.ts'
import { SUPPRESSION_REASONS } from './suppression-reasons.ts'

/** All event types, one row for each. The API's schema and examples, sample events, statistics, the dashboard's words and
 *  colours, the names of compatible APIs, the manual's table and the clients' types are derived from the rows.
 *  The manual's page `architecture` says what else a new type needs. */

/** The facts of one event type. */
export interface EventFacts {
  /** `default`: a webhook gets it unless it names others. `named`: only a webhook that names it gets it. `on_demand`: the same,
   *  and the event is written only while an active webhook names it. */
  sent: 'default' | 'named' | 'on_demand'
  /** One sentence, plain text: what happened. */
  title: string
  /** Word in the timeline of a message; by default the part behind the dot: `Opened`. */
  label?: string
  tone: 'good' | 'calm' | 'warn' | 'bad' | 'quiet'
  /** The fields of `data`, in their order. Events about a recipient begin with those of `OF_MESSAGE`. */
  fields: Readonly<Record<string, EventField>>
  /** Counters of the statistics that it increments; absent = none. */
  counts?: Counted | ((data: Readonly<Record<string, unknown>>, context: CountingContext) => Counted[])
  /** Name in Resend's API; absent if it has none. */
  resend?: string
}

/** One field of `data`, and its value in a sample event. */
export interface EventField {
  /** `time`: ISO 8601; the sample is a number of ms after the event. `count`: from 0. `ordinal`: from 1. */
  type: 'text' | 'time' | 'number' | 'count' | 'ordinal' | 'boolean' | 'texts' | 'metadata' | 'attachments'
  sample: unknown
  /** Description in the API's schema, in CommonMark. */
  about?: string
  isNullable?: boolean
  /** Absent from some events, and from the sample. */
  isOptional?: boolean
  /** The only values of a text. */
  oneOf?: readonly string[]
}

type Rest = Omit<EventField, 'type' | 'sample'>
const field =
  (type: EventField['type']) =>
  (sample: unknown, rest: Rest = {}): EventField => ({ type, sample, ...rest })
const text = field('text')
const number = field('number')
const count = field('count')
const boolean = field('boolean')
const time: EventField = { type: 'time', sample: 0 }
const textOrNull = (sample: string | null, about?: string) =>
  text(sample, { isNullable: true, ...(about !== undefined && { about }) })

// The addresses are reserved for examples (RFC 2606, RFC 5737).
const DOMAIN_ID = text('dom_00000000000000000000000000')
const MODE = text('test', { oneOf: ['live', 'test'] })
const OF_MESSAGE = {
  message_id: text('msg_00000000000000000000000000'),
  from: text('Example <hello@example.com>'),
  to: text('recipient@example.net'),
  subject: text('A sample message'),
  metadata: field('metadata')({ order: '1001' }),
  tags: field('texts')(['sample']),
  mode: MODE,
  stream: text(undefined, { isOptional: true, about: 'Message stream, unless it is `transactional`.' }),
}
const OF_READER = { user_agent: textOrNull('Mozilla/5.0 (sample)'), ip_address: textOrNull('192.0.2.1') }
const OF_DOMAIN = { domain_id: DOMAIN_ID, domain: text('example.com') }
const REASON = text('hard_bounce', { oneOf: SUPPRESSION_REASONS })
const OF_SUPPRESSION = {
  suppression_id: text('sup_00000000000000000000000000'),
  email: text('recipient@example.net'),
  reason: REASON,
  domain_id: textOrNull(null, 'Null = the whole organization.'),
  stream: textOrNull(null, 'Null = every stream.'),
  message_id: textOrNull('msg_00000000000000000000000000'),
  mode: MODE,
}
const BY_MACHINE = boolean(false, { about: 'True if a known machine, not a person, caused the event.' })

/** In the order of all lists. */
const TABLE = {
  'message.delivered': {
    sent: 'default',
    title: 'The recipient’s server accepted the message',
    tone: 'good',
    counts: 'delivered',
    resend: 'email.delivered',
    fields: { ...OF_MESSAGE, delivered_at: time, smtp_response: text('250 2.0.0 OK') },
  },
  'message.bounced': {
    sent: 'default',
    title: 'The message bounced, or the mailbox refused it for the first time and Postrider will retry',
    tone: 'bad',
    counts: ({ will_retry, bounce_type }, { isLate }) => {
      if (will_retry === true) return []
      const name = bounce_type === 'hard' ? 'hardBounced' : 'softBounced'
      return isLate ? [name, 'lateBounced'] : [name]
    },
    resend: 'email.bounced',
    fields: {
      ...OF_MESSAGE,
      bounce_type: text('hard', { oneOf: ['hard', 'soft'] }),
      bounce_code: text('5.1.1'),
      bounce_message: text('550 5.1.1 no such mailbox'),
      bounced_at: time,
      will_retry: boolean(false),
    },
  },
  'message.deferred': {
    sent: 'default',
    title: 'An attempt failed and will be retried',
    tone: 'warn',
    counts: 'deferred',
    resend: 'email.delivery_delayed',
    fields: {
      ...OF_MESSAGE,
      deferred_at: time,
      attempt: field('ordinal')(1),
      next_attempt_at: { ...time, sample: 300_000, isNullable: true },
      smtp_response: text('451 4.7.1 try again later'),
    },
  },
  'message.opened': {
    sent: 'default',
    title: 'The message was opened',
    tone: 'calm',
    counts: ({ machine }, { isRepeat }) => {
      if (machine === true) return ['machineOpened']
      return isRepeat ? ['opened'] : ['opened', 'uniqueOpened']
    },
    resend: 'email.opened',
    fields: { ...OF_MESSAGE, opened_at: time, ...OF_READER, machine: BY_MACHINE },
  },
  'message.clicked': {
    sent: 'default',
    title: 'A link in the message was clicked',
    tone: 'calm',
    counts: ({ machine }, { isRepeat }) => {
      if (machine === true) return ['machineClicked']
      return isRepeat ? ['clicked'] : ['clicked', 'uniqueClicked']
    },
    resend: 'email.clicked',
    fields: {
      ...OF_MESSAGE,
      clicked_at: time,
      url: text('https://example.com/welcome'),
      ...OF_READER,
      machine: BY_MACHINE,
    },
  },
  'message.unsubscribed': {
    sent: 'default',
    title: 'The recipient unsubscribed',
    tone: 'warn',
    counts: 'unsubscribed',
    fields: {
      ...OF_MESSAGE,
      unsubscribed_at: time,
      method: text('one_click', { oneOf: ['one_click', 'link', 'mailto'] }),
      ...OF_READER,
    },
  },
  'message.complained': {
    sent: 'default',
    title: 'The recipient reported the message as spam',
    label: 'Marked as spam',
    tone: 'bad',
    counts: 'complained',
    resend: 'email.complained',
    fields: { ...OF_MESSAGE, complained_at: time, feedback_type: textOrNull('abuse') },
  },
  'quality.alert': {
    sent: 'default',
    title: 'The bounce or complaint rate of a domain rose above its threshold or fell below it again',
    tone: 'bad',
    fields: {
      alert_id: text('alr_00000000000000000000000000'),
      ...OF_DOMAIN,
      metric: text('bounce_rate', { oneOf: QUALITY_METRICS }),
      value: number(0.08),
      threshold: number(0.05),
      window_hours: number(24),
      sent: count(1000),
      affected: count(80),
      state: text('firing', { oneOf: ['firing', 'resolved'] }),
      triggered_at: time,
    },
  },
  'message.suppressed': {
    sent: 'named',
    title: 'The recipient is suppressed and gets no delivery attempt, or no further one',
    tone: 'warn',
    counts: 'suppressed',
    resend: 'email.suppressed',
    fields: {
      ...OF_MESSAGE,
      suppressed_at: time,
      reason: REASON,
      suppression_stream: textOrNull(null, 'Stream of the suppression; null = every stream.'),
    },
  },
  'message.replied': {
    sent: 'named',
    title: 'A person answered the message',
    tone: 'good',
    counts: 'replied',
    fields: {
      ...OF_MESSAGE,
      from: text('recipient@example.net', { about: 'Address in the header of the answer; empty if absent.' }),
      replied_at: time,
      inbound_message_id: text('inb_00000000000000000000000000', {
        isNullable: true,
        about: 'The received mail; null for the sandbox.',
      }),
    },
  },
  'message.accepted': {
    sent: 'on_demand',
    title: 'Postrider accepted the message for the recipient',
    tone: 'calm',
    resend: 'email.sent',
    fields: { ...OF_MESSAGE, accepted_at: time, scheduled_at: { ...time, sample: null, isNullable: true } },
  },
  'message.cancelled': {
    sent: 'on_demand',
    title: 'The message was cancelled before it was delivered to the recipient',
    tone: 'quiet',
    fields: { ...OF_MESSAGE, cancelled_at: time },
  },
  'message.expired': {
    sent: 'on_demand',
    title: 'The message was not delivered within its time limit',
    tone: 'bad', // counted as a bounce, by the event beside it
    fields: {
      ...OF_MESSAGE,
      expired_at: {
        ...time,
        about: 'Time of the last attempt, or end of `expires_in`. `message.bounced` is sent too.',
      },
    },
  },
  'inbound.received': {
    sent: 'on_demand',
    title: 'An email arrived for the organization',
    tone: 'calm',
    resend: 'email.received',
    fields: {
      inbound_message_id: text('inb_00000000000000000000000000'),
      route_id: textOrNull(
        'rte_00000000000000000000000000',
        'Null for mail to the domain’s postmaster or abuse address.',
      ),
      domain_id: DOMAIN_ID,
      from: text('sender@example.net', { about: 'Address in the header; empty if absent.' }),
      to: field('texts')(['support@example.com'], { about: 'Envelope recipients that the route matched.' }),
      subject: text('A sample message'),
      message_id_header: text('<sample@example.net>', { about: 'The `Message-ID` header; empty if absent.' }),
      size_bytes: count(24_576),
      received_at: time,
      spf_result: text('pass'),
      dkim_result: text('pass'),
      dmarc_result: text('pass'),
      attachments: field('attachments')(
        [{ filename: 'photo.png', content_type: 'image/png', size: 16_384, content_id: null }],
        { about: `The first ${LISTED_ATTACHMENTS}, without their content.` },
      ),
      attachment_count: count(1),
    },
  },
  'domain.verified': {
    sent: 'on_demand',
    title: 'A domain was verified',
    tone: 'good',
    fields: { ...OF_DOMAIN, verified_at: time, proved_by: text('dkim', { oneOf: ['dkim', 'txt'] }) },
  },
  'domain.failed': {
    sent: 'on_demand',
    title: 'The verification of a domain failed',
    tone: 'bad',
    fields: {
      ...OF_DOMAIN,
      failed_at: time,
      reason: text('proof_lost', { oneOf: ['mismatch', 'proof_lost', 'claimed'] }),
    },
  },
  'webhook.paused': {
    sent: 'on_demand',
    title: 'Another webhook of the organization was paused, by Postrider or a user',
    tone: 'bad',
    fields: {
      webhook_id: text('whk_00000000000000000000000000'),
      url: text('https://hooks.example.com', {
        about: 'Scheme, host and port only: the rest may contain a token.',
      }),
      reason: textOrNull('The endpoint returned 410.', 'Null if a user paused it.'),
      mode: MODE,
      paused_at: time,
    },
  },
  'suppression.added': {
    sent: 'on_demand',
    title: 'A suppression was added',
    tone: 'bad',
    resend: 'suppression.added',
    fields: { ...OF_SUPPRESSION, added_at: time },
  },
  'suppression.removed': {
    sent: 'on_demand',
    title: 'A suppression was removed',
    tone: 'calm',
    resend: 'suppression.removed',
    fields: { ...OF_SUPPRESSION, removed_at: time },
  },
} as const satisfies Record<string, EventFacts>

export type EventType = keyof typeof TABLE
/** The event types that are written only while an active webhook names them. */
export type OnDemandEventType = {
  [T in EventType]: (typeof TABLE)[T]['sent'] extends 'on_demand' ? T : never
}[EventType]

export const EVENT_FACTS: Readonly<Record<EventType, EventFacts>> = TABLE

/** The event types that a webhook can subscribe to. */
export const EVENT_TYPES = Object.keys(TABLE) as readonly EventType[] // Object.keys has the type string[]

/** The event types that a webhook gets by default. */
export const STANDARD_EVENT_TYPES = EVENT_TYPES.filter((type) => TABLE[type].sent === 'default')

/** The fields that every event about a recipient of a message has. */
export const MESSAGE_FIELDS: readonly string[] = Object.keys(OF_MESSAGE)

export const ON_DEMAND_EVENT_TYPES = EVENT_TYPES.filter(isOnDemand)

/** True for a type that is written only while an active webhook names it. */
export function isOnDemand(type: EventType): type is OnDemandEventType {
  return TABLE[type].sent === 'on_demand'
}
