import type { Resolver } from '../net/dns/resolver.ts'
import { registrableDomain } from './name.ts'

/** The provider of a domain's zone, with advice for its forms. */
export interface DnsHosting {
  name: string
  advice: string
}

const RELATIVE = 'the form appends the domain automatically: enter names without it.'

/** Recognized by name server names. */
const KNOWN: (DnsHosting & { servers: RegExp })[] = [
  {
    name: 'Cloudflare',
    servers: /\.ns\.cloudflare\.com$/,
    advice: 'disable the proxy (“DNS only”) for every name here; it does not forward mail.',
  },
  {
    name: 'Amazon Route 53',
    servers: /^ns-\d+\.awsdns-\d+\./,
    advice: 'put texts in quotes; split longer ones into several strings of up to 255 characters, as in the zone file.',
  },
  { name: 'Hetzner DNS', servers: /\.ns\.hetzner\.(?:com|de)$/, advice: 'end names in other zones with a dot.' },
  { name: 'GoDaddy', servers: /\.domaincontrol\.com$/, advice: RELATIVE },
  { name: 'Namecheap', servers: /\.registrar-servers\.com$/, advice: RELATIVE },
  { name: 'OVH', servers: /\.ovh\.(?:net|ca)$/, advice: RELATIVE },
  { name: 'Gandi', servers: /\.gandi\.net$/, advice: RELATIVE },
  { name: 'DigitalOcean', servers: /^ns\d\.digitalocean\.com$/, advice: RELATIVE },
]

/** Domain → the provider of its zone; null if unknown or DNS does not answer. Never rejects. */
export async function hostOfZone(domain: string, resolver: Pick<Resolver, 'ns'>): Promise<DnsHosting | null> {
  const lookup = await resolver.ns(registrableDomain(domain))
  const servers = lookup.kind === 'records' ? lookup.records.map((name) => name.toLowerCase().replace(/\.$/, '')) : []
  const known = KNOWN.find((host) => servers.some((server) => host.servers.test(server)))
  return known === undefined ? null : { name: known.name, advice: known.advice }
}
