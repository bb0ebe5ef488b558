import { blocksAddress } from '../../mail/address-block.ts'
import { classifyReply } from '../../mail/bounce-class.ts'
import { formatReply, type Reply } from '../../mail/reply.ts'
import type { Attempt, Outcome } from '../../model/delivery.ts'
import { simulatedOutcome } from '../../model/sandbox.ts'
import type { TlsPolicy } from '../../model/tls-policy.ts'
import type { TlsSession } from '../../model/tls-session.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import { createAddressGuard } from '../../net/ip.ts'
import type { Clock } from '../../os/clock.ts'
import { runJob } from '../../os/job-isolation.ts'
import type { Random } from '../../os/random.ts'
import type { AttemptJob, AttemptResult, WorkerSettings } from './job.ts'
import { type Addresses, findAddresses, findHosts, type Route, routeOf, withoutAddress } from './mx.ts'
import { internalFault, isHostTrouble, needsSevenBit, outcomeOf, unpreparable } from './outcome.ts'
import type { Preparer } from './prepare.ts'
import type { Relay } from './relays/relay.ts'
import { SYSTEM_ADDRESS } from './senders/rests.ts'
import { nowMs } from './smtp/dialogue.ts'
import { familiesOf, type Peer, peerName, peerOf, relayPeer, sourceFor } from './smtp/peer.ts'
import type { Answer } from './smtp/reply.ts'
import type { Timeouts } from './smtp/timeouts.ts'
import { createTranscript, type Transcript } from './smtp/transcript.ts'
import type { Offer, Offered, Transport } from './smtp/transport.ts'
import { toWire, type WireMail } from './smtp/wire-mail.ts'
import { type HostPolicy, hostPolicy, policyWords } from './tls/host-policy.ts'
import { skippedSession, tlsSessionOf } from './tls/tls-session.ts'

/** Dependencies of attempts; one set per worker thread. */
export interface AttemptTools {
  settings: WorkerSettings
  clock: Clock
  random: Random
  resolver: Resolver
  preparer: Preparer
  transport: Transport
  timeouts: Timeouts
  /** Reports a bug; the attempt then counts as deferred. */
  onBug: (job: AttemptJob, error: unknown) => void
}

/** Progress that an attempt marks in case its thread ends before it does. */
export interface AttemptMarks {
  /** Computation starts. */
  working(): void
  /** The end of the mail is about to be sent: from now on the server may accept it. */
  committing(): void
}

const UNMARKED: AttemptMarks = { working: () => {}, committing: () => {} }

/** Makes one attempt of one delivery: composes and signs the mail, and offers it to the hosts in order. Stops at the
 *  first host that accepts or refuses the mail. Other failures lead to the next host, at most five hosts and at most
 *  `timeouts.attemptMs` in total. Among several failures the last reply counts, or without any reply the last fault. Test
 *  mail stops before the hosts. A mail that cannot be composed is a soft bounce with 5.6.0; a bug defers with cause
 *  `internal`. A bug in an event leaves the attempt waiting until its connection or a time limit ends it, since the
 *  server may still accept the mail. Never rejects. */
export function createAttempter(
  tools: AttemptTools,
): (job: AttemptJob, marks?: AttemptMarks) => Promise<AttemptResult> {
  const mayConnect = tools.settings.allowPrivateDestinations ? () => true : createAddressGuard([])
  return async (job, marks = UNMARKED) => {
    marks.working()
    const startedAt = tools.clock.now()
    const startedMs = nowMs()
    const transcript = createTranscript(nowMs)
    const tlsSessions: TlsSession[] = []
    let bug: Outcome | null = null
    const onBug = (error: unknown) => {
      tools.onBug(job, error)
      bug ??= internalFault(error)
      return bug
    }
    const context = { job, marks, tools, mayConnect, transcript, tlsSessions }
    const ended = await runJob(() => tryOnce(context), onBug).catch(
      (error): Tried => ({ ...NOT_ATTEMPTED, outcome: onBug(error) }),
    )
    const tried = bug !== null && ended.outcome.kind === 'deferred' ? { ...ended, outcome: bug } : ended
    const durationMs = Math.round(nowMs() - startedMs)
    return {
      deliveryId: job.deliveryId,
      outcome: tried.outcome,
      attempt: attemptRecord(job, tried, { startedAt, durationMs, transcript }),
      tlsSessions,
      ...blockedSourceOf(tried),
    }
  }
}

function blockedSourceOf({ outcome, peer, offered }: Tried): Pick<AttemptResult, 'blockedSource'> {
  const answer = offered?.answer
  if (peer === null || peer.relay !== undefined || answer === undefined || outcome.kind === 'delivered') return {}
  const isBlocked =
    answer.kind === 'reply'
      ? blocksAddress(answer.reply, classifyReply(answer.reply))
      : answer.kind === 'fault' && answer.fault.isOfOurAddress === true
  return isBlocked ? { blockedSource: peer.source?.address ?? SYSTEM_ADDRESS } : {}
}

