import { parseReplyLine } from '../mail/reply.ts'
import { meaningOf } from '../mail/status-codes.ts'
import type { Attempt, Delivery } from '../model/delivery.ts'
import { iso } from '../model/event.ts'
import type { Message } from '../model/message.ts'
import type { Report } from '../model/report.ts'
import type { Suppression } from '../model/suppression.ts'
import type { TlsPolicy } from '../model/tls-policy.ts'
import { remedyFor } from './remedy.ts'
import type { SiteState } from './schedule/destination-state.ts'
import type { WayShown } from './schedule/route.ts'

/** What is known at one moment about an address and the delivery to it, if any. */
export interface Known {
  email: string
  suppressions: readonly Suppression[]
  /** Null if not looked up, because no further attempt follows. */
  way: WayShown | null
  /** State of its destination; null where no delivery engine runs (command line) or no further attempt follows. */
  site: SiteState | null
  settings: { maxAgeSeconds: number }
  now: number
}

/** Address → sentences about what would happen to live mail to it now; most important first, never empty. */
export function explainAddress({ email, suppressions, way, site }: Known): string[] {
  if (suppressions.length > 0) return [whySuppressed(email, suppressions), NO_ATTEMPT]
  return way?.kind === 'nowhere' ? whereTo(way) : [...whereTo(way), ...tlsWords(way, false), ...siteWords(site)]
}

/** Delivery of a message → sentences about its state and what happens next; never empty. `report`: the one that bounced
 *  it after the remote server had accepted it; null if none. */
export function explainDelivery(
  delivery: Delivery,
  message: Message,
  last: Attempt | null,
  report: Report | null,
  known: Known,
): string[] {
  const { email, attempts } = delivery
  switch (delivery.status) {
    case 'suppressed': {
      const now = known.suppressions.length > 0 ? '' : ' It is not on the list any more: a new message would be tried.'
      return [`${email} was on the suppression list when the message was accepted, so nothing was tried.${now}`]
    }
    case 'cancelled':
      return ['The message was cancelled before it was delivered; nothing more is tried.']
    case 'delivered':
      return [
        `The recipient's server${delivery.mxHost === null ? '' : ` ${delivery.mxHost}`} took the mail${at(delivery.deliveredAt)}, at attempt ${attempts}.`,
        'What it does with it (inbox, spam folder) is its own affair; a bounce or a complaint may still come back.',
      ]
    case 'bounced':
      return [...whyBounced(delivery, last, report), ...remedy(report ?? last), ...afterBounce(delivery, known)]
    case 'scheduled':
      return [`The message waits until ${iso(delivery.nextAttemptAt ?? message.createdAt)}, as its author asked.`]
    case 'queued':
    case 'deferred':
      return [
        ...whyWaiting(delivery, last),
        ...(delivery.status === 'deferred' ? remedy(last) : []),
        ...whatNext(delivery, message, known),
      ]
  }
}

/** A stored reply → the meaning of its codes; null if it has none. */
export function meaningOfText(text: string | null): string | null {
  const reply = parseReplyLine((text ?? '').split('\n', 1)[0]!)
  return reply === null ? null : meaningOf(reply)
}

function whySuppressed(email: string, suppressions: readonly Suppression[]): string {
  const [first] = suppressions
  const reach = first!.domainId === null ? 'any domain of the organization' : 'this domain'
  return `${email} is on the suppression list for ${reach}: ${REASONS[first!.reason]}, since ${iso(first!.createdAt)}.`
}

const NO_ATTEMPT =
  'A message to it is accepted and marked suppressed; no attempt is made. Remove the suppression to send again.'

const REASONS: Record<Suppression['reason'], string> = {
  hard_bounce: 'a mail to it bounced hard (the address or its domain does not exist or takes no mail)',
  complaint: 'its reader reported a mail as spam',
  unsubscribe: 'its reader unsubscribed',
  manual: 'somebody put it there',
}

function whereTo(way: WayShown | null): string[] {
  switch (way?.kind) {
    case undefined:
      return []
    case 'smarthost':
      return [`All mail is handed to the smarthost ${way.host}.`]
    case 'hosts':
      return [`Mail is offered to ${way.hosts.join(', then ')}.`]
    case 'nowhere':
      return [
        way.isFinal
          ? `There is nowhere to deliver to: ${way.reason}. A mail bounces hard and suppresses the address.`
          : `At present there is nowhere to deliver to: ${way.reason}. This is tried again.`,
      ]
  }
}

/** The policy that requires TLS; a requirement of the domain covers one of the message. */
export function tlsPolicyOn(way: WayShown, requireTls: boolean): TlsPolicy {
  const policy = way.kind === 'hosts' ? way.tlsPolicy : 'none'
  return requireTls && policy !== 'dane' && policy !== 'mta_sts' ? 'required' : policy
}

