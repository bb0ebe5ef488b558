/** A DNS provider that lexicon can change, and how lexicon wants its records. */
export interface DnsProvider {
  /** As lexicon calls it. */
  name: string
  /** Environment variables without which lexicon cannot sign in. [] if we do not have a list: then one is enough. */
  needs: readonly string[]
  /** TXT as it is, in quoted strings of 255 bytes, or such strings without the outer quotes, which lexicon adds. */
  txt: 'raw' | 'quoted' | 'inner'
  /** Whether the priority of an MX record is part of its content. */
  mx: 'inline' | 'option'
  /** Whether names in a content end with a dot. */
  isAbsolute: boolean
  /** Whether a CNAME record can have a target outside the zone. lexicon adds the zone to such a target of PowerDNS. */
  hasForeignTargets: boolean
}

/** Environment variables of a provider begin with this. */
export const prefixOf = (name: string) => `LEXICON_${name.toUpperCase()}_`

/** Name → provider; null if it is no name of a lexicon provider. Those outside the table have the usual form. */
export function providerNamed(name: string): DnsProvider | null {
  if (!/^[a-z][a-z0-9]{1,30}$/.test(name) || name === 'auto') return null
  const { needs = [], servers: _, ...own } = KNOWN[name] ?? {}
  const usual = { name, txt: 'raw' as const, mx: 'inline' as const, isAbsolute: false, hasForeignTargets: true }
  return { ...usual, ...own, needs: needs.map((each) => prefixOf(name) + each) }
}

/** Names of the zone's name servers → the provider; null if none or several are known. */
export function providerOf(servers: readonly string[]): DnsProvider | null {
  const plain = servers.map((server) => server.toLowerCase().replace(/\.$/, ''))
  const found = Object.keys(KNOWN).filter((name) => plain.some((server) => KNOWN[name]!.servers?.test(server)))
  return found.length === 1 ? providerNamed(found[0]!) : null
}

const QUOTED = { txt: 'quoted', isAbsolute: true } as const

const KNOWN: Record<string, Partial<Omit<DnsProvider, 'name'>> & { servers?: RegExp }> = {
  cloudflare: { needs: ['AUTH_TOKEN'], servers: /\.ns\.cloudflare\.com$/ },
  ddns: { needs: ['AUTH_TOKEN', 'DDNS_SERVER'], ...QUOTED },
  digitalocean: { needs: ['AUTH_TOKEN'], servers: /^ns\d\.digitalocean\.com$/, isAbsolute: true },
  dnsimple: { needs: ['AUTH_TOKEN'], servers: /^ns\d\.dnsimple(?:-edge)?\.(?:com|net|org|io)$/, mx: 'option' },
  gandi: { needs: ['AUTH_TOKEN'], servers: /\.gandi\.net$/, isAbsolute: true },
  godaddy: { needs: ['AUTH_KEY', 'AUTH_SECRET'], servers: /\.domaincontrol\.com$/ },
  hetzner: { needs: ['AUTH_TOKEN'], servers: /\.ns\.hetzner\.(?:com|de)$/, ...QUOTED },
  // Not recognized by its servers: lexicon replaces all records of the zone at each change, without those that the API lacks.
  namecheap: { needs: ['AUTH_USERNAME', 'AUTH_TOKEN', 'AUTH_CLIENT_IP'] },
  ovh: {
    needs: ['AUTH_ENTRYPOINT', 'AUTH_APPLICATION_KEY', 'AUTH_APPLICATION_SECRET', 'AUTH_CONSUMER_KEY'],
    servers: /\.ovh\.(?:net|ca)$/,
    isAbsolute: true,
  },
  porkbun: { needs: ['AUTH_KEY', 'AUTH_SECRET'], servers: /\.porkbun\.com$/, mx: 'option' },
  powerdns: { needs: ['AUTH_TOKEN', 'PDNS_SERVER'], ...QUOTED, hasForeignTargets: false },
  route53: {
    needs: ['AUTH_ACCESS_KEY', 'AUTH_ACCESS_SECRET'],
    servers: /^ns-\d+\.awsdns-\d+\./,
    txt: 'inner',
    isAbsolute: true,
  },
  vercel: { needs: ['AUTH_TOKEN'], servers: /^ns\d\.vercel-dns\.com$/ },
}
