import { isIP } from 'node:net'
import { parse } from 'tldts'
import { isSpf, mergedSpf } from '../../mail/spf-record.ts'
import { fail, pass, skip, type Verdict, warn, worstOf } from './check.ts'
import type { CheckDeps, Installation, SendingDomain } from './deps.ts'
import { recordsOf } from './network-facts.ts'

/** Checks the SPF and DMARC records that the domains already publish, and what to keep, merge or fix. Our SPF record
 *  is at the host of the return path, so the domain's own SPF record stays as it is. */
export async function checkSpf({ domains, ...installation }: Installation, deps: CheckDeps): Promise<Verdict> {
  return overall(await Promise.all(domains.map((domain) => spfOf(domain, installation, deps))))
}

export async function checkDmarc({ domains }: Installation, deps: CheckDeps): Promise<Verdict> {
  return overall(await Promise.all(domains.map((domain) => dmarcOf(domain, deps))))
}

/** Addresses in a message. */
const MOST_NAMED = 10

async function spfOf(
  { name, returnPathHost }: SendingDomain,
  { hostname, sendingAddresses }: Pick<Installation, 'hostname' | 'sendingAddresses'>,
  { resolver, spfAllows }: Pick<CheckDeps, 'resolver' | 'spfAllows'>,
): Promise<Verdict> {
  const [own, there] = await Promise.all([resolver.txt(name), resolver.txt(returnPathHost)])
  if (own.kind === 'temporary' || there.kind === 'temporary') return skip(`DNS did not respond for ${name}`)
  const records = recordsOf(there).filter(isSpf)
  if (records.length > 1) {
    return fail(
      `${returnPathHost} has ${records.length} SPF records, which is an error`,
      `Merge them into one: ${mergedSpf(records, `a:${hostname}`)}`,
    )
  }
  const [record] = records
  const refused: string[] = []
  for (const { address } of record === undefined ? [] : sendingAddresses) {
    const sender = { hostname, addresses: [address], isOnly: true }
    if (record !== undefined && (await spfAllows(record, returnPathHost, sender)) === 'no') refused.push(address)
  }
  if (refused.length > 0) {
    const named = refused.slice(0, MOST_NAMED)
    const more = refused.length - named.length
    return fail(
      `the SPF record of ${returnPathHost} does not pass the sending address ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
      `Add ${named.map((address) => `ip${isIP(address)}:${address}`).join(' ')} to it. Run \`postrider dns check ${name}\`.`,
    )
  }
  const ofDomain = recordsOf(own).filter(isSpf)
  if (ofDomain.length > 1) {
    return warn(
      `${name} has ${ofDomain.length} SPF records, which is an error for its other senders`,
      `Merge them into one: ${mergedSpf(ofDomain)}`,
    )
  }
  if (ofDomain.length === 0) return pass(`${name} has no SPF record and needs none; Postrider uses ${returnPathHost}`)
  return pass(`${name} has its own SPF record, which can stay; Postrider uses ${returnPathHost}`)
}

async function dmarcOf({ name }: SendingDomain, { resolver }: CheckDeps): Promise<Verdict> {
  const above = parse(name).domain ?? name
  for (const at of new Set([`_dmarc.${name}`, `_dmarc.${above}`])) {
    const lookup = await resolver.txt(at)
    if (lookup.kind === 'temporary') return skip(`DNS did not respond for ${at}`)
    const records = recordsOf(lookup).filter((text) => /^v=DMARC1\s*(?:;|$)/i.test(text))
    if (records.length > 1) {
      return warn(`${at} has ${records.length} DMARC records, so all are ignored`, 'Keep only one.')
    }
    const [record] = records
    if (record === undefined) continue
    const policy = /(?:^|;)\s*p\s*=\s*(none|quarantine|reject)\s*(?:;|$)/i.exec(record)?.[1]
    if (policy === undefined)
      return warn(`${at} has no policy: ${shown(record)}`, 'Set p= to none, quarantine or reject.')
    return pass(`${at} has p=${policy.toLowerCase()}, which can stay: our mail passes DMARC through its DKIM signature`)
  }
  return warn(
    `${name} has no DMARC record; Gmail and Yahoo require one from bulk senders`,
    `Publish the DMARC record that \`postrider dns show ${name}\` prints. It also asks for reports.`,
  )
}

const shown = (text: string) => text.slice(0, 100)

/** Of several domains, the first with a problem, and the number of domains without one. */
function overall(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.length === 0) return skip('no sending domain yet')
  const worst = worstOf(verdicts)
  return worst.status === 'pass' && verdicts.length > 1 ? pass(`OK for ${verdicts.length} domains`) : worst
}
