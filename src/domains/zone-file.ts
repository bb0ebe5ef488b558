import type { DnsRecord } from '../model/domain.ts'

/** A record for the server's own name. */
export interface HostRecord {
  type: 'A' | 'AAAA'
  name: string
  value: string
}

/** Records of a domain → zone file lines in the syntax of BIND and most DNS providers (RFC 1035 §5). Optional records,
 *  and those that would redirect the domain's mail, are comments; so is a DMARC record if one exists (`found`). */
export function zoneFile(
  domain: string,
  records: readonly (DnsRecord & { found: readonly string[] })[],
  hosts: readonly HostRecord[],
): string {
  const lines = records.map((record) => {
    const line = `${owner(record.name)} IN ${record.type} ${dataOf(record)}`
    const why = whyNot(record)
    return why === null ? line : `; ${why}\n; ${line.replaceAll('\n', '\n; ')}`
  })
  const hasCname = records.some((record) => record.type === 'CNAME' && whyNot(record) === null)
  return [
    `; DNS records of ${domain} for Postrider. Add them to the zone; existing records can stay.`,
    ...(hasCname ? ['; Only a name with a CNAME record has no other ones: remove its earlier records.'] : []),
    ...lines,
    ...hosts.map(({ type, name, value }) => `${owner(name)} IN ${type} ${value}`),
    '',
  ].join('\n')
}

function whyNot({
  purpose,
  type,
  found,
  required,
  name,
  value,
}: DnsRecord & { found: readonly string[] }): string | null {
  if (purpose === 'mx') return `Only if no other server receives mail for ${name}:`
  if (purpose === 'ownership') return null // harmless beside the DKIM keys, and a second proof
  if (purpose === 'mta_sts' || purpose === 'mta_sts_host' || purpose === 'tls_rpt')
    return 'Only with the MX record above:'
  if (purpose === 'dkim_standby') return null // rotation needs it later
  if (purpose === 'dmarc' && type === 'CNAME' && found.length > 0) return 'In place of a TXT record of this name:'
  if (purpose === 'dmarc' && found.length > 0) {
    return found[0] === value
      ? 'Already published:'
      : 'In place of the published record, to receive DMARC reports here:'
  }
  if (purpose === 'dmarc') return null
  return required ? null : 'Needed until all mail signed with it has been delivered:'
}

const TTL_SECONDS = 3600
const owner = (name: string) => `${name}. ${TTL_SECONDS}`

function dataOf({ type, value, priority }: DnsRecord): string {
  if (type === 'TXT') return txtStrings(value)
  return priority === null ? `${value}.` : `${priority} ${value}.`
}

/** A string holds at most 255 bytes (RFC 1035 §3.3); longer values use several, which readers join. */
function txtStrings(value: string): string {
  const strings = (value.match(/.{1,255}/gs) ?? ['']).map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`)
  const [only, ...others] = strings
  return only !== undefined && others.length === 0 ? only : `(\n${strings.map((text) => `    ${text}`).join('\n')} )`
}
