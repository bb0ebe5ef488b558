import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fail, pass, skip, type Verdict, warn, worstOf } from './check.ts'
import type { AuthorityCertificate, CheckDeps, Installation } from './deps.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** The check warns this long before the expiry. A certificate of 90 days should have been renewed 30 days before. */
const SOON_MS = 14 * DAY_MS
/** Or when this part of the validity is left, if that is shorter: some certificates are valid for six days, or hours. */
const SOON_PART = 1 / 6

const isSoon = ({ startsAt, endsAt }: { startsAt: number; endsAt: number }, now: number) =>
  endsAt - now < Math.min(SOON_MS, (endsAt - startsAt) * SOON_PART)

/** `60 more days`, `11 more hours`. */
function left(ms: number): string {
  const [count, unit] = ms < 2 * DAY_MS ? [Math.floor(ms / HOUR_MS), 'hour'] : [Math.floor(ms / DAY_MS), 'day']
  return `${count} more ${unit}${count === 1 ? '' : 's'}`
}

function ago(ms: number): string {
  const days = Math.ceil(ms / DAY_MS)
  return `${days} ${days === 1 ? 'day' : 'days'} ago`
}

/** Checks name and expiry of the TLS certificates in use. */
export function checkCertificates(installation: Installation, { now }: CheckDeps): Verdict {
  const { hostname, certificateFiles, authority } = installation
  if (certificateFiles.length === 0 && authority === null) {
    return skip('self-signed certificate: sufficient for port 25; browsers and mail programs need a trusted one')
  }
  const ofFiles = certificateFiles.map((file) => checkCertificate(file, hostname, now()))
  return worstOf([...ofFiles, ...(authority === null ? [] : [checkAuthority(authority, now())])])
}

/** The server renews its own certificates, so only a failure needs attention. */
function checkAuthority({ names, held, trouble }: AuthorityCertificate, now: number): Verdict {
  const advice =
    'Point every name to this machine, and open port 80 for its IPv4 and IPv6 addresses. Then run `systemctl reload postrider`.'
  if (held === null || held.endsAt <= now) {
    const state = held === null ? 'no certificate issued yet' : `certificate expired ${ago(now - held.endsAt)}`
    return trouble === null
      ? warn(state, 'The running server requests it. Check again in a minute.')
      : fail(`${state}: ${trouble}`, advice)
  }
  const state = `certificate for ${held.names.length === 1 ? '1 name' : `${held.names.length} names`}, valid for ${left(held.endsAt - now)}`
  if (trouble !== null) return warn(`${state}, but: ${trouble}`, advice)
  const missing = names.filter((name) => !held.names.includes(name))
  if (missing.length > 0) return warn(`${state}, but it does not include ${missing.join(', ')}`, advice)
  return isSoon(held, now)
    ? warn(state, 'The server renews it automatically. Check that the server runs, and its log.')
    : pass(state)
}

function checkCertificate(certificateFile: string, hostname: string, now: number): Verdict {
  const read = readCertificate(certificateFile)
  if ('fault' in read) return fail(`${certificateFile}: ${read.fault}`, 'Check certificate_file in [tls] and [smtp].')
  const { certificate } = read
  const terms = { startsAt: Date.parse(certificate.validFrom), endsAt: Date.parse(certificate.validTo) }
  const renewal = 'Renew it, then run `systemctl reload postrider`.'
  if (terms.endsAt <= now) return fail(`${certificateFile} expired ${ago(now - terms.endsAt)}`, renewal)
  if (certificate.checkHost(hostname) === undefined) {
    return warn(`${certificateFile} does not include ${hostname}`, `Use a certificate that includes ${hostname}.`)
  }
  const message = `${certificateFile} is valid for ${left(terms.endsAt - now)}`
  return isSoon(terms, now) ? warn(message, renewal) : pass(message)
}

function readCertificate(file: string): { certificate: X509Certificate } | { fault: string } {
  try {
    return { certificate: new X509Certificate(readFileSync(file)) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}
