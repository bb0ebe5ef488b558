import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { type Certificate, selfSignedCertificate } from '../../net/tls/certificate.ts'
import { writePrivately } from '../../os/private-file.ts'
import { decryptKey, encryptKey, SELF_SIGNED_KEY } from './kept-keys.ts'

/** Paths of the operator's certificate chain and key. */
export interface PairFiles {
  certificateFile: string
  keyFile: string
}

/** The operator's files do not contain a certificate with its key; the message names them. */
export class UnusableCertificate extends Error {}

/** The operator's files → their certificate, whatever its names and dates. `passphrase`: for our own. Rejects when they
 *  cannot be read, and with UnusableCertificate when key and certificate do not match, or a certificate of the chain is
 *  broken. */
export async function readPair({ certificateFile, keyFile }: PairFiles, passphrase = ''): Promise<Certificate> {
  const [certificatePem, keyText] = await Promise.all([readFile(certificateFile, 'utf8'), readFile(keyFile, 'utf8')])
  const shown = parsed(() => new X509Certificate(certificatePem), `${certificateFile} is not a PEM certificate`)
  const keyPem = passphrase === '' ? keyText : parsed(() => decryptKey(keyText, passphrase), `${keyFile} is damaged`)
  const key = parsed(() => createPrivateKey(keyPem), `${keyFile} is not a PEM private key`)
  if (!shown.checkPrivateKey(key)) throw new UnusableCertificate(`${keyFile} is not the key of ${certificateFile}`)
  parsed(() => requirePresentable({ certificatePem, keyPem }), `${certificateFile} contains a broken certificate`)
  return { certificatePem, keyPem }
}

/** Throws unless a TLS server can present the certificate: X509Certificate reads only the first of a chain, but a listener
 *  does not open with a broken one behind it. */
export function requirePresentable({ certificatePem: cert, keyPem: key }: Certificate): void {
  createSecureContext({ cert, key })
}

/** A self-signed certificate, stored in the data folder so that peers see the same one after a restart. Created again
 *  when it is missing, unreadable, for another host or within a day of its end. Other servers accept it for encryption:
 *  MTAs do not verify names (RFC 7435). Rejects when the folder cannot be written. */
export async function selfSignedPair(options: {
  dataDir: string
  hostname: string
  now: number
  /** Of the key's file (kept-keys.ts). */
  passphrase: string
}): Promise<Certificate> {
  const { dataDir, hostname, now, passphrase } = options
  const certificateFile = join(dataDir, 'smtp-certificate.pem')
  const keyFile = join(dataDir, SELF_SIGNED_KEY)
  const kept = await readPair({ certificateFile, keyFile }, passphrase).catch(() => null)
  if (kept !== null && stillFits(kept, hostname, now)) return kept

  const made = await selfSignedCertificate({ names: [hostname], now })
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writePrivately(keyFile, encryptKey(made.keyPem, passphrase))
  // a crash in between leaves a pair that does not match, which is created again
  await writePrivately(certificateFile, made.certificatePem)
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

/** Names (lower case) and validity (ms UTC) of a certificate. Throws on anything else. */
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
