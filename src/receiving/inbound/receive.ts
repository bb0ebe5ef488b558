import type { ForwardLinks } from '../../mail/forward-link.ts'
import type { ReplyTarget } from '../../mail/reply-address.ts'
import type { Domain } from '../../model/domain.ts'
import type { AnsweredMessage, InboundMessage, NotForwarded } from '../../model/inbound-message.ts'
import type { InboundRoute } from '../../model/inbound-route.ts'
import type { MintId } from '../../os/ids.ts'
import type { MailLog } from '../../os/mail-log.ts'
import type { Notify } from '../../os/notifier.ts'
import type { Forwarding } from '../../sending/submission/forwarding.ts'
import type { AcceptedInbound, Store } from '../../storage/store.ts'
import type { Feedback, FeedbackAddress } from '../feedback/feedback.ts'
import type { IncomingMail } from '../smtp-server/session.ts'
import { answeredMessage, repliedEvent } from './answered.ts'
import { forwardOf, isForward, sealOf } from './forward.ts'
import { LOOP_HEADER } from './head.ts'
import type { InboundResult, ReadingJob } from './inbound-result.ts'
import { requireNoOwnLink } from './own-links.ts'
import { requireNoLoop, requireOwnName, requireProof } from './policy.ts'
import { replyToLimit } from './quota.ts'
import type { Readers } from './readers.ts'
import { receiveCanary } from './receive-canary.ts'
import { receiveReport } from './receive-report.ts'
import { partIdOf, type RecipientTarget } from './recipient.ts'
import { createRepeats } from './repeats.ts'
import * as replies from './replies.ts'

/** Handles an inbound mail at the end of DATA: stores everything that it becomes, then returns the text behind `250 2.0.0 `.
 *
 *  The store is called once, in one transaction: raw mail, a record per route, webhook deliveries, forwards. A process
 *  killed before has stored nothing and the sender, still without reply, retries; a process killed after has stored
 *  everything.
 *  Not forwarded: to unconfirmed targets and for unverified domains. The mail is stored and its record gives the
 *  reason.
 *  Refused permanently (5yz): a loop, a secret link of this server, mail that fails a route's authentication policy, and a
 *  forgery of our own domain that would be forwarded.
 *  Deferred (4yz): mail that crashed two readers (stored without parsing at the next attempt), an organization over its
 *  storage or forwarding quota, a policy undecided because of DNS, a store that cannot write, and bugs (the listener
 *  replies and logs these).
 *  Mail to a report address: receive-report.ts. Canaries: receive-canary.ts.
 *  Route removed since RCPT: it still receives the mail; its webhook delivery fails at once.
 *  Lost: nothing. An unreadable mail is stored as received, with `parseError`.
 *  Twice: a mail whose 250 the sender misses, as with any SMTP server (RFC 5321 §4.5.4.1, RFC 1047). Reports to a
 *  return path are recognized by digest and count once. */
export interface ReceiveDeps {
  store: Pick<Store, 'inbound' | 'suppressions' | 'policyReports' | 'canaries' | 'users' | 'invitations'>
  feedback: Pick<Feedback, 'take'>
  forwarding: Pick<Forwarding, 'targetsOf' | 'poolOf'>
  forwardLinks: Pick<ForwardLinks, 'read'>
  readers: Pick<Readers, 'read' | 'report' | 'policyReport'>
  mintId: MintId
  mailLog: Pick<MailLog, 'received' | 'accepted' | 'suppressed' | 'policyReport'>
  /** This installation's secret tag in forwarded mail. */
  loopTag: string
  canaryLateAfterMs?: number
  notify: Notify
}

