import { isIP } from 'node:net'
import { toALabel } from '../mail/address.ts'
import type { Domain } from '../model/domain.ts'
import { derivedHosts } from '../model/domain-names.ts'

/** The names of the server itself, as lower-case A-labels: its hostname, the host of http.public_url and the further
 *  names of its certificate. Addresses and names of one label are left out: no domain can be one. */
export function serverNames(settings: { hostname: string; publicUrl: string; names: readonly string[] }): string[] {
  const host = URL.parse(settings.publicUrl)?.hostname ?? ''
  const names = [settings.hostname, host, ...settings.names]
    .filter((name) => isIP(name.replace(/^\[|\]$/g, '')) === 0)
    .flatMap((name) => toALabel(name.replace(/\.$/, '')) ?? [])
  return [...new Set(names)]
}

/** Whether the domain, or a host that it brings along, is a name of the server. `isOwnName`: the operator adds a name of
 *  the server on purpose, so only the hosts count. */
export function isServerName(domain: Domain, names: readonly string[], isOwnName = false): boolean {
  return names.some((name) => (!isOwnName && name === domain.name) || derivedHosts(domain).includes(name))
}
