import { isSpf, mergedSpf } from '../mail/spf-record.ts'
import type { DnsRecord } from '../model/domain.ts'
import type { Resolver } from '../net/dns/resolver.ts'

/** Wanted record and the DNS answer → advice in words; null when it is correct or simply missing. Never throws. */
export async function hintFor(
  record: DnsRecord & { status: string; found: readonly string[] },
  { domain, resolver }: { domain: string; resolver: Resolver },
): Promise<string | null> {
  const { purpose, status, found } = record
  if (status === 'valid') {
    const isOther = purpose === 'dmarc' && record.type === 'TXT' && found[0] !== record.value
    return isOther
      ? 'You already have a DMARC record. It can stay unchanged. With this value, this server also receives DMARC reports.'
      : null
  }
  if (status === 'missing') return doubledHint(record, domain, resolver)
  if (status !== 'mismatch') return null
  switch (purpose) {
    case 'spf':
      return `Keep one record that includes this server: ${mergedSpf(found.filter(isSpf), ...record.value.split(' ').slice(1, -1))}`
    case 'dkim':
      return dkimHint(record)
    case 'dmarc':
      return found.length > 1
        ? 'Several records are all ignored. Keep only one.'
        : 'Set p= to none, quarantine or reject.'
    case 'return_path':
      return record.type === 'CNAME'
        ? 'A name with a CNAME record has no others. Remove the other records of this name.'
        : 'Bounces go to this MX. Remove all other MX records of this name.'
    case 'tracking':
      return 'Links in messages use this name. Point it to this server.'
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
  return `The record is at ${doubled}: the form appends ${domain} automatically. Enter ${relative} only.`
}

function dkimHint({ value, found }: DnsRecord & { found: readonly string[] }): string | null {
  const keys = found.filter((text) => text.includes('p='))
  if (keys.length > 1) return 'There is a second key at this name, and receivers may use either. Remove the other one.'
  const [given = ''] = keys
  if (/["\\]/.test(given))
    return 'The record contains quotes or backslashes. Enter the value exactly as shown, without them.'
  const plain = (text: string) => text.replace(/\s+/g, '')
  if (given !== '' && plain(value).startsWith(plain(given))) {
    return `The record is cut off after ${given.length} of ${value.length} characters. Split it into strings of up to 255 characters, or use another DNS provider.`
  }
  return 'There is a different key at this name, maybe from an earlier installation. Replace it with the one above.'
}
