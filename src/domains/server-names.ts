import { isIP } from 'node:net'
import type { Config } from '../config/load.ts'
import { toALabel } from '../mail/address.ts'
import type { Domain } from '../model/domain.ts'
import { derivedHosts } from '../model/domain-names.ts'

/** The server's own names as lower-case A-labels: hostname, host of http.public_url and further certificate names.
 *  Omits addresses and single labels, which cannot be domains. */
export function serverNames(settings: { hostname: string; publicUrl: string; names: readonly string[] }): string[] {
  const host = URL.parse(settings.publicUrl)?.hostname ?? ''
  const names = [settings.hostname, host, ...settings.names]
    .filter((name) => isIP(name.replace(/^\[|\]$/g, '')) === 0)
    .flatMap((name) => toALabel(name.replace(/\.$/, '')) ?? [])
  return [...new Set(names)]
}

/** Config → its serverNames. No tenant may claim them. */
export function serverNamesOf({ hostname, http, tls, dns }: Config): string[] {
  return serverNames({
    hostname,
    publicUrl: http.publicUrl,
    names: [...tls.names, ...(dns.zone === null ? [] : [dns.zone])],
  })
}

/** Whether the domain, or one of its hosts, is a name of this server. `isOwnName`: the operator added a server name
 *  deliberately, so only the hosts count. */
export function isServerName(domain: Domain, names: readonly string[], isOwnName = false): boolean {
  return names.some((name) => (!isOwnName && name === domain.name) || derivedHosts(domain).includes(name))
}
