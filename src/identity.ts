import { readPair, selfSignedPair, type Terms, termsOf } from './certificates/files.ts'
import type { Config } from './config.ts'
import type { Certificate } from './platform/certificate.ts'
import type { Clock } from './platform/clock.ts'

/** Who this machine says it is in TLS: a certificate for HTTPS and one for SMTP, usually the same. */
export interface Identity {
  https(): Certificate
  smtp(): Certificate
  /** Reads the operator's files again. Rejects when they cannot be used; the certificates before stay. */
  reload(): Promise<void>
  /** What is shown where; nothing where nothing listens. */
  terms(): { listener: 'https' | 'smtp'; terms: Terms }[]
}

/** Config → Identity. SMTP may have files of its own; everything else shows those of [tls], or without them a pair that is
 *  signed by itself. Where nothing listens that speaks TLS, nothing is read and nothing made: null. Rejects when files
 *  cannot be read (UnusableCertificate: they are no pair), and when the data folder cannot be written. */
export async function openIdentity(config: Config, { clock }: { clock: Clock }): Promise<Identity | null> {
  const { tls, smtp, http, dataDir, hostname } = config
  const speaks = { https: http.listenTls !== null, smtp: listensForMail(config) }
  if (!speaks.https && !speaks.smtp) return null

  const load = async () => {
    const own = pairOf(smtp)
    const forSmtp = own === null ? null : await readPair(own)
    if (forSmtp !== null && !speaks.https) return { https: forSmtp, smtp: forSmtp }
    const files = pairOf(tls)
    const general = files === null ? selfSignedPair({ dataDir, hostname, now: clock.now() }) : readPair(files)
    return { https: await general, smtp: forSmtp ?? (await general) }
  }
  let shown = await load()

  return {
    https: () => shown.https,
    smtp: () => shown.smtp,
    reload: async () => {
      shown = await load()
    },
    terms: () =>
      LISTENERS.filter((listener) => speaks[listener]).map((listener) => ({
        listener,
        terms: termsOf(shown[listener]),
      })),
  }
}

const LISTENERS = ['https', 'smtp'] as const

function listensForMail({ smtp: { inbound, submission } }: Config): boolean {
  return inbound.listen !== null || submission.listen !== null || submission.listenTls !== null
}

function pairOf({ certificateFile, keyFile }: Config['tls'] | Config['smtp']) {
  return certificateFile === null || keyFile === null ? null : { certificateFile, keyFile }
}
