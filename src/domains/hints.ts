import { isSpf, mergedSpf } from '../mail/spf-record.ts'
import type { DnsRecord } from '../model/domain.ts'
import type { Resolver } from '../net/dns/resolver.ts'

/** Wanted record and the DNS answer → advice in words; null when it is correct or simply missing. Never throws. */
export async function hintFor(
  record: DnsRecord & { status: string; found: readonly string[] },
  { domain, hostname, resolver }: { domain: string; hostname: string; resolver: Resolver },
): Promise<string | null> {
  const { purpose, status, found } = record
  if (status === 'valid') {
    const isOther = purpose === 'dmarc' && found[0] !== record.value
    return isOther ? 'There is one already, which stays as it is.' : null
  }
  if (status === 'missing') return doubledHint(record, domain, resolver)
  if (status !== 'mismatch') return null
  switch (purpose) {
    case 'spf':
      return `Leave one, which lets us pass too: ${mergedSpf(found.filter(isSpf), `a:${hostname}`)}`
    case 'dkim':
      return dkimHint(record)
    case 'dmarc':
      return found.length > 1 ? 'Of several none counts: leave one.' : 'Its p= is none, quarantine or reject.'
    case 'return_path':
      return 'Bounces come to this MX: take the others away, the name is for nothing else.'
    case 'tracking':
      return 'Links in mail lead there: it must come to this server.'
    default:
      return null
  }
}

/** Many DNS providers append the domain, so a full name pasted into the form ends up as `name.domain.domain`. */
async function doubledHint(record: DnsRecord, domain: string, resolver: Resolver): Promise<string | null> {
  const doubled = `${record.name}.${domain}`
  const lookup =
    record.type === 'MX'
      ? await resolver.mx(doubled)
      : record.type === 'CNAME'
        ? await resolver.cname(doubled)
        : await resolver.txt(doubled)
  if (lookup.kind !== 'records') return null
  const relative = record.name.slice(0, -domain.length - 1)
  return `It stands at ${doubled}: the form adds ${domain} by itself, so enter ${relative} alone.`
}

function dkimHint({ value, found }: DnsRecord & { found: readonly string[] }): string | null {
  const keys = found.filter((text) => text.includes('p='))
  if (keys.length > 1) return 'Another key stands beside it, and receivers take either: leave one.'
  const [given = ''] = keys
  if (/["\\]/.test(given)) return 'Quotes or backslashes are part of it: enter the value as it is, without them.'
  const plain = (text: string) => text.replace(/\s+/g, '')
  if (given !== '' && plain(value).startsWith(plain(given))) {
    return `It is cut off after ${given.length} of ${value.length} characters: use several strings of up to 255, or another DNS host.`
  }
  return 'Another key stands there: was it made by an earlier installation? Enter the one above.'
}