function tlsWords(way: WayShown | null, requireTls: boolean): string[] {
  return way === null ? [] : [TLS_WORDS[tlsPolicyOn(way, requireTls)]]
}

const TLS_WORDS: Record<TlsPolicy, string> = {
  none: 'TLS is used where the server offers it; its certificate is not checked.',
  mta_sts_testing:
    'The MTA-STS policy of the domain is in testing and demands nothing yet: TLS is used where the server offers it.',
  mta_sts:
    'The MTA-STS policy of the domain is in force: mail goes only to hosts that it lists, over TLS with a verified certificate.',
  dane: 'The mail host publishes TLSA records (DANE): mail goes to it only over TLS, proven by them where they can be used.',
  required: 'The message asks for verified TLS: it goes over no connection whose certificate does not fit the host.',
}

/** Names the source of the TLS requirement that an attempt could not meet. */
function demandWords(last: Attempt): string[] {
  return last.cause?.class === 'tls' && last.tlsPolicy !== 'none' ? [TLS_WORDS[last.tlsPolicy]] : []
}

function siteWords(state: SiteState | null): string[] {
  if (state === null) return []
  const { site, limit, maxLimit, underWay, maxUnderWay, lowered, pausedUntil } = state
  const room = `Its servers count as the site ${site}, which gets ${limit} of at most ${maxLimit} connections at once.`
  const why =
    lowered === null ? [] : [`The limit was lowered ${iso(lowered.at)}, after a reply of the class ${lowered.class}.`]
  const pause = pausedUntil === null ? [] : [`Since its trouble goes on, nothing is begun before ${iso(pausedUntil)}.`]
  const full =
    underWay < maxUnderWay
      ? []
      : [`The site has its ${maxUnderWay} deliveries under way; further ones wait for one of them to end.`]
  return [room, ...why, ...pause, ...full]
}

function whyWaiting({ attempts, status, smtpResponse }: Delivery, last: Attempt | null): string[] {
  if (attempts === 0) return ['No attempt has been made yet.']
  if (last === null || last.number < attempts) return [`Attempt ${attempts} is under way.`]
  if (status === 'queued' || smtpResponse === null) return [`Attempt ${attempts} has ended.`]
  return [`Attempt ${attempts} was put off: ${smtpResponse}${meant(smtpResponse)}`, ...demandWords(last)]
}

function whatNext(delivery: Delivery, message: Message, known: Known): string[] {
  const { now, settings } = known
  const { nextAttemptAt } = delivery
  const until = (message.scheduledAt ?? message.createdAt) + settings.maxAgeSeconds * 1000
  const givesUpAt = Math.min(until, message.expiresAt ?? until)
  const next =
    nextAttemptAt === null
      ? []
      : [
          nextAttemptAt <= now
            ? 'It is due now.'
            : `The next attempt, number ${delivery.attempts + 1}, is due ${iso(nextAttemptAt)}.`,
        ]
  const end = `If it is still not delivered ${iso(givesUpAt)}, it is given up and bounces soft.`
  return [...next, ...whereTo(known.way), ...tlsWords(known.way, message.requireTls), ...siteWords(known.site), end]
}

function whyBounced({ smtpResponse, bounceType }: Delivery, last: Attempt | null, report: Report | null): string[] {
  const cause = (report ?? last)?.cause
  const rule = cause ? `, read as ${cause.class} (rule ${cause.rule})` : ''
  const kind = bounceType === 'hard' ? 'for good' : 'softly: the address itself is not at fault'
  const said = `${smtpResponse ?? 'No reply was kept'}${meant(smtpResponse)}${rule}.`
  if (report === null) return [`The mail bounced ${kind}. ${said}`]
  const from = report.reporter === null ? '' : ` from ${report.reporter}`
  return [
    `The remote server accepted the mail. A report${from}, received ${iso(report.receivedAt)}, says that it bounced ${kind}. ${said}`,
  ]
}

const remedy = (told: Pick<Attempt, 'cause'> | Pick<Report, 'cause'> | null) =>
  [remedyFor(told?.cause ?? null)].filter((words) => words !== null)

function afterBounce({ bounceType, email }: Delivery, { suppressions }: Known): string[] {
  if (suppressions.length > 0) return [whySuppressed(email, suppressions)]
  return [
    bounceType === 'hard'
      ? 'The address is no longer suppressed.'
      : 'The address is not suppressed: a new message is tried.',
  ]
}

const meant = (response: string | null) => {
  const meaning = meaningOfText(response)
  return meaning === null ? '' : ` (${meaning})`
}
const at = (time: number | null) => (time === null ? '' : ` ${iso(time)}`)
