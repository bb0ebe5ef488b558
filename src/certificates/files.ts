import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Certificate, selfSignedCertificate } from '../net/tls/certificate.ts'
import { writePrivately } from '../os/private-file.ts'

/** Where the operator's certificate chain and its key lie. */
export interface PairFiles {
  certificateFile: string
  keyFile: string
}

/** What the operator's files hold is no certificate with its key: a line that names them. */
export class UnusableCertificate extends Error {}

/** Files of the operator → their certificate, whatever its names and time. Rejects when they cannot be read, and with
 *  UnusableCertificate when they are no pair. */
export async function readPair({ certificateFile, keyFile }: PairFiles): Promise<Certificate> {
  const [certificatePem, keyPem] = await Promise.all([readFile(certificateFile, 'utf8'), readFile(keyFile, 'utf8')])
  const shown = parsed(() => new X509Certificate(certificatePem), `${certificateFile} is no PEM certificate`)
  const key = parsed(() => createPrivateKey(keyPem), `${keyFile} is no PEM private key`)
  if (!shown.checkPrivateKey(key)) throw new UnusableCertificate(`${keyFile} is not the key of ${certificateFile}`)
  return { certificatePem, keyPem }
}

/** A certificate that we sign ourselves and keep in the data folder, so that peers who remember it see the same one after a
 *  restart. It is made anew when it is missing, unreadable, names another host or ends within a day. Other servers encrypt
 *  to it all the same: MTAs do not check names (RFC 7435). Rejects when the folder cannot be written. */
export async function selfSignedPair(options: {
  dataDir: string
  hostname: string
  now: number
}): Promise<Certificate> {
  const { dataDir, hostname, now } = options
  const certificateFile = join(dataDir, 'smtp-certificate.pem')
  const keyFile = join(dataDir, 'smtp-key.pem')
  const kept = await readPair({ certificateFile, keyFile }).catch(() => null)
  if (kept !== null && stillFits(kept, hostname, now)) return kept

  const made = await selfSignedCertificate({ names: [hostname], now })
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writePrivately(keyFile, made.keyPem)
  await writePrivately(certificateFile, made.certificatePem) // a crash between leaves a pair that does not fit: made anew
  return made
}

const DAY_MS = 86_400_000

function parsed<T>(parse: () => T, fault: string): T {
  try {
    return parse()
  } catch (cause) {
    throw new UnusableCertificate(fault, { cause })
  }
}

function stillFits(pair: Certificate, hostname: string, now: number): boolean {
  const { names, startsAt, endsAt } = termsOf(pair)
  return names.includes(hostname.toLowerCase()) && startsAt <= now && endsAt > now + DAY_MS
}

/** Whom a certificate names (lower case), and from when until when it holds (ms UTC). Throws on what is none. */
export function termsOf({ certificatePem }: Pick<Certificate, 'certificatePem'>): Terms {
  const shown = new X509Certificate(certificatePem)
  const names = shown.subjectAltName?.split(', ') ?? []
  return {
    names: names.map((name) => name.replace(/^(DNS|IP Address):/, '').toLowerCase()),
    startsAt: Date.parse(shown.validFrom),
    endsAt: Date.parse(shown.validTo),
  }
}

export interface Terms {
  names: string[]
  startsAt: number
  endsAt: number
}
