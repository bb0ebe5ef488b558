import { blocksAddress } from '../../mail/address-block.ts'
import { classifyReply } from '../../mail/bounce-class.ts'
import { parseReplyLine } from '../../mail/reply.ts'
import { meaningOf } from '../../mail/status-codes.ts'
import type { Attempt, Delivery, RelayUse } from '../../model/delivery.ts'
import { type DestinationGroup, groupOf } from '../../model/destination-group.ts'
import { iso } from '../../model/event.ts'
import { type Message, TRANSACTIONAL } from '../../model/message.ts'
import { SMARTHOST } from '../../model/relay.ts'
import type { Report } from '../../model/report.ts'
import { simulate } from '../../model/sandbox.ts'
import type { Suppression } from '../../model/suppression.ts'
import type { TlsPolicy } from '../../model/tls-policy.ts'
import { destinationOfHost } from '../../net/destination-host.ts'
import { remedyFor } from './remedy.ts'
import type { AddressState, DestinationState } from './schedule/destination-state.ts'
import type { RouteShown } from './schedule/route.ts'
import type { WarmupState } from './senders/warmups.ts'

/** What is known at one moment about an address and the delivery to it, if any. */
export interface Known {
  email: string
  /** Those that apply to the mail in question. */
  suppressions: readonly Suppression[]
  /** Those that apply only to mail of other streams. */
  ofOtherStreams: readonly Suppression[]
  /** When the delivery ended because of a suppression (ms UTC), and why; null: it did not. */
  ended: { at: number; reason: Suppression['reason'] } | null
  /** Null if not looked up, because no further attempt follows. */
  route: RouteShown | null
  /** State of its destination; null where no delivery engine runs (command line) or no further attempt follows. */
  destination: DestinationState | null
  settings: { maxAgeSeconds: number }
  now: number
  /** Attempts of the delivery, oldest first; absent unless mail has several addresses or relays. */
  attempts?: readonly Attempt[]
}

/** Address → what would happen to a live message to it now, in sentences, most important first; never empty. */
export function explainAddress(known: Known): string[] {
  const { email, suppressions, route, destination } = known
  if (suppressions.length > 0) return [whySuppressed(email, suppressions), NO_ATTEMPT]
  if (route?.kind === 'nowhere') return whereTo(route)
  const goes = [...whereTo(route), ...tlsWords(route, false), ...destinationWords(destination, route)]
  return [...goes, ...otherStreamWords(known)]
}

/** Delivery → its current state and next step, in sentences; never empty. `report`: the DSN by which it bounced after the
 *  remote server had accepted it; null if none arrived. */
export function explainDelivery(
  delivery: Delivery,
  message: Message,
  last: Attempt | null,
  report: Report | null,
  known: Known,
): string[] {
  const { attempts } = delivery
  if (message.mode === 'test' && isSimulated(delivery)) return sandboxWords(delivery)
  switch (delivery.status) {
    case 'suppressed':
      return whyNotSent(delivery, message, known)
    case 'cancelled':
      return ['The message was cancelled before delivery. Postrider makes no further attempts.']
    case 'delivered':
      return [
        ...failOverWords(known.attempts),
        `${whoAnswered(delivery, last)} accepted the message on ${attempts === 1 ? 'the first attempt' : `attempt ${attempts}`}${fromWords(last, known)}.`,
        ...lastRelayWords(last),
        relayOf(last) === null
          ? 'The receiving server now decides between inbox and spam.'
          : 'The relay sends it on. A bounce or complaint may still arrive.',
      ]
    case 'bounced':
      return [
        ...whyBounced(delivery, last, report),
        ...lastRelayWords(last),
        ...failOverWords(known.attempts),
        ...remedy(report ?? last),
        ...afterBounce(delivery, known),
      ]
    case 'scheduled':
      return [
        `The message is scheduled for ${iso(delivery.nextAttemptAt ?? message.createdAt)}.`,
        ...willEnd(delivery, known),
      ]
    case 'queued':
    case 'deferred':
      return [
        ...whyWaiting(delivery, last),
        ...failOverWords(known.attempts),
        ...(delivery.status === 'deferred' ? remedy(last) : []),
        ...whatNext(delivery, message, known),
        ...willEnd(delivery, known),
      ]
  }
}

/** Whether the sandbox chose the result: a real suppression ends its mail, too. */
function isSimulated({ email, status }: Delivery): boolean {
  return status === 'suppressed' ? simulate(email).suppressed : status === 'delivered' || status === 'bounced'
}