/** State shared by the steps of one attempt. */
interface AttemptContext {
  job: AttemptJob
  marks: AttemptMarks
  tools: AttemptTools
  mayConnect: (ip: string) => boolean
  transcript: Transcript
  tlsSessions: TlsSession[]
}

/** An outcome, and the server that gave it, if one was reached. */
interface Tried {
  outcome: Outcome
  peer: Peer | null
  offered: Offered | null
  tlsPolicy: TlsPolicy
}

const NOT_ATTEMPTED = { peer: null, offered: null, tlsPolicy: 'none' } as const

const MAX_OFFERS = 5

async function tryOnce(context: AttemptContext): Promise<Tried> {
  const { job, marks, tools } = context
  const relay = relayOf(context)
  const domain = domainOf(job.recipient)
  const route = job.sandbox || relay !== null ? null : await routeTo(domain, context)
  // Signing costs more than all other steps; mail without a destination does not need it.
  if (route?.kind === 'nowhere') return withoutPeer(route.outcome, context)

  const prepared = await tools.preparer.prepare(job, marks.working).catch((error: Error) => error)
  if (prepared instanceof Error) return withoutPeer(unpreparable(prepared), context)
  if (prepared.changes !== null) context.transcript.note(prepared.changes)
  if (job.sandbox) return withoutPeer(simulatedOutcome(job.recipient, job.attempt), context)
  const mail = toWire(prepared.parts)
  if (relay === null) return tryHosts(context, mail, { relay, domain, ...route! })
  return tryHosts({ ...context, mayConnect: () => true }, mail, { relay, domain: null, hosts: [relay.host] })
}

/** Test mail uses none. Throws for a name that is not configured. */
function relayOf({ job, tools }: AttemptContext): Relay | null {
  const name = job.sandbox ? undefined : job.route.relay?.name
  if (name === undefined) return null
  const relay = tools.settings.relays.find((each) => each.name === name)
  if (relay === undefined) throw new Error(`unknown relay ${name}`)
  return relay
}

/** The claim already holds the MX lookup, except for routes that need none. */
function routeTo(domain: string, { job, tools }: AttemptContext): Promise<Route> | Route {
  const { mx } = job.route
  return mx === null ? findHosts(domain, tools.resolver, tools.random) : routeOf(domain, mx, tools.random)
}

/** Tries hosts in order, each with its addresses in order. `domain` is null for a relay. */
async function tryHosts(
  context: AttemptContext,
  mail: WireMail,
  route: { relay: Relay | null; domain: string | null; hosts: readonly string[]; authentic?: boolean },
): Promise<Tried> {
  const { job, tools, transcript } = context
  const { settings } = tools
  const { relay, domain, hosts } = route
  const envelope = { returnPath: job.returnPath, recipient: job.recipient }
  const destination = { name: job.route.destination, connections: job.route.connections, maxMails: job.route.maxMails }
  const { sender } = job.route
  const families = familiesOf(settings, sender)
  const reasons: Addresses['reason'][] = []
  let best: Tried | null = null
  let offers = 0
  let budgetMs = tools.timeouts.attemptMs
  for (const host of hosts) {
    const found = await findAddresses(host, tools.resolver, context.mayConnect, families)
    reasons.push(found.reason)
    if (found.reason !== 'found') transcript.note(`${host}: ${NO_ADDRESS[found.reason]}`)
    if (found.reason !== 'found') continue
    const policy = await policyOf(host, { ...route, authentic: route.authentic === true && found.authentic }, context)
    if ('skip' in policy) {
      best ??= { ...NOT_ATTEMPTED, outcome: policy.skip, tlsPolicy: policy.name }
      context.tlsSessions.push(skippedSession(host, policy.name))
      continue
    }
    for (const address of found.addresses) {
      const source = sourceFor(address, sender)
      const { proof } = policy
      const reached =
        relay === null ? peerOf(host, address, proof, settings.deliveryPort) : relayPeer(relay, address, proof)
      const peer = source === undefined ? reached : { ...reached, source }
      const offered = await offer({ peer, destination, envelope, mail, transcript, budgetMs }, context)
      const session = domain === null ? null : tlsSessionOf(offered, peer, policy.name, job.mtaSts)
      if (session !== null) context.tlsSessions.push(session)
      const outcome = outcomeOf(offered.answer, peerName(peer))
      const tried: Tried = { outcome, peer, offered, tlsPolicy: policy.name }
      if (!isHostTrouble(offered.answer, tried.outcome)) return tried
      best = moreInformative(best, tried)
      budgetMs -= nowMs() - offered.startedMs
      if (!isWithoutIpv6(address, offered.answer)) offers++
      if (offers >= MAX_OFFERS || budgetMs <= 0) return best
    }
  }
  return best ?? withoutPeer(withoutAddress(domain, hosts, reasons), context)
}

