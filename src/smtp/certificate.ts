import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Certificate, selfSignedCertificate } from '../platform/certificate.ts'

/** Files of the operator → their certificate; without both, one we sign ourselves and keep in the data folder, so that
 *  peers who remember it see the same one after a restart. That one is made anew when it is missing, unreadable, names
 *  another host or ends within a day. Other servers encrypt to it all the same: MTAs do not check names (RFC 7435).
 *  Rejects when the operator's files cannot be read, with UnusableCertificate when they are no pair, and when the data
 *  folder cannot be written. */
export async function loadCertificate(options: {
  certificateFile: string | null
  keyFile: string | null
  dataDir: string
  hostname: string
  now: number
}): Promise<Certificate> {
  const { certificateFile, keyFile, dataDir, hostname, now } = options
  if (certificateFile !== null && keyFile !== null) return readPair(certificateFile, keyFile)

  const ourCertificateFile = join(dataDir, 'smtp-certificate.pem')
  const ourKeyFile = join(dataDir, 'smtp-key.pem')
  const kept = await readPair(ourCertificateFile, ourKeyFile).catch(() => null)
  if (kept !== null && stillFits(kept, hostname, now)) return kept

  const made = await selfSignedCertificate({ names: [hostname], now })
  await mkdir(dataDir, { recursive: true })
  await writePrivately(ourKeyFile, made.keyPem)
  await writePrivately(ourCertificateFile, made.certificatePem) // a crash between leaves a pair that does not fit: made anew
  return made
}

const DAY_MS = 86_400_000

/** What the operator's files hold is no certificate with its key: a line that names them. */
export class UnusableCertificate extends Error {}

async function readPair(certificateFile: string, keyFile: string): Promise<Certificate> {
  const [certificatePem, keyPem] = await Promise.all([readFile(certificateFile, 'utf8'), readFile(keyFile, 'utf8')])
  const shown = parsed(() => new X509Certificate(certificatePem), `${certificateFile} is no PEM certificate`)
  const key = parsed(() => createPrivateKey(keyPem), `${keyFile} is no PEM private key`)
  if (!shown.checkPrivateKey(key)) throw new UnusableCertificate(`${keyFile} is not the key of ${certificateFile}`)
  return { certificatePem, keyPem }
}

function parsed<T>(parse: () => T, fault: string): T {
  try {
    return parse()
  } catch (cause) {
    throw new UnusableCertificate(fault, { cause })
  }
}

function stillFits({ certificatePem }: Certificate, hostname: string, now: number): boolean {
  const shown = new X509Certificate(certificatePem)
  const names = shown.subjectAltName?.split(', ') ?? []
  const named = names.some((name) => name.replace(/^(DNS|IP Address):/, '').toLowerCase() === hostname.toLowerCase())
  return named && Date.parse(shown.validFrom) <= now && Date.parse(shown.validTo) > now + DAY_MS
}

/** Whole or not at all, readable for nobody else. */
async function writePrivately(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await chmod(`${path}.new`, 0o600) // the mode above counts only for a file that was not there
  await rename(`${path}.new`, path)
}