function sandboxWords({ status, attempts, smtpResponse }: Delivery): string[] {
  const words = ['This is the sandbox: nothing is sent, and the name before the @ decides the result.']
  if (smtpResponse !== null) words.push(`The result of attempt ${attempts} is: ${smtpResponse}`)
  if (status === 'bounced') words.push('A bounce of the sandbox suppresses no address.')
  return words
}

/** A suppression ends the delivery when the next attempt is due. */
function willEnd({ email }: Delivery, { suppressions }: Known): string[] {
  if (suppressions.length === 0) return []
  return [whySuppressed(email, suppressions), 'While it is, Postrider makes no further attempt.']
}

/** A stored reply → the meaning of its codes; null if it has none. */
export function meaningOfText(text: string | null): string | null {
  const reply = parseReplyLine((text ?? '').split('\n', 1).join())
  return reply === null ? null : meaningOf(reply)
}

function whyNotSent({ email, attempts }: Delivery, { createdAt }: Message, { ended, suppressions }: Known): string[] {
  const then =
    ended === null || ended.at === createdAt
      ? `${email} was suppressed when the message was accepted, so Postrider made no delivery attempt.`
      : `${email} was suppressed after the message was accepted. Postrider ended the delivery at ${iso(ended.at)}, when attempt ${attempts + 1} was due.`
  if (suppressions.length > 0)
    return [then, whySuppressed(email, suppressions), 'Remove the suppression to send again.']
  const why = ended === null ? '' : ` Reason: ${REASONS[ended.reason]}.`
  return [`${then}${why} It is no longer suppressed: a new message would be delivered.`]
}

function whySuppressed(email: string, suppressions: readonly Suppression[]): string {
  const [first] = suppressions
  if (first === undefined) return `${email} is suppressed.`
  const domains = first.domainId === null ? 'all your domains' : 'this domain'
  return `${email} is suppressed for ${domains}${streamWords(first)}: ${REASONS[first.reason]}, since ${iso(first.createdAt)}.`
}

function streamWords({ stream, reason }: Suppression): string {
  // A complaint about transactional mail applies to every stream.
  if (stream === null || (reason === 'complaint' && stream === TRANSACTIONAL)) return ''
  const others = reason === 'complaint' ? ' and every other stream but transactional' : ''
  return `, in the stream ${stream}${others}`
}

function otherStreamWords({ email, ofOtherStreams }: Known): string[] {
  return ofOtherStreams.map(
    (each) =>
      `Mail of other streams does not go to ${email}${streamWords(each)}: ${REASONS[each.reason]}, since ${iso(each.createdAt)}.`,
  )
}

const NO_ATTEMPT =
  'Messages to this address are accepted and marked as suppressed, without a delivery attempt. Remove the suppression to send again.'

const REASONS: Record<Suppression['reason'], string> = {
  hard_bounce: 'hard bounce (a server refused the address for good)',
  complaint: 'the recipient reported a message as spam',
  unsubscribe: 'the recipient unsubscribed',
  manual: 'added manually or by import',
}

function whereTo(route: RouteShown | null): string[] {
  switch (route?.kind) {
    case undefined:
      return []
    case 'relay':
      return [relayWords(route)]
    case 'hosts':
      return [`Mail goes to ${route.hosts.join(', then ')}.`, ...ruleWords(route)]
    case 'nowhere':
      return [
        route.isFinal
          ? `Delivery is impossible: ${route.reason}. Messages hard-bounce and the address is suppressed.`
          : `Delivery is currently impossible: ${route.reason}. Postrider retries.`,
      ]
  }
}

function relayWords({ host, use }: Extract<RouteShown, { kind: 'relay' }>): string {
  if (use.rule === null) return `All mail is sent through the smarthost ${host}.`
  return `Mail goes through the relay ${use.name} (${host}): ${reasonWords(use)}.`
}

function ruleWords({ rule, failOver }: Extract<RouteShown, { kind: 'hosts' }>): string[] {
  if (rule === null) return []
  const next = failOver === null ? '' : `; the relay ${failOver} takes over if that is not possible`
  return [`Relay rule ${rule} sends it directly${next}.`]
}

