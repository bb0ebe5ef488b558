import type { Config } from '../config/load.ts'
import { ownerKey } from '../model/delivery.ts'
import { SMARTHOST } from '../model/relay.ts'
import { destinationOfHost } from '../net/destination-host.ts'
import { type Relay, relayDestination } from '../sending/outbound/relays/relay.ts'
import type { RelaySettings } from '../sending/outbound/relays/relay-choice.ts'
import type { RelayRule } from '../sending/outbound/relays/rules.ts'

/** Config → its relays, delivery.smarthost among them. `passwords`: relayPasswordsOf; without them, a relay has no login,
 *  which is enough to show it. */
export function relaysOf(config: Config, passwords: ReadonlyMap<string, string> = new Map()): Relay[] {
  const { smarthost } = config.delivery
  const configured = config.relays.map((row): Relay => {
    const { name, host, port, tls, username, certificates, maxConnections, maxMailsPerMinute } = row
    const password = passwords.get(name)
    return {
      name,
      host,
      port,
      tls: tls === 'none' ? 'never' : tls,
      isTlsRequired: tls !== 'none',
      login: username === null || password === undefined ? null : { user: username, password },
      pins: certificates,
      destination: relayDestination(name),
      maxConnections,
      maxMailsPerMinute,
    }
  })
  return smarthost === null
    ? configured
    : [...configured, smarthostRelay(smarthost, config.delivery.smarthostCertificates)]
}

/** Config → the relays, without their logins, and their rules. With delivery.smarthost, one rule sends all mail through it. */
export function relaySettingsOf(config: Config): RelaySettings {
  const relays = relaysOf(config)
  const ofAll: RelayRule = { ...EVERYTHING, number: null, use: SMARTHOST }
  const rules = config.relayRules.map((row, at): RelayRule => {
    const { organization, domain, stream, destination, use, failOver, afterMinutes } = row
    return {
      number: at + 1,
      owner: organization === null ? null : ownerKey(organization),
      domain,
      stream,
      destination,
      use: use === 'direct' ? null : use,
      failOver,
      afterMs: afterMinutes * 60_000,
    }
  })
  return { relays, rules: config.delivery.smarthost === null ? rules : [ofAll] }
}

/** Config → the sending domains that rules name. */
export const relayedDomainsOf = ({ relayRules }: Pick<Config, 'relayRules'>): string[] =>
  relayRules.flatMap(({ domain }) => domain ?? [])

const EVERYTHING = { owner: null, domain: null, stream: null, destination: null, failOver: null, afterMs: 0 }

/** Its limits are those of its host as a destination. */
function smarthostRelay(
  { host, port, implicitTls, user, password }: NonNullable<Config['delivery']['smarthost']>,
  pins: readonly string[],
): Relay {
  return {
    name: SMARTHOST,
    host,
    port,
    tls: implicitTls ? 'implicit' : 'starttls',
    isTlsRequired: false,
    login: user === null || password === null ? null : { user, password },
    pins,
    destination: destinationOfHost(host),
    maxConnections: 0,
    maxMailsPerMinute: 0,
  }
}
