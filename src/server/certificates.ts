import type { AuthorityDeps } from '../certificates/authority.ts'
import { readPair, selfSignedPair, type Terms, termsOf } from '../certificates/files.ts'
import type { Config } from '../config/load.ts'
import type { Certificate } from '../net/tls/certificate.ts'

/** Who this machine says it is in TLS: a certificate for HTTPS and one for SMTP, usually the same. */
export interface Identity {
  https(): Certificate
  smtp(): Certificate
  /** Reads the operator's files again, and no longer waits with the next attempt to get a certificate. Rejects when files
   *  cannot be used; the certificates before stay. */
  reload(): Promise<void>
  /** What is shown where. */
  terms(): { listener: 'https' | 'smtp'; terms: Terms }[]
  /** Looks whether a certificate must be got from the authority, and gets it; does nothing where there is none. */
  tend(): Promise<void>
  stop(): Promise<void>
}

/** Config → Identity. SMTP may have files of its own; everything else shows those of [tls], or the certificate of its
 *  authority. Where there is none, or none that still holds, a pair that is signed by itself. Where nothing listens that
 *  speaks TLS, nothing is read and nothing made: null. Rejects when files cannot be read (UnusableCertificate: they are no
 *  pair), and when the data folder cannot be written. */
export async function openIdentity(config: Config, house: AuthorityDeps): Promise<Identity | null> {
  const { tls, smtp, http, dataDir, hostname } = config
  const speaks = { https: http.listenTls !== null, smtp: listensForMail(config) }
  if (!speaks.https && !speaks.smtp) return null

  const load = async () => {
    const own = pairOf(smtp)
    const forSmtp = own === null ? null : await readPair(own)
    const isOnlySmtp = forSmtp !== null && !speaks.https
    const files = pairOf(tls)
    const selfSigned = () => selfSignedPair({ dataDir, hostname, now: house.clock.now() })
    return { forSmtp, general: isOnlySmtp ? forSmtp : files === null ? await selfSigned() : await readPair(files) }
  }
  let loaded = await load()
  // Loaded where it is asked for.
  const authority =
    tls.mode === 'acme' ? await (await import('../certificates/authority.ts')).openAuthority(config, house) : null
  const https = () => authority?.certificate() ?? loaded.general
  const shown = { https, smtp: () => loaded.forSmtp ?? https() }

  return {
    ...shown,
    reload: async () => {
      loaded = await load()
      authority?.retryNow()
    },
    terms: () =>
      LISTENERS.filter((listener) => speaks[listener]).map((listener) => ({
        listener,
        terms: termsOf(shown[listener]()),
      })),
    tend: async () => authority?.renewIfDue(),
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
