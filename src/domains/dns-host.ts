import type { Resolver } from '../net/dns/resolver.ts'
import { registrableDomain } from './name.ts'

/** The provider of a domain's zone, its page for DNS records, and advice for its forms. */
export interface DnsHosting {
  name: string
  consoleUrl: string
  advice: string
}

const RELATIVE = 'the form appends the domain automatically: enter names without it.'

/** Recognized by name server names. */
const KNOWN: (DnsHosting & { servers: RegExp })[] = [
  {
    name: 'Cloudflare',
    servers: /\.ns\.cloudflare\.com$/,
    consoleUrl: 'https://dash.cloudflare.com/?to=/:account/:zone/dns/records',
    advice: 'disable the proxy (“DNS only”) for every name here; it does not forward mail.',
  },
  {
    name: 'Amazon Route 53',
    servers: /^ns-\d+\.awsdns-\d+\./,
    consoleUrl: 'https://console.aws.amazon.com/route53/v2/hostedzones',
    advice: 'put texts in quotes; split longer ones into several strings of up to 255 characters, as in the zone file.',
  },
  {
    name: 'Google Cloud DNS',
    servers: /^ns-cloud-[a-z]\d\.googledomains\.com$/,
    consoleUrl: 'https://console.cloud.google.com/net-services/dns/zones',
    advice: 'put texts in quotes; split longer ones into several strings of up to 255 characters, as in the zone file.',
  },
  {
    name: 'Azure DNS',
    servers: /^ns\d-\d+\.azure-dns\.(?:com|net|org|info)$/,
    consoleUrl: 'https://portal.azure.com/#browse/Microsoft.Network%2FdnsZones',
    advice: RELATIVE,
  },
  {
    name: 'Hetzner DNS',
    servers: /\.ns\.hetzner\.(?:com|de)$/,
    consoleUrl: 'https://dns.hetzner.com',
    advice: 'end names in other zones with a dot.',
  },
  {
    name: 'GoDaddy',
    servers: /\.domaincontrol\.com$/,
    consoleUrl: 'https://dcc.godaddy.com/control/portfolio',
    advice: RELATIVE,
  },
  {
    name: 'Namecheap',
    servers: /\.registrar-servers\.com$/,
    consoleUrl: 'https://ap.www.namecheap.com/domains/list',
    advice: RELATIVE,
  },
  { name: 'OVH', servers: /\.ovh\.(?:net|ca)$/, consoleUrl: 'https://www.ovh.com/manager', advice: RELATIVE },
  { name: 'Gandi', servers: /\.gandi\.net$/, consoleUrl: 'https://admin.gandi.net/domain', advice: RELATIVE },
  {
    name: 'DigitalOcean',
    servers: /^ns\d\.digitalocean\.com$/,
    consoleUrl: 'https://cloud.digitalocean.com/networking/domains',
    advice: RELATIVE,
  },
  {
    name: 'IONOS',
    servers: /\.ui-dns\.(?:com|de|org|biz)$/,
    consoleUrl: 'https://my.ionos.com/domains',
    advice: RELATIVE,
  },
  {
    name: 'Akamai (Linode)',
    servers: /^ns\d\.linode\.com$/,
    consoleUrl: 'https://cloud.linode.com/domains',
    advice: RELATIVE,
  },
  {
    name: 'Porkbun',
    servers: /\.porkbun\.com$/,
    consoleUrl: 'https://porkbun.com/account/domainsSpeedy',
    advice: RELATIVE,
  },
  {
    name: 'Hostinger',
    servers: /^ns\d\.dns-parking\.com$/,
    consoleUrl: 'https://hpanel.hostinger.com/domains',
    advice: RELATIVE,
  },
  {
    name: 'Vercel',
    servers: /^ns\d\.vercel-dns\.com$/,
    consoleUrl: 'https://vercel.com/dashboard/domains',
    advice: RELATIVE,
  },
  {
    name: 'DNSimple',
    servers: /^ns\d\.dnsimple(?:-edge)?\.(?:com|net|org|io)$/,
    consoleUrl: 'https://dnsimple.com/dashboard',
    advice: RELATIVE,
  },
]

/** Domain → the provider of its zone; null if unknown or DNS does not answer. Never rejects. */
export async function hostOfZone(domain: string, resolver: Pick<Resolver, 'ns'>): Promise<DnsHosting | null> {
  const lookup = await resolver.ns(registrableDomain(domain))
  const servers = lookup.kind === 'records' ? lookup.records.map((name) => name.toLowerCase().replace(/\.$/, '')) : []
  const known = KNOWN.find((host) => servers.some((server) => host.servers.test(server)))
  if (known === undefined) return null
  const { name, consoleUrl, advice } = known
  return { name, consoleUrl, advice }
}
