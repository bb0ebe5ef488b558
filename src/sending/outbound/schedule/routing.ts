import { destinationOf, ownerOf, type RelayUse } from '../../../model/delivery.ts'
import type { Chosen, RelayChoice } from '../relays/relay-choice.ts'
import type { Sender, Senders } from '../senders/senders.ts'
import { limitKey } from './destination.ts'
import type { DestinationRoute } from './destination-routes.ts'

/** One way to send the mail of a queue: directly from an address, or through a relay. */
export interface Route {
  queue: string
  route: DestinationRoute
  /** Null: the system chooses. */
  sender: Sender | null
  /** The relay; null: direct. */
  relay: RelayUse | null
  /** Name of the relay that takes over, or took over, if mail cannot be sent directly. */
  failOver: string | null
  /** Names the limits that count (destination.ts). */
  key: string
  owner: string
}

/** What the address of a sender may still send during its warm-up. */
export interface WarmupLeft {
  address: string
  /** Of its blocker. */
  name: string
  mails: number
  /** When there may be more, ms UTC. */
  nextAt: number
}

/** Decides from which address, or through which relay, mail is sent. It limits nothing. */
export class Routing {
  readonly #senders: Senders | undefined
  readonly #relays: RelayChoice | undefined

  /** `senders` absent: the system chooses all addresses. `relays` absent: all mail is sent directly. */
  constructor(senders: Senders | undefined, relays: RelayChoice | undefined) {
    this.#senders = senders
    this.#relays = relays
  }

  /** The route through a relay if a rule decides that without the destination; null: the destination must be known. */
  relayByRule(queue: string): Route | null {
    const chosen = this.#relays?.withoutDestination(queue) ?? null
    return chosen === null ? null : this.#through(queue, chosen.use, chosen.failOver)
  }

  /** The routes of a queue's mail to a destination, best first. `takesTry`: as DirectHealth. */
  routesOf(queue: string, route: DestinationRoute, takesTry: boolean): Route[] {
    const senders = this.#sendersOf(queue, route.destination)
    const chosen = this.#choose(queue, route, senders, takesTry)
    const failOver = chosen?.failOver ?? null
    const use = chosen?.use ?? null
    if (use !== null && use.because !== 'warmup_used_up') return [this.#through(queue, use, failOver)]
    const owner = ownerOf(queue)
    const direct = senders.map((sender) => {
      const key = limitKey(route.destination, sender)
      return { queue, route, sender, relay: null, failOver, key, owner }
    })
    // While the relay is full, the mail waits for the warm-up as well.
    return use === null ? direct : [this.#through(queue, use, failOver), ...direct]
  }

  /** The direct route, without a look at limits. */
  directRoute(queue: string, route: DestinationRoute, failOver: string | null): Route {
    const [sender = null] = this.#sendersOf(queue, route.destination)
    const key = limitKey(route.destination, sender)
    return { queue, route, sender, relay: null, failOver, key, owner: ownerOf(queue) }
  }

  /** The route through the relay of that name, which an earlier attempt used; null if it is no longer configured. */
  relayRoute(queue: string, name: string, failOver: string | null): Route | null {
    if (this.#relays === undefined || this.#relays.relay(name) === null) return null
    return this.#through(queue, { name, rule: null, because: 'same_route' }, failOver)
  }

  /** How the mail of a queue to a destination would be sent now; null without rules about relays, or if it depends on the
   *  destination and that is null. */
  chosen(queue: string, destination: string | null): Chosen | null {
    const byRule = this.#relays?.withoutDestination(queue) ?? null
    if (byRule !== null || destination === null) return byRule
    return this.#choose(queue, { destination, mx: null }, this.#sendersOf(queue, destination), false)
  }

  /** How the mail of a route can be sent at once whose destination blocks `address`: from another address of its pool, else
   *  through the relay that takes over (`mayRelay`); null: not at all. */
  alternative(
    { queue, route, relay, failOver }: Route,
    address: string,
    mayRelay: boolean,
  ): 'address' | 'relay' | null {
    if (this.#senders?.hasOther(queue, route.destination, address)) return 'address'
    return mayRelay && relay === null && failOver !== null ? 'relay' : null
  }

  /** The name of limits for the state of a destination, or of a relay. */
  limitKeyOf(destination: string, queue: string): string {
    if (this.#relays?.isRelay(destination)) return destination
    const [sender = null] = this.#sendersOf(queue, destination)
    return limitKey(destination, sender)
  }

  /** What the warm-up of the route's address allows; null without one. */
  warmupOf({ sender, route }: Pick<Route, 'sender' | 'route'>): WarmupLeft | null {
    const address = sender?.[0].address
    const warmups = this.#senders?.warmups
    if (warmups === undefined || address === undefined || sendsNothing(route)) return null
    const left = warmups.leftFor(address, route.destination)
    return left === null ? null : { ...left, address }
  }

  #sendersOf(queue: string, destination: string): readonly (Sender | null)[] {
    return this.#senders?.of(queue, destination) ?? SYSTEM
  }

  #choose(
    queue: string,
    route: DestinationRoute,
    senders: readonly (Sender | null)[],
    takesTry: boolean,
  ): Chosen | null {
    if (this.#relays === undefined) return null
    const [first = null] = senders
    return this.#relays.of(queue, route.destination, {
      isBlocked: (this.#senders?.restOf(first, route.destination) ?? null) !== null,
      isUsedUp: senders.length > 0 && senders.every((sender) => this.warmupOf({ sender, route })?.mails === 0),
      takesTry,
    })
  }

  /** Mail through a relay: the relay is the destination whose limits count. */
  #through(queue: string, relay: RelayUse | null, failOver: string | null): Route {
    const key = (relay !== null && this.#relays?.relay(relay.name)?.destination) || NO_RELAY
    return { queue, route: { destination: key, mx: null }, sender: null, relay, failOver, key, owner: ownerOf(queue) }
  }
}

/** The route of a domain whose lookup is not known any more. */
export const unknownRoute = (queue: string): DestinationRoute => ({ destination: destinationOf(queue), mx: null })

/** True if the MX lookup decides that the attempt connects to nothing (mx.ts). */
const sendsNothing = ({ mx }: DestinationRoute) => mx?.kind === 'temporary' || mx?.kind === 'nxdomain'

const SYSTEM: readonly [null] = [null]
const NO_RELAY = 'relay:'
