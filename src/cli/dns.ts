import { hintFor } from '../domains/hints.ts'
import { dnsRecords, findingOf } from '../domains/records.ts'
import { checkDomain } from '../domains/verify.ts'
import { zoneFile } from '../domains/zone-file.ts'
import type { Domain } from '../model/domain.ts'
import { backoffMs } from '../os/backoff.ts'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import { mtaStsOfHouse } from '../server/operations.ts'
import { type DnsHost, dnsTable, type PublishedRecord } from './dns-table.ts'
import { requireDomain } from './domain.ts'
import { EXIT, type ExitCode } from './failure.ts'
import { hostRecords, UNKNOWN_ADDRESS } from './host-records.ts'
import { inOffice, type Office } from './office.ts'
import { complain, harmless, type Paint, paintFor, print, printJson } from './print.ts'

interface Options {
  config: string
  json?: true
}

/** Prints what to publish for a domain: a table, the lines of a zone file, or JSON. Asks nobody. */
export async function showDns(name: string, options: Options & { zone?: true }): Promise<void> {
  await inOffice(options.config, async (office) => {
    const domain = await requireDomain(name, office.store)
    const records = await recordsOf('domains_get', domain, office)
    const hosts = hostRecords(office.config.hostname, domain.name)
    if (options.json) printJson({ domain: domain.name, records, hosts })
    else if (options.zone) print(zoneText(domain.name, records, hosts).trimEnd())
    else print(dnsTable(records, hosts))
  })
}

/** Lines for the zone; a host whose address nobody here knows is a comment. */
export function zoneText(domain: string, records: readonly PublishedRecord[], hosts: readonly DnsHost[]): string {
  const known = hosts.filter(({ value }) => value !== UNKNOWN_ADDRESS)
  const unknown = hosts.filter((host) => !known.includes(host))
  const rest = unknown.map(({ type, name, value }) => `; ${name}. 3600 IN ${type} ${value}\n`).join('')
  return `${zoneFile(domain, records, known)}${rest}`
}

/** Asks the name servers of the domain what they have, compares it with what is wanted, and says of each record that
 *  differs what to do. With `wait` it asks again, less and less often, until every required record is right or the time is
 *  over. 0 only when they are. What was seen is written down as by `domain verify`. */
export async function checkDns(name: string, options: Options & { wait?: true; timeout: number }): Promise<ExitCode> {
  if (options.wait) process.once('SIGINT', () => process.exit(EXIT.interrupted))
  return inOffice(
    options.config,
    async (office) => {
      const domain = await requireDomain(name, office.store)
      if (options.wait) await untilRight(domain, office, options.timeout * 1000)
      const records = await recordsOf('domains_verify', domain, office)
      const about = { domain: domain.name, hostname: office.config.hostname, resolver: office.operator.resolver }
      const hinted = await Promise.all(
        records.map(async (record) => ({ ...record, hint: await hintFor(record, about) })),
      )
      const ok = isRight(records)
      if (options.json) printJson({ domain: domain.name, ok, records: hinted })
      else print(compared(hinted, paintFor(process.env, process.stdout.isTTY)))
      const isSilent = records.some(({ required, status }) => required && status === 'pending')
      if (isSilent) complain('DNS gave no answer about some records: are the name servers in reach?')
      return ok ? EXIT.done : EXIT.failed
    },
    { asksAuthorities: true },
  )
}

/** Seconds between two looks; the last one repeats. */
const LOOKS = [1, 2, 5, 10, 20, 30, 60]

async function untilRight(domain: Domain, { config, operator }: Office, withinMs: number): Promise<void> {
  const { hostname } = config
  const mtaSts = mtaStsOfHouse(config)
  const wanted = dnsRecords(domain, hostname, mtaSts).filter(({ required }) => required)
  const endsAt = systemClock.steady.now() + withinMs
  let told = ''
  for (let look = 1; ; look++) {
    const { findings } = await checkDomain(domain, { ...operator, hostname, mtaSts, now: systemClock.now() })
    const found = { ...domain, findings }
    const missing = wanted.filter((record) => findingOf(found, record)?.status !== 'valid').map(({ name }) => name)
    const leftMs = endsAt - systemClock.steady.now()
    if (missing.length === 0 || leftMs <= 0) return
    const waiting = `waiting for ${[...new Set(missing)].join(', ')}`
    if (waiting !== told) complain(waiting)
    told = waiting
    await systemClock.sleep(Math.min(leftMs, backoffMs(LOOKS, look, 0.1, systemRandom)))
  }
}

async function recordsOf(operation: string, domain: Domain, { operator }: Office): Promise<PublishedRecord[]> {
  const { organizationId, id } = domain
  const answer = await operator.run(operation, { organizationId, params: { domain_id: id } })
  return answer.dns_records as PublishedRecord[]
}

const isRight = (records: readonly PublishedRecord[]) =>
  records.every(({ required, status }) => !required || status === 'valid')

function compared(records: readonly (PublishedRecord & { hint: string | null })[], paint: Paint): string {
  const expected = ({ priority, value }: PublishedRecord) => (priority === null ? value : `${priority} ${value}`)
  return records
    .flatMap((record) => {
      const isFine = record.status === 'valid'
      const sign = isFine ? paint.good('✓') : record.required ? paint.bad('✗') : paint.dim('-')
      const rest = isFine ? '' : record.required ? '' : '  (not needed)'
      const head = `${sign} ${record.type.padEnd(5)} ${record.name}  ${WORDS[record.status]}${rest}`
      const hint = record.hint === null ? [] : [`    → ${harmless(record.hint)}`]
      if (isFine || !record.required) return [head, ...hint]
      const found = record.found.length === 0 ? [] : [`    found     ${harmless(record.found.join(' | '))}`]
      return [head, ...found, `    expected  ${expected(record)}`, ...hint]
    })
    .join('\n')
}

const WORDS: Record<PublishedRecord['status'], string> = {
  pending: 'no answer',
  valid: 'right',
  missing: 'missing',
  mismatch: 'differs',
}