function reasonWords({ rule, because }: RelayUse): string {
  switch (because) {
    case 'rule':
      return rule === null ? 'it is the smarthost' : `relay rule ${rule} says so`
    case 'address_blocked':
      return `fail-over of relay rule ${rule}, because the destination blocks the address of this server`
    case 'port_25_blocked':
      return `fail-over of relay rule ${rule}, because outgoing connections to port 25 are blocked`
    case 'direct_failing':
      return `fail-over of relay rule ${rule}, because direct attempts kept failing`
    case 'warmup_used_up':
      return `fail-over of relay rule ${rule}, because the warm-up of the sending addresses allows no more messages there now`
    case 'same_route':
      return 'an earlier attempt through it may have been accepted'
  }
}

/** The policy that requires verified TLS for a delivery. A domain’s policy takes precedence over `require_tls`. */
export function tlsPolicyOn(route: RouteShown, requireTls: boolean): TlsPolicy {
  const policy = route.kind === 'hosts' ? route.tlsPolicy : 'none'
  return requireTls && policy !== 'dane' && policy !== 'mta_sts' ? 'required' : policy
}

function tlsWords(route: RouteShown | null, requireTls: boolean): string[] {
  // The config of a relay says what TLS must prove.
  const isRelay = route?.kind === 'relay' && route.use.name !== SMARTHOST
  return route === null || (isRelay && !requireTls) ? [] : [TLS_WORDS[tlsPolicyOn(route, requireTls)]]
}

const TLS_WORDS: Record<TlsPolicy, string> = {
  none: 'Postrider uses TLS if the server offers it, without verifying the certificate (opportunistic TLS).',
  mta_sts_testing:
    'The domain’s MTA-STS policy is in testing mode and not enforced. Postrider uses TLS if the server offers it.',
  mta_sts:
    'The domain enforces an MTA-STS policy: mail goes only to the hosts it lists, over TLS with a verified certificate.',
  dane: 'The MX host publishes TLSA records (DANE): mail goes to it only over TLS, verified by these records if they are usable.',
  required: 'The message requires verified TLS: Postrider uses a connection only if its certificate matches the host.',
}

/** The policy that required the TLS which an attempt did not get. */
function policyWords(last: Attempt): string[] {
  return last.cause?.class === 'tls' && last.tlsPolicy !== 'none' ? [TLS_WORDS[last.tlsPolicy]] : []
}

function destinationWords(state: DestinationState | null, route: RouteShown | null): string[] {
  if (state === null) {
    return route?.kind === 'hosts' ? [`Its servers belong to the destination ${route.destination}.`] : []
  }
  const { destination, limit, maxLimit, underWay, maxUnderWay, lowered, pausedUntil } = state
  const isRelay = route?.kind === 'relay'
  const whose = isRelay ? 'This relay is' : `Its servers belong to the destination ${destination},`
  const limits = `${whose} currently limited to ${limit} of at most ${maxLimit} concurrent connections.`
  const why =
    lowered === null ? [] : [`The limit was lowered at ${iso(lowered.at)} after a reply of class ${lowered.class}.`]
  const pause =
    pausedUntil === null ? [] : [`The destination keeps failing, so deliveries are paused until ${iso(pausedUntil)}.`]
  const full =
    underWay < maxUnderWay
      ? []
      : [`All ${maxUnderWay} concurrent deliveries to this destination are in use. Others wait until one ends.`]
  return [limits, ...(isRelay ? [] : addressWords(state)), ...why, ...pause, ...full]
}

function addressWords({ sourceAddress, addresses = [] }: DestinationState): string[] {
  if (sourceAddress === null) return []
  const rests = addresses.flatMap(({ address, rest }) =>
    rest === null
      ? []
      : [
          `${address} is blocked there (rule ${rest.rule}) and rests until ${iso(rest.until)}: other addresses go first.`,
        ],
  )
  return [`Mail is sent from ${sourceAddress}, for which these limits count.`, ...rests, ...warmupWords(addresses)]
}

/** What the warm-up of addresses allows, and whether the mail waits for it: an IPv6 address beside IPv4 ones does not take
 *  over. The number of mails sent is that of all organizations, so it is not shown. */
