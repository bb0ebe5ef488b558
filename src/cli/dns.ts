import { hintFor } from '../domains/hints.ts'
import { dnsRecords, findingOf, ownServerOf } from '../domains/records.ts'
import { checkDomain } from '../domains/verify.ts'
import { zoneFile } from '../domains/zone-file.ts'
import type { Domain } from '../model/domain.ts'
import { backoffMs } from '../os/backoff.ts'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import { type CliContext, withCliContext } from './cli-context.ts'
import { type DnsHost, dnsTable, type PublishedRecord, RECEIVING } from './dns-table.ts'
import { EXIT, type ExitCode } from './failure.ts'
import { type FoundHost, findHosts } from './found-hosts.ts'
import { hostRecords, reverseDnsText, UNKNOWN_ADDRESS } from './host-records.ts'
import { requireDomain } from './places.ts'
import { type Colors, colorsFor, print, printError, printJson, sanitize } from './print.ts'

interface Options {
  config: string
  json?: true
}

/** Prints the records to publish for a domain (name or id): a table and the reverse DNS, zone file lines with `zone`, or
 *  JSON. Sends no DNS queries. Throws CommandFailure for an unknown domain. */
export async function showDns(name: string, options: Options & { zone?: true }): Promise<void> {
  const work = async (context: CliContext) => {
    const domain = await requireDomain(name, context.store)
    const records = await recordsOf('domains_get', domain, context)
    const hosts = hostRecords(context.config, domain.name)
    if (options.json) printJson({ domain: domain.name, records, hosts })
    else if (options.zone) print(zoneText(domain.name, records, hosts).trimEnd())
    else print(`${dnsTable(records, hosts)}\n${reverseDnsText(context.config)}. \`postrider doctor\` checks it.`)
  }
  await withCliContext(options.config, work, { fromElsewhere: `postrider domain show ${name}` })
}

/** Records and hosts → zone file lines (RFC 1035 §5). A host with an unknown address becomes a comment. */
export function zoneText(domain: string, records: readonly PublishedRecord[], hosts: readonly DnsHost[]): string {
  const known = hosts.filter(({ value }) => value !== UNKNOWN_ADDRESS)
  const unknown = hosts.filter((host) => !known.includes(host))
  const rest = unknown.map(({ type, name, value }) => `; ${name}. 3600 IN ${type} ${value}\n`).join('')
  return `${zoneFile(domain, records, known)}${rest}`
}

/** Queries the domain's name servers, compares the records with the required ones, also those of this machine's name, and
 *  prints a hint for each difference. Stores the result, as `domain verify` does. With `wait` it repeats the check, with
 *  growing pauses, until all required records are correct or `timeout` seconds have passed. Returns 0 if they are correct,
 *  otherwise 1. Throws CommandFailure for an unknown domain. */
export async function checkDns(name: string, options: Options & { wait?: true; timeout: number }): Promise<ExitCode> {
  if (options.wait) process.once('SIGINT', () => process.exit(EXIT.interrupted))
  return withCliContext(
    options.config,
    async (context) => {
      const domain = await requireDomain(name, context.store)
      if (options.wait) await untilRight(domain, context, options.timeout * 1000)
      const records = await recordsOf('domains_verify', domain, context)
      const about = { domain: domain.name, resolver: context.operator.resolver }
      const hinted = await Promise.all(
        records.map(async (record) => ({ ...record, hint: await hintFor(record, about) })),
      )
      const hosts = await hostsOf(domain, context)
      const ok = [...records, ...hosts].every(isRight)
      const all = [...hinted, ...hosts.map((host) => ({ ...host, hint: null }))]
      if (options.json) printJson({ domain: domain.name, ok, records: hinted, hosts })
      else print(compared(all, colorsFor()))
      const isSilent = [...records, ...hosts].some(({ required, status }) => required && status === 'pending')
      if (isSilent) printError('DNS did not answer for some records. Check that the name servers are reachable.')
      return ok ? EXIT.done : EXIT.failed
    },
    { asksAuthorities: true, fromElsewhere: `postrider domain verify ${name}` },
  )
}

/** Seconds between checks; the last one repeats. */
const CHECK_WAITS = [1, 2, 5, 10, 20, 30, 60]

async function untilRight(domain: Domain, context: CliContext, withinMs: number): Promise<void> {
  const { config, operator } = context
  const server = ownServerOf(config)
  const wanted = dnsRecords(domain, server).filter(({ required }) => required)
  const endsAt = systemClock.steady.now() + withinMs
  let printed = ''
  for (let check = 1; ; check++) {
    const { findings } = await checkDomain(domain, { ...operator, server, now: systemClock.now() })
    const found = { ...domain, findings }
    const hosts = (await hostsOf(domain, context)).filter((host) => !isRight(host))
    const records = wanted.filter((record) => findingOf(found, record)?.status !== 'valid')
    const missing = [...records, ...hosts].map(({ name }) => name)
    const leftMs = endsAt - systemClock.steady.now()
    if (missing.length === 0 || leftMs <= 0) return
    const waiting = `waiting for ${[...new Set(missing)].join(', ')}`
    if (waiting !== printed) printError(waiting)
    printed = waiting
    await systemClock.sleep(Math.min(leftMs, backoffMs(CHECK_WAITS, check, 0.1, systemRandom)))
  }
}

/** The records of a domain as the API shows them, after a check with `domains_verify`. */
export async function recordsOf(
  operation: 'domains_get' | 'domains_verify',
  domain: Domain,
  { operator }: CliContext,
): Promise<PublishedRecord[]> {
  const { organizationId, id } = domain
  const answer = await operator.run(operation, { organizationId, params: { domain_id: id } })
  return answer.dns_records
}

const hostsOf = ({ name }: Domain, { config, operator }: CliContext): Promise<FoundHost[]> =>
  findHosts(hostRecords(config, name), operator.resolver)

const isRight = ({ required, status }: Pick<PublishedRecord, 'required' | 'status'>) => !required || status === 'valid'

type Compared = (PublishedRecord | (FoundHost & { purpose?: never })) & { hint: string | null }

function compared(records: readonly Compared[], colors: Colors): string {
  const expected = ({ priority, value }: Compared) => (priority === null ? value : `${priority} ${value}`)
  return records
    .flatMap((record) => {
      const isFine = record.status === 'valid'
      const sign = isFine ? colors.good('✓') : record.required ? colors.bad('✗') : colors.dim('-')
      const isOptional = record.purpose === undefined || RECEIVING.has(record.purpose)
      const rest = isFine || record.required ? '' : isOptional ? '  (optional)' : '  (recommended)'
      const head = `${sign} ${record.type.padEnd(5)} ${record.name}  ${WORDS[record.status]}${rest}`
      const hint = record.hint === null ? [] : [`    → ${sanitize(record.hint)}`]
      if (isFine || !record.required) return [head, ...hint]
      const found = record.found.length === 0 ? [] : [`    found     ${sanitize(record.found.join(' | '))}`]
      return [head, ...found, `    expected  ${expected(record)}`, ...hint]
    })
    .join('\n')
}

const WORDS: Record<PublishedRecord['status'], string> = {
  pending: 'no answer',
  valid: 'correct',
  missing: 'missing',
  mismatch: 'differs',
}
