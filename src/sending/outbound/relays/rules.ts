import { destinationOf, ownerOf, senderOf } from '../../../model/delivery.ts'

/** Which mail uses a relay, always or as fail-over. What is null matches everything. */
export interface RelayRule {
  /** From 1; null: delivery.smarthost, which all mail uses. */
  number: number | null
  /** Key of an organization in the names of queues. */
  owner: string | null
  /** Of the sender. */
  domain: string | null
  stream: string | null
  /** A recipient's domain, or the name of a destination. */
  destination: string | null
  /** Name of the relay; null: direct. */
  use: string | null
  /** Name of the relay for mail that cannot be sent directly. */
  failOver: string | null
  /** Minimum time of failures before it is used. */
  afterMs: number
}

/** Queue and the destination of its mail → the first rule that matches; null if none does. `needs_destination`: it depends on
 *  the destination, which is not known yet (null). */
export function matchRule(
  rules: readonly RelayRule[],
  queue: string,
  destination: string | null,
): RelayRule | null | 'needs_destination' {
  const owner = ownerOf(queue)
  const { stream, domain } = senderOf(queue)
  const to = destinationOf(queue).toLowerCase()
  for (const rule of rules) {
    if (rule.owner !== null && rule.owner !== owner) continue
    if (rule.domain !== null && rule.domain !== domain) continue
    if (rule.stream !== null && rule.stream !== stream) continue
    if (rule.destination === null || rule.destination === to || rule.destination === destination) return rule
    if (destination === null) return 'needs_destination'
  }
  return null
}
