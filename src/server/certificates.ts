import type { Config } from '../config/load.ts'
import type { AuthorityDeps } from '../domains/certificates/authority.ts'
import { readPair, selfSignedPair, type Terms, termsOf } from '../domains/certificates/files.ts'
import { keyPassphrase } from '../domains/certificates/kept-keys.ts'
import type { Certificate } from '../net/tls/certificate.ts'

/** The TLS certificates of the listeners: one for HTTPS and one for SMTP, usually the same. */
export interface Certificates {
  https(): Certificate
  smtp(): Certificate
  /** Reads the operator's files again and retries a failed ACME order at once. Rejects if the files are unusable; the
   *  previous certificates stay in use. */
  reload(): Promise<void>
  /** The terms of the certificate that each listener presents. */
  terms(): { listener: 'https' | 'smtp'; terms: Terms }[]
  /** Orders a certificate from the ACME authority if one is due. Does nothing without an authority. */
  renewIfDue(): Promise<void>
  stop(): Promise<void>
}

/** Loads the certificates. SMTP may have files of its own; otherwise both listeners use the files of [tls] or the ACME
 *  certificate. Without either, or once they expire, a self-signed pair is used. Returns null, and reads nothing, if no
 *  listener uses TLS. Rejects if files cannot be read (UnusableCertificate: key and certificate do not match) or the data
 *  directory cannot be written. */
export async function openCertificates(config: Config, deps: AuthorityDeps): Promise<Certificates | null> {
  const { tls, smtp, http, dataDir, hostname } = config
  const uses = { https: http.listenTls !== null, smtp: listensForMail(config) }
  if (!uses.https && !uses.smtp) return null

  const passphrase = await keyPassphrase(deps.secret, deps.random)
  const load = async () => {
    const own = pairOf(smtp)
    const forSmtp = own === null ? null : await readPair(own)
    const isOnlySmtp = forSmtp !== null && !uses.https
    const files = pairOf(tls)
    const selfSigned = () => selfSignedPair({ dataDir, hostname, now: deps.clock.now(), passphrase })
    return { forSmtp, general: isOnlySmtp ? forSmtp : files === null ? await selfSigned() : await readPair(files) }
  }
  let loaded = await load()
  // Imported only when ACME is configured.
  const authority =
    tls.mode === 'acme'
      ? await (await import('../domains/certificates/authority.ts')).openAuthority(config, deps)
      : null
  const https = () => authority?.certificate() ?? loaded.general
  const presented = { https, smtp: () => loaded.forSmtp ?? https() }

  return {
    ...presented,
    reload: async () => {
      loaded = await load()
      authority?.retryNow()
    },
    terms: () =>
      LISTENERS.filter((listener) => uses[listener]).map((listener) => ({
        listener,
        terms: termsOf(presented[listener]()),
      })),
    renewIfDue: async () => authority?.renewIfDue(),
    stop: async () => authority?.stop(),
  }
}

const LISTENERS = ['https', 'smtp'] as const

function listensForMail({ smtp: { inbound, submission } }: Config): boolean {
  return inbound.listen !== null || submission.listen !== null || submission.listenTls !== null
}

function pairOf({ certificateFile, keyFile }: Config['tls'] | Config['smtp']) {
  return certificateFile === null || keyFile === null ? null : { certificateFile, keyFile }
}