/** Returns the handler. Throws SmtpReply for a refusal, and what the store throws. */
export function createReceive(deps: ReceiveDeps): (mail: IncomingMail<RecipientTarget>) => Promise<string> {
  const repeats = createRepeats()
  return async (mail) => {
    const reported = feedbackAddresses(mail)
    if (reported.length > 0) {
      const { returnPath, ...of } = facts(mail)
      const raw = await mail.open()
      const found = await deps.readers.report({ raw, returnPath })
      const reporter = async () =>
        (await deps.readers.policyReport({ raw, envelope: envelopeOf(mail) }))?.reporter ?? null
      await deps.feedback.take({ ...found, ...of, recipients: reported, reporter })
      return replies.FEEDBACK_ACCEPTED
    }
    const first = mail.recipients[0]?.as
    if (first?.kind === 'canary') return await receiveCanary(mail, first.canaryId, deps)
    if (first?.kind === 'policy_report') return await receiveReport(mail, first.domain, deps)
    const parts = await partsByRoute(mail, deps.forwarding)
    const result = await deps.readers.read({ ...jobFor(mail, parts, deps.loopTag), raw: await mail.open() })
    requireNoLoop(result.head, deps.loopTag)
    await requireNoOwnLink(result.ownLinks, { store: deps.store, links: deps.forwardLinks }, mail.receivedAt)
    for (const { route, domain, sendTo } of parts) {
      if (route === null) continue
      requireProof(route.authentication, result)
      if (sendTo.length === 0) continue
      requireOwnName(domain.name, result)
      if (!repeats.take(partIdOf(route, domain), result.head.messageId, mail.receivedAt)) {
        throw replies.loopDetected('this route forwarded the same Message-ID too often')
      }
    }
    const taken = await take(mail, parts, result, deps)
    const outcome = await deps.store.inbound.accept({
      raw: result.raw,
      parsed: result.parsed,
      attachments: result.attachments,
      taken,
    })
    if (outcome !== 'accepted') throw replyToLimit(outcome)
    notifyAccepted(taken, deps)
    return replies.accepted(taken.map(({ message }) => message.id))
  }
}

/** A mail's part for one route and domain: a key that is limited to one domain sees no recipients of another. */
interface Part {
  /** Null for mail stored for the domain's postmaster or abuse. */
  route: InboundRoute | null
  domain: Domain
  /** As in RecipientTarget, of the first recipient that has it. */
  answers: ReplyTarget | null
  /** As in RCPT. */
  to: string[]
  /** Forward targets; empty for other actions. */
  sendTo: string[]
  notForwarded: NotForwarded[]
}

type AcceptedPart = AcceptedInbound['taken'][number]

function feedbackAddresses(mail: IncomingMail<RecipientTarget>): FeedbackAddress[] {
  return mail.recipients.flatMap(({ as }) => (as.kind === 'feedback' ? [as.address] : []))
}

function facts({ session, returnPath, receivedAt }: IncomingMail<RecipientTarget>) {
  return { returnPath: returnPath?.address ?? '', remoteAddress: session.remoteAddress, receivedAt }
}

/** Recipients → one part per route and domain, in RCPT order; each address once. */
async function partsByRoute(
  mail: IncomingMail<RecipientTarget>,
  forwarding: ReceiveDeps['forwarding'],
): Promise<Part[]> {
  const parts = new Map<string, Part>()
  for (const { spoken, as } of mail.recipients) {
    if (as.kind !== 'route' && as.kind !== 'reserved') continue
    const { domain } = as
    const route = as.kind === 'route' ? as.route : null
    const answers = as.kind === 'route' ? as.answers : null
    const id = partIdOf(route, domain)
    const part = parts.get(id)
    if (part === undefined) {
      const targets =
        route !== null && isForward(route) ? await forwarding.targetsOf(route, domain) : { to: [], not: [] }
      parts.set(id, { route, domain, answers, to: [spoken.address], sendTo: targets.to, notForwarded: targets.not })
    } else {
      part.answers ??= answers
      if (!part.to.includes(spoken.address)) part.to.push(spoken.address)
    }
  }
  return [...parts.values()]
}

function envelopeOf(mail: IncomingMail<RecipientTarget>): ReadingJob['envelope'] {
  const { returnPath, remoteAddress } = facts(mail)
  const { helo, protocol, tls } = mail.session
  const recipients = mail.recipients.map(({ spoken }) => spoken.address)
  return { remoteAddress, helo, returnPath, recipients, protocol, tls }
}

function jobFor(
  mail: IncomingMail<RecipientTarget>,
  parts: readonly Part[],
  loopTag: string,
): Omit<Parameters<Readers['read']>[0], 'raw'> {
  const forwarding = parts.filter(({ sendTo }) => sendTo.length > 0)
  const seals = forwarding.map(({ domain }) => {
    const seal = sealOf(domain)
    if (seal === null) throw replies.noSeal(domain.name) // since RCPT (quota.ts)
    return seal
  })
  return {
    envelope: envelopeOf(mail),
    receivedAt: mail.receivedAt,
    seals,
    forwardHeader: seals.length === 0 ? null : `${LOOP_HEADER}: ${loopTag}`,
  }
}