function warmupWords(addresses: readonly AddressState[]): string[] {
  const words = addresses.flatMap(({ address, warmup }) => (warmup === null ? [] : [warmupOf(address, warmup)]))
  const ipv4 = addresses.filter(({ address }) => !address.includes(':'))
  const able = ipv4.length > 0 ? ipv4 : addresses
  const [first] = able.map(({ warmup }) => warmup)
  const isUsedUp = ({ warmup }: AddressState) => warmup !== null && warmup.left === 0
  if (words.length === 0 || !able.some(isUsedUp)) return words
  if (!able.every(isUsedUp)) return [...words, 'Mail beyond that goes from another address of the pool.']
  const nextAt = able.reduce((soonest, { warmup }) => Math.min(soonest, nextOf(warmup)), nextOf(first ?? null))
  return [...words, `No other address of the pool can take over, so mail waits until ${iso(nextAt)}.`]
}

const nextOf = (warmup: AddressState['warmup']) => warmup?.heldUntil ?? warmup?.nextAt ?? 0

function warmupOf(address: string, { group, state, day, allowance, left, heldUntil }: WarmupState): string {
  const where = `${address} is in warm-up for the destination group ${group}`
  if (day === 0) return `${where}, which starts at ${iso(heldUntil ?? 0)}.`
  const plan = `day ${day} of its plan allows ${allowance} messages`
  if (state === 'held') {
    return `${where}: ${plan}, but deferrals, blocks or complaints hold it until ${iso(heldUntil ?? 0)}.`
  }
  const back = state === 'stepped_back' ? ', after the plan was stepped back' : ''
  const rest = left === 0 ? 'What of it may be sent by now is used up.' : 'It goes first while that lasts.'
  return `${where}: ${plan}${back}, spread over the day. ${rest}`
}

/** Attempts after which another address or a relay took over at once. */
function failOverWords(attempts: readonly Attempt[] = []): string[] {
  return attempts.flatMap((attempt, at) => {
    const next = attempts[at + 1]
    const { sourceAddress: from, cause, reply } = attempt
    if (next === undefined || from === null || cause === null || attempt.relay !== undefined) return []
    if ((next.relay === undefined && next.sourceAddress === from) || !isOfAddress(attempt)) return []
    const followed =
      next.relay === undefined
        ? `from ${next.sourceAddress ?? 'another address'}`
        : `through the relay ${next.relay.name}`
    return [
      `Attempt ${attempt.number} from ${from} was refused because of this address (rule ${cause.rule}): ${reply}. Attempt ${next.number} followed ${followed}.`,
    ]
  })
}

function isOfAddress({ reply }: Attempt): boolean {
  const parsed = parseReplyLine((reply ?? '').split('\n', 1).join())
  return parsed !== null && blocksAddress(parsed, classifyReply(parsed))
}

function fromWords(last: Attempt | null, { attempts }: Known): string {
  return attempts === undefined || last === null || last.sourceAddress === null ? '' : `, from ${last.sourceAddress}`
}

function whoAnswered({ mxHost }: Delivery, last: Attempt | null): string {
  const use = relayOf(last)
  if (use !== null) return `The relay ${use.name}${mxHost === null ? '' : ` (${mxHost})`}`
  if (mxHost === null) return "The recipient's server"
  return PROVIDERS[groupOf(destinationOfHost(mxHost))] ?? `The recipient's server ${mxHost}`
}

const PROVIDERS: Partial<Record<DestinationGroup, string>> = {
  google: 'Gmail',
  microsoft: 'Outlook',
  yahoo: 'Yahoo',
  apple: 'iCloud',
}

/** The smarthost goes without saying. */
function relayOf(last: Attempt | null): RelayUse | null {
  return last?.relay === undefined || last.relay.name === SMARTHOST ? null : last.relay
}

function lastRelayWords(last: Attempt | null): string[] {
  const use = relayOf(last)
  if (last === null || use === null) return []
  return [`Attempt ${last.number} went through the relay ${use.name}: ${reasonWords(use)}.`]
}

function whyWaiting({ attempts, status, smtpResponse }: Delivery, last: Attempt | null): string[] {
  if (attempts === 0) return ['Postrider has made no delivery attempt yet.']
  if (last === null || last.number < attempts)
    return [...whyAgain(last, smtpResponse), `Attempt ${attempts} is in progress.`]
  if (status === 'queued' || smtpResponse === null) return [`Attempt ${attempts} has ended.`]
  const said = `Attempt ${attempts} was deferred: ${smtpResponse}${meant(smtpResponse)}`
  return [said, ...lastRelayWords(last), ...policyWords(last)]
}

