import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Certificate } from '../../net/tls/certificate.ts'
import { writePrivately } from '../../os/private-file.ts'
import type { SharedCertificates } from '../../storage/store.ts'
import { requirePresentable, type Terms, termsOf } from './files.ts'
import { decryptKey, encryptKey, ISSUED } from './kept-keys.ts'

/** The stored certificate and the state of its renewal. */
export interface StoredCertificate {
  certificate: (Certificate & Terms) | null
  progress: Progress
}

export interface Progress {
  /** Settings that the state belongs to; other settings start over. */
  settings: string
  /** Failures in a row, counted before each attempt. */
  failures: number
  /** ms UTC. */
  triedAt: number
  notBefore: number
  /** Reason of the last failure. */
  trouble: string | null
  /** Directory URL of the authority that issued the certificate. */
  issuedBy: string | null
  /** Domain names refused by the authority, with the time; they are left out for some days. */
  leftOut: Record<string, number>
}

export const noProgress = (settings: string, issuedBy: string | null): Progress => ({
  settings,
  failures: 0,
  triedAt: 0,
  notBefore: 0,
  trouble: null,
  issuedBy,
  leftOut: {},
})

const PROGRESS = z.object({
  settings: z.string(),
  failures: z.int().min(0),
  triedAt: z.number(),
  notBefore: z.number(),
  trouble: z.string().nullable(),
  issuedBy: z.string().nullable(),
  leftOut: z.record(z.string(), z.number()),
})

/** Where they are stored. Methods reject when it cannot be read or written. */
export interface CertificateStorage {
  read(): Promise<StoredCertificate>
  /** The state if another node has changed it since the last call; null if not. */
  changed(): Promise<StoredCertificate | null>
  keepCertificate(certificate: Certificate): Promise<void>
  keepProgress(progress: Progress): Promise<void>
}

/** Two files in the data folder, with the key encrypted (kept-keys.ts). State of other settings counts as empty. */
export function certificateFiles(dataDir: string, settings: string, passphrase: string): CertificateStorage {
  return {
    read: () => readStoredCertificate(dataDir, settings, passphrase),
    changed: async () => null,
    keepCertificate: ({ keyPem, certificatePem }) =>
      keepCertificate(dataDir, { keyPem: encryptKey(keyPem, passphrase), certificatePem }),
    keepProgress: (progress) => keepProgress(dataDir, progress),
  }
}

/** The store that all nodes share. */
export function sharedCertificate(shared: SharedCertificates, settings: string): CertificateStorage {
  let version = -1
  const changed = async () => {
    const stored = await shared.changed(version)
    if (stored === null) return null
    version = stored.version
    return stateOf(stored.certificate ?? '', stored.progress ?? '', settings)
  }
  return {
    read: async () => (await changed()) ?? stateOf('', '', settings),
    changed,
    keepCertificate: ({ keyPem, certificatePem }) => shared.keep('certificate', keyPem + certificatePem),
    keepProgress: (progress) => shared.keep('progress', JSON.stringify(progress)),
  }
}

/** Data folder and current settings → the stored state. A missing or damaged file, or state of other settings, counts
 *  as empty. Never rejects. */
export async function readStoredCertificate(
  dataDir: string,
  settings: string,
  passphrase: string,
): Promise<StoredCertificate> {
  const [pem, json] = await Promise.all([readText(certificateFile(dataDir)), readText(progressFile(dataDir))])
  const certificate = parsed(() => {
    const { keyPem, certificatePem } = split(pem)
    return withTerms({ keyPem: decryptKey(keyPem, passphrase), certificatePem })
  })
  return { certificate, progress: progressOf(json, settings) }
}

/** What the data folder says of the certificate, without its key. Never rejects. */
export async function readStoredTerms(dataDir: string, settings: string) {
  const [pem, json] = await Promise.all([readText(certificateFile(dataDir)), readText(progressFile(dataDir))])
  return { certificate: parsed(() => termsOf(split(pem))), progress: progressOf(json, settings) }
}

const stateOf = (pem: string, json: string, settings: string): StoredCertificate => ({
  certificate: parsed(() => withTerms(split(pem))),
  progress: progressOf(json, settings),
})

function progressOf(json: string, settings: string): Progress {
  const progress = parsed(() => PROGRESS.parse(JSON.parse(json)))
  return progress?.settings === settings ? progress : noProgress(settings, progress?.issuedBy ?? null)
}

/** Stores key and chain in one file, so that they always match. Rejects when the folder cannot be written. */
async function keepCertificate(dataDir: string, { keyPem, certificatePem }: Certificate): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writePrivately(certificateFile(dataDir), keyPem + certificatePem)
}

async function keepProgress(dataDir: string, progress: Progress): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writePrivately(progressFile(dataDir), `${JSON.stringify(progress)}\n`)
}

/** A certificate with its names and validity. Throws when it is invalid, does not match its key, or when a TLS server
 *  cannot present it. */
export function withTerms(certificate: Certificate): Certificate & Terms {
  const shown = new X509Certificate(certificate.certificatePem)
  if (!shown.checkPrivateKey(createPrivateKey(certificate.keyPem))) throw new Error('private key does not match')
  requirePresentable(certificate)
  return { ...certificate, ...termsOf(certificate) }
}

const certificateFile = (dataDir: string) => join(dataDir, ISSUED)
const progressFile = (dataDir: string) => join(dataDir, 'acme-progress.json')

function split(pem: string): Certificate {
  const at = pem.indexOf('-----BEGIN CERTIFICATE-----')
  return { keyPem: pem.slice(0, at), certificatePem: pem.slice(at) }
}

function parsed<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch {
    return null
  }
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
