import type { Warmup } from '../../../model/warmup.ts'
import type { Resolver } from '../../../net/dns/resolver.ts'
import type { ClockChanges } from '../../../os/clock-changes.ts'
import { NodeParts } from '../../../storage/store.ts'
import type { Attempts } from '../attempts.ts'
import type { DeliveryContext } from '../context.ts'
import { createDirectHealth } from '../relays/direct-health.ts'
import { createRelayChoice, type RelayChoice, type RelaySettings } from '../relays/relay-choice.ts'
import { createSharedLimits, type SharedLimits } from '../relays/shared-limits.ts'
import type { PoolOf } from '../senders/pools.ts'
import { createSenders, type Senders } from '../senders/senders.ts'
import type { StoredRests } from '../senders/stored-rests.ts'
import { createWarmupLimits } from '../senders/warmups.ts'
import { Admission } from './admission.ts'
import { addressIn, destinationIn } from './destination.ts'
import { createTermsOf, type DestinationTerms } from './destination-limits.ts'
import { DestinationRoutes } from './destination-routes.ts'
import { OwnerShares } from './owner-shares.ts'

/** Where limits and routes come from, beside the settings. */
export interface AdmissionSources {
  resolver: Pick<Resolver, 'mx'>
  /** Relays and the rules about them; absent: all mail is sent directly. */
  relays?: RelaySettings
  /** Whether port 25 is blocked, by connections to mail servers that certainly accept them. */
  isPort25Blocked?: () => Promise<boolean>
  /** Addresses that mail is sent from; absent: the system chooses. */
  poolOf?: PoolOf | undefined
  /** Those of them that only this node has. */
  ownAddresses?: ReadonlySet<string>
  /** Those of them in warm-up. */
  warmups?: readonly { address: string; warmup: Warmup }[]
  /** Rests of these addresses; absent: none is known, and none is kept. */
  storedRests?: StoredRests | undefined
}

export interface OpenAdmission {
  admission: Admission
  senders: Senders | undefined
  shared: SharedLimits | undefined
}

/** Creates the Admission of this process with all that it limits by. `wake` is called when a lookup has ended. */
export function openAdmission(
  context: DeliveryContext,
  sources: AdmissionSources,
  parts: { attempts: Pick<Attempts, 'closeIdle'>; clockChanges: ClockChanges; wake: () => void },
): OpenAdmission {
  const { store, clock, settings } = context
  const shares = new OwnerShares(clock.steady)
  const senders = sendersOf(context, sources)
  const shared = sharedLimitsOf(context, sources, parts.attempts)
  // With SQLite, this process is the only one.
  const ofNodes = store.rates === null ? undefined : new NodeParts(store.nodes, clock.steady)
  const admission = new Admission({
    shares,
    routes: new DestinationRoutes({
      shares,
      resolver: sources.resolver,
      clock: clock.steady,
      onFound: parts.wake,
    }),
    clock,
    clockChanges: parts.clockChanges,
    maxInFlight: settings.maxInFlight,
    termsOf: termsOf(context, sources, ofNodes),
    parts: ofNodes,
    longestPauseMs: (strikes) => longestPauseMs(settings.retryScheduleSeconds, strikes),
    overdueMs: settings.maxAgeSeconds * 1000,
    senders,
    relays: relayChoiceOf(context, sources),
    shared,
  })
  return { admission, senders, shared }
}

function sendersOf({ store, clock, log }: DeliveryContext, sources: AdmissionSources): Senders | undefined {
  const { relays, storedRests: kept, warmups: addresses = [] } = sources
  const poolOf = sources.poolOf ?? (hasFailOver(relays) ? () => [] : undefined)
  if (poolOf === undefined) return undefined
  const onError = (error: unknown) => log.warn('counts of warm-up not stored or read, will retry', { error })
  // Without addresses in warm-up nothing is read or counted.
  const warmups =
    addresses.length === 0 ? undefined : createWarmupLimits({ store: store.warmups, clock, addresses, onError })
  return createSenders(poolOf, clock.steady.now, { kept, warmups })
}

/** Absent where this process is the only one: then the limits of each destination are enough. */
function sharedLimitsOf(
  { store, clock, log }: DeliveryContext,
  { relays }: AdmissionSources,
  attempts: Pick<Attempts, 'closeIdle'>,
): SharedLimits | undefined {
  const { rates } = store
  if (rates === null || relays === undefined || relays.relays.length === 0) return undefined
  return createSharedLimits(relays.relays, {
    store: { leases: store.leases, nodes: store.nodes, rates },
    clock,
    closeIdle: (destination) => attempts.closeIdle(destination),
    onError: (error) => log.warn('limits of relays not shared with other nodes, will retry', { error }),
  })
}

function relayChoiceOf({ clock }: DeliveryContext, sources: AdmissionSources): RelayChoice | undefined {
  const { relays, isPort25Blocked = async () => false } = sources
  if (relays === undefined || relays.rules.length === 0) return undefined
  const health = hasFailOver(relays) ? createDirectHealth(clock.steady.now, isPort25Blocked) : undefined
  return createRelayChoice(relays, health)
}

/** A relay has its own limits beside those that its host has as a destination; shared-limits.ts divides them. Those of a
 *  destination are divided, unless each node, or the address that mail is sent from, has its own. */
function termsOf(
  { settings }: DeliveryContext,
  { relays, ownAddresses }: AdmissionSources,
  parts: NodeParts | undefined,
): (key: string) => DestinationTerms {
  const termsOf = createTermsOf(settings.destinations, settings.maxPerDestination)
  const limits = new Map((relays?.relays ?? []).map((relay) => [relay.destination, relay]))
  return (key) => {
    const terms = termsOf(destinationIn(key))
    const relay = limits.get(key)
    if (relay !== undefined) {
      return {
        ...terms,
        maxConnections: relay.maxConnections || terms.maxConnections,
        maxMailsPerMinute: relay.maxMailsPerMinute || terms.maxMailsPerMinute,
      }
    }
    if (parts === undefined || settings.share === 'node' || ownAddresses?.has(addressIn(key) ?? '')) return terms
    const { maxConnections, maxMailsPerMinute } = terms
    return {
      ...terms,
      maxConnections: parts.of(maxConnections, key),
      maxMailsPerMinute: maxMailsPerMinute === null ? null : parts.ofRate(maxMailsPerMinute),
    }
  }
}

const hasFailOver = (relays: RelaySettings | undefined) =>
  relays?.rules.some(({ failOver }) => failOver !== null) === true

/** Longest pause of a destination after that many strikes: a fraction of the wait before the next attempt (which varies by a
 *  tenth). */
function longestPauseMs(scheduleSeconds: readonly number[], strikes: number): number {
  return (scheduleSeconds[Math.min(strikes, scheduleSeconds.length) - 1] ?? 0) * 1000 * PAUSE_OF_RETRY
}
const PAUSE_OF_RETRY = 0.8