/** While an attempt is in progress, the result of the one before it is still the newest. */
function whyAgain(last: Attempt | null, response: string | null): string[] {
  if (last === null || response === null) return []
  return [`Attempt ${last.number} was deferred: ${response}${meant(response)}`]
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
            ? 'The next attempt is due now.'
            : `The next attempt, number ${delivery.attempts + 1}, is due at ${iso(nextAttemptAt)}.`,
        ]
  const end = `If the message is not delivered by ${iso(givesUpAt)}, Postrider gives up and reports a soft bounce.`
  return [
    ...next,
    ...(keptWords(known) ?? whereTo(known.route)),
    ...tlsWords(known.route, message.requireTls),
    ...destinationWords(known.destination, known.route),
    end,
  ]
}

/** A message keeps the route of an attempt that the server may have accepted, if it could change; null if there is none. */
function keptWords({ route, attempts = [] }: Known): string[] | null {
  const mayChange =
    route?.kind === 'relay' ? route.use.because !== 'rule' : route?.kind === 'hosts' && route.failOver !== null
  const kept = mayChange ? attempts.find(({ outcome }) => outcome === 'unknown') : undefined
  if (kept === undefined) return null
  const way = kept.relay === undefined ? 'directly' : `through the relay ${kept.relay.name}`
  return [
    `The server may have accepted attempt ${kept.number}, so Postrider repeats it only on the same route, ${way}: another route could deliver a second copy.`,
  ]
}

function whyBounced(delivery: Delivery, last: Attempt | null, report: Report | null): string[] {
  const { smtpResponse, bounceType, mxHost } = delivery
  const cause = (report ?? last)?.cause?.class
  const kind = bounceWords(bounceType, cause)
  if (report !== null) {
    const from = report.reporter === null ? '' : ` from ${report.reporter}`
    const why = `A report${from} of ${iso(report.receivedAt)} ${saysWords(cause)}.`
    return ['The remote server accepted the message and could not deliver it.', why, ...kind]
  }
  // Without a reply nobody rejected it: the connection or its TLS failed.
  if (mxHost === null || last?.reply === null)
    return [`The message could not be delivered: ${smtpResponse ?? 'no reply was stored'}.`, ...kind]
  return [`${whoAnswered(delivery, last)} ${saysWords(cause)}.`, ...kind]
}

/** Class of a refusal → the predicate of a sentence about the server. The advice of remedyFor follows it. */
function saysWords(cause: string | undefined): string {
  switch (cause) {
    case 'no_mailbox':
      return "says this mailbox doesn't exist"
    case 'no_domain':
      return "says this domain doesn't exist"
    case 'mailbox_full':
      return 'says this mailbox is full'
    case 'mailbox_disabled':
      return 'says this mailbox is disabled'
    case 'size':
      return 'says the message is too large'
    case 'system':
      return 'reports a failure of its own'
    default:
      return 'rejected the message'
  }
}

/** What the type of a bounce means, with the setting if the operator's choice decided. */
function bounceWords(bounceType: Delivery['bounceType'], said: string | undefined): string[] {
  if (bounceType === 'hard') {
    const isChosen = said === 'mailbox_disabled' || said === 'mailbox_full'
    return isChosen ? [`It is a hard bounce, because sending.hard_bounces names ${said}.`] : []
  }
  const isLeftOut = said === 'no_mailbox' || said === 'no_domain'
  if (isLeftOut) return [`It is a soft bounce, because sending.hard_bounces does not name ${said}.`]
  return ["Postrider won't try again. The address itself is not the cause."]
}

const remedy = (source: Pick<Attempt, 'cause'> | Pick<Report, 'cause'> | null) =>
  [remedyFor(source?.cause ?? null)].filter((words) => words !== null)

function afterBounce({ bounceType, email, messageId }: Delivery, { suppressions }: Known): string[] {
  const own = suppressions.find((each) => each.messageId === messageId && each.reason === 'hard_bounce')
  if (own !== undefined) {
    const domains = own.domainId === null ? 'all your domains' : 'this domain'
    return [`We stopped sending to ${email} from ${domains} after this bounce.`]
  }
  if (suppressions.length > 0) return [whySuppressed(email, suppressions)]
  return [
    bounceType === 'hard'
      ? 'The address is no longer suppressed. A new message to it would be tried.'
      : 'The address is not suppressed. You can send to it again.',
  ]
}

const meant = (response: string | null) => {
  const meaning = meaningOfText(response)
  return meaning === null ? '' : ` (${meaning})`
}