async function take(
  mail: IncomingMail<RecipientTarget>,
  parts: readonly Part[],
  result: InboundResult,
  { mintId, store, forwarding }: ReceiveDeps,
): Promise<AcceptedPart[]> {
  const forwards = result.forwards.values() // in the order of `seals`, that is of the forwarding parts
  const taken: AcceptedPart[] = []
  const replied = new Set<string>()
  for (const part of parts) {
    const { route } = part
    const answered = await answeredMessage(part, result.head, store)
    const message = describe(mintId('inb'), mail, { ...part, answered }, result)
    // Several routes may receive one answer.
    const isFirst = answered !== null && !replied.has(answered.deliveryId)
    if (isFirst) replied.add(answered.deliveryId)
    const reply = isFirst ? repliedEvent(message, answered, mintId) : null
    if (part.sendTo.length === 0 || route === null) {
      const deliveryId = route?.action.type === 'webhook' ? mintId('whd') : null
      taken.push({ message, deliveryId, forward: null, replied: reply })
      continue
    }
    const target = { to: part.sendTo, pool: forwarding.poolOf(part.domain) }
    const inbound = { ...message, routeId: route.id }
    const forward = await forwardOf(inbound, target, result.head, sealed(forwards), { store, mintId })
    taken.push({ message: { ...message, forwardedAs: forward.message.id }, deliveryId: null, forward, replied: reply })
  }
  return taken
}

function describe(
  id: string,
  mail: IncomingMail<RecipientTarget>,
  { route, domain, to, notForwarded, answered }: Part & { answered: AnsweredMessage | null },
  result: InboundResult,
) {
  const { returnPath, remoteAddress, receivedAt } = facts(mail)
  const message: InboundMessage = {
    id,
    organizationId: domain.organizationId,
    domainId: domain.id,
    routeId: route?.id ?? null,
    action: route?.action.type ?? 'store',
    receivedAt,
    returnPath,
    from: result.head.from,
    to,
    subject: result.head.subject,
    messageIdHeader: result.head.messageId,
    sizeBytes: mail.sizeBytes,
    senderIp: remoteAddress,
    helo: mail.session.helo,
    tls: mail.session.tls,
    verdicts: result.verdicts,
    parseError: result.parseError,
    forwardedAs: null,
    notForwarded,
    inReplyTo: answered?.deliveryId ?? null,
    // A person's mail has a return path (RFC 5321 §4.5.5).
    autoSubmitted: result.head.autoSubmitted || returnPath === '',
  }
  return message
}

function sealed(forwards: Iterator<Uint8Array<ArrayBuffer>, undefined>): Uint8Array<ArrayBuffer> {
  const { value } = forwards.next()
  if (value === undefined) throw new Error('the sealed message for a forward is missing')
  return value
}

/** Wakes the delivery loops and logs the mail. */
function notifyAccepted(taken: readonly AcceptedPart[], { mailLog, notify }: ReceiveDeps): void {
  if (taken.some(({ deliveryId }) => deliveryId !== null)) notify('inbound deliveries')
  if (taken.some(({ forward }) => forward?.deliveries.some(isOpen))) notify('deliveries')
  const hasEvents = taken.some(({ forward, replied }) => replied != null || (forward?.events.length ?? 0) > 0)
  if (hasEvents) notify('webhook deliveries')
  for (const { message, forward } of taken) {
    const { id, routeId, sizeBytes, verdicts } = message
    const { spf, dkim, dmarc } = verdicts
    mailLog.received({ inbound: id, route: routeId, sizeBytes, spf, dkim, dmarc })
    if (forward !== null) logForward(forward, mailLog)
  }
}

function logForward(
  { message, deliveries }: NonNullable<AcceptedPart['forward']>,
  mailLog: ReceiveDeps['mailLog'],
): void {
  const { id, mode, sizeBytes } = message
  const suppressed = deliveries.filter(({ status }) => status === 'suppressed').length
  mailLog.accepted({ message: id, mode, recipients: deliveries.length, sizeBytes })
  if (suppressed > 0) mailLog.suppressed({ message: id, recipients: suppressed })
}

function isOpen({ nextAttemptAt }: { nextAttemptAt: number | null }): boolean {
  return nextAttemptAt !== null
}
