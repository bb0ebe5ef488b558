import { destinationOf, type Outcome, type RelayUse } from '../../../model/delivery.ts'
import type { DirectHealth } from './direct-health.ts'
import type { Relay } from './relay.ts'
import { matchRule, type RelayRule } from './rules.ts'

/** Relays and the rules about them. */
export interface RelaySettings {
  relays: readonly Relay[]
  rules: readonly RelayRule[]
}

/** How the mail of a queue is sent. `use` null: directly. `failOver`: the relay that takes over, or took over. */
export interface Chosen {
  rule: RelayRule | null
  use: RelayUse | null
  failOver: string | null
}

/** Chooses between relay and direct, before a delivery is claimed. */
export interface RelayChoice {
  /** The choice for any destination; null if it depends on the destination. */
  withoutDestination(queue: string): Chosen | null
  /** `takesTry` as DirectHealth. */
  of(queue: string, destination: string, state: AddressesState & { takesTry: boolean }): Chosen
  relay(name: string): Relay | null
  /** Whether limits of this name are those of a relay. */
  isRelay(destination: string): boolean
  /** Learns from a direct attempt of the queue's mail. */
  ended(
    of: { queue: string; destination: string },
    attempt: { outcome: Outcome; reached: boolean; startedAt: number },
  ): void
}

/** What is known about all addresses that the mail may be sent from. */
export interface AddressesState {
  /** The destination blocks them. */
  isBlocked: boolean
  /** Their warm-ups allow no more mail to the destination now. */
  isUsedUp: boolean
}

const DIRECT: Chosen = { rule: null, use: null, failOver: null }

/** `health`: absent where nothing is sent, or no rule has a fail-over. */
export function createRelayChoice({ relays, rules }: RelaySettings, health?: DirectHealth): RelayChoice {
  const byName = new Map(relays.map((relay) => [relay.name, relay]))
  const ruled = (rule: RelayRule): Chosen | null =>
    rule.use === null ? null : { rule, use: { name: rule.use, rule: rule.number, because: 'rule' }, failOver: null }
  return {
    withoutDestination: (queue) => {
      const rule = matchRule(rules, queue, null)
      return rule === null || rule === 'needs_destination' ? null : ruled(rule)
    },
    of: (queue, destination, { isBlocked, isUsedUp, takesTry }) => {
      const rule = matchRule(rules, queue, destination)
      if (rule === null || rule === 'needs_destination') return DIRECT
      const { number, failOver, afterMs } = rule
      const byRule = ruled(rule)
      if (byRule !== null || failOver === null) return byRule ?? { ...DIRECT, rule }
      // An attempt that the warm-up does not allow cannot try direct delivery.
      const trouble = isBlocked ? null : health?.troubleOf(destinationOf(queue), afterMs, takesTry && !isUsedUp)
      const because = isBlocked ? 'address_blocked' : (trouble ?? (isUsedUp ? 'warmup_used_up' : null))
      return { rule, use: because === null ? null : { name: failOver, rule: number, because }, failOver }
    },
    relay: (name) => byName.get(name) ?? null,
    isRelay: (destination) => relays.some((relay) => relay.destination === destination),
    ended: ({ queue, destination }, attempt) => health?.ended({ domain: destinationOf(queue), destination }, attempt),
  }
}
