import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fail, pass, skip, type Verdict, warn, worstOf } from './check.ts'
import type { Installation, World } from './world.ts'

const DAY_MS = 86_400_000
/** Certificates of 90 days are renewed when 30 are left. */
const SOON_DAYS = 14

/** The certificates that are shown in TLS: whose they are, and how long they last. */
export function checkCertificates({ hostname, certificateFiles }: Installation, { now }: World): Verdict {
  if (certificateFiles.length === 0) {
    return skip(
      'its own, signed by itself: enough for port 25; browsers and programs that hand in mail want a real one',
    )
  }
  return worstOf(certificateFiles.map((file) => checkCertificate(file, hostname, now())))
}

function checkCertificate(certificateFile: string, hostname: string, now: number): Verdict {
  const read = readCertificate(certificateFile)
  if ('fault' in read) return fail(`${certificateFile}: ${read.fault}`, 'Look at certificate_file in [tls] and [smtp].')
  const { certificate } = read
  const days = Math.floor((Date.parse(certificate.validTo) - now) / DAY_MS)
  const renewal = 'Renew it, then: systemctl reload postrider'
  if (days < 0) return fail(`${certificateFile} ended ${-days} days ago`, renewal)
  if (certificate.checkHost(hostname) === undefined) {
    return warn(`${certificateFile} is not for ${hostname}`, `Get one that names ${hostname}.`)
  }
  const message = `${certificateFile} is good for ${days} days more`
  return days < SOON_DAYS ? warn(message, renewal) : pass(message)
}

function readCertificate(file: string): { certificate: X509Certificate } | { fault: string } {
  try {
    return { certificate: new X509Certificate(readFileSync(file)) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}