/** Offers the mail; if the server lacks 8BITMIME, then in its 7-bit form, signed for it. */
async function offer(
  request: Omit<Offer, 'onCommit'>,
  { job, marks, tools, transcript }: AttemptContext,
): Promise<Offered> {
  const onCommit = marks.committing
  const offered = await tools.transport.offer({ ...request, onCommit })
  if (!needsSevenBit(offered.answer)) return offered
  transcript.note('the server does not support 8-bit mail (8BITMIME)')
  const { parts, changes } = await tools.preparer.prepare({ ...job, isSevenBit: true }, marks.working)
  if (changes !== null) transcript.note(changes)
  const budgetMs = request.budgetMs - (nowMs() - offered.startedMs)
  const again = await tools.transport.offer({ ...request, mail: toWire(parts, true), budgetMs, onCommit })
  const { tlsTrouble = again.tlsTrouble } = offered
  return { ...again, startedMs: offered.startedMs, ...(tlsTrouble && { tlsTrouble }) }
}

/** The operator chose the relay, so no recipient domain's policy applies to it. */
async function policyOf(
  host: string,
  { domain, authentic }: { domain: string | null; authentic: boolean },
  { job, tools, transcript }: AttemptContext,
): Promise<HostPolicy> {
  const { mtaSts, requireTls } = job
  const port = tools.settings.deliveryPort
  const facts = { domain: domain ?? host, host, port, isAuthentic: authentic, requireTls }
  const policy = await hostPolicy({ ...facts, mtaSts: domain === null ? null : mtaSts }, tools.resolver)
  const words = policyWords(policy, host, facts.domain)
  if (words !== null) transcript.note(words)
  return policy
}

function withoutPeer(outcome: Outcome, { transcript }: AttemptContext): Tried {
  transcript.note(outcome.kind === 'delivered' ? formatReply(outcome.reply) : outcome.message)
  return { ...NOT_ATTEMPTED, outcome }
}

const NO_ADDRESS: Record<Exclude<Addresses['reason'], 'found'>, string> = {
  none: 'no address',
  private: 'only private addresses, skipped',
  temporary: 'DNS lookup failed',
}

/** Prefers the last reply, or without any reply the last fault. A host that may take the mail later is preferred to one
 *  that cannot. */
function moreInformative(before: Tried | null, now: Tried): Tried {
  if (before?.outcome.kind === 'deferred' && now.offered?.answer.kind === 'unfit') return before
  if (before?.offered?.answer.kind === 'unfit' && now.outcome.kind === 'deferred') return now
  return before?.offered?.answer.kind === 'reply' && now.offered?.answer.kind !== 'reply' ? before : now
}

/** A machine without IPv6 fails at once; such failures must not use up the attempt. */
function isWithoutIpv6(address: string, answer: Answer): boolean {
  return (
    address.includes(':') && answer.kind === 'fault' && answer.stage === 'connect' && answer.fault.class === 'network'
  )
}

function domainOf(recipient: string): string {
  return recipient.slice(recipient.lastIndexOf('@') + 1)
}

function attemptRecord(
  job: AttemptJob,
  { outcome, peer, offered, tlsPolicy }: Tried,
  { startedAt, durationMs, transcript }: { startedAt: number; durationMs: number; transcript: Transcript },
): Attempt {
  const reply = replyOf(outcome, offered)
  return {
    number: job.attempt,
    startedAt,
    durationMs,
    outcome: outcome.kind,
    mxHost: peer?.host ?? null,
    mxAddress: peer?.address ?? null,
    sourceAddress: offered?.sourceAddress ?? null,
    tlsVersion: offered?.tls?.version ?? null,
    tlsCipher: offered?.tls?.cipher ?? null,
    tlsVerified: offered?.tls?.problem === null,
    tlsPolicy,
    reply: reply === null ? null : formatReply(reply),
    enhancedCode: reply?.enhanced ?? null,
    cause: outcome.kind === 'delivered' ? null : outcome.cause,
    ...(job.route.relay !== undefined && !job.sandbox && { relay: job.route.relay }),
    transcript: transcript.text(),
  }
}

function replyOf(outcome: Outcome, offered: Offered | null): Reply | null {
  if (outcome.kind === 'delivered') return outcome.reply
  return offered?.answer.kind === 'reply' ? offered.answer.reply : null
}
