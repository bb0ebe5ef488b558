import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { decodeWords, readHeaderFields } from '../../mail/header-fields.ts'
import { mailauthResolver, type Resolver } from '../../net/dns/resolver.ts'
import type { Certificate } from '../../net/tls/certificate.ts'
import type { Clock } from '../../os/clock.ts'
import { checkedSignatures } from '../../receiving/inbound/checks.ts'

/** A message that the local server received and verified. */
export interface ArrivedMail {
  /** Time of the last byte, ms UTC. */
  at: number
  /** Envelope. */
  returnPath: string
  recipients: string[]
  /** Header fields, for people. */
  from: string
  subject: string
  messageId: string
  sizeBytes: number
  /** `TLSv1.3`; null without TLS. */
  tls: string | null
  dkim: { selector: string; algorithm: string; result: string; comment: string | null }[]
}

export interface LocalMailServer {
  port: number
  stop(): Promise<void>
}

/** Starts the receiving mail server of the try-out on a free port of 127.0.0.1. It offers STARTTLS, accepts any
 *  recipient, verifies each DKIM signature with the given resolver and passes the message to `onMail`. Two recipients
 *  behave as with a test key: it rejects `bounce@` and defers `defer@` once. Rejects if it cannot listen. */
export async function startMailServer(options: {
  certificate: Certificate
  hostname: string
  resolver: Resolver
  clock: Clock
  onMail: (mail: ArrivedMail) => void
}): Promise<LocalMailServer> {
  const { certificate, hostname, resolver, clock, onMail } = options
  const deferred = new Set<string>()
  const server = new SMTPServer({
    name: hostname,
    key: certificate.keyPem,
    cert: certificate.certificatePem,
    authOptional: true,
    disabledCommands: ['AUTH'],
    disableReverseLookup: true,
    closeTimeout: 200,
    onRcptTo: ({ address }, _session, done) => {
      const name = address.toLowerCase().split(/[@+]/, 1)[0]
      if (name === 'bounce') return done(reply(550, `5.1.1 <${address}>: no such user`))
      if (name !== 'defer' || deferred.has(address)) return done()
      deferred.add(address)
      done(reply(451, '4.7.1 try again later'))
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const envelope = {
          at: clock.now(),
          returnPath: mailFrom === false ? '' : mailFrom.address,
          recipients: rcptTo.map(({ address }) => address),
          tls: session.secure ? tlsVersion(session) : null,
        }
        // Before the 250 reply, so that the terminal shows the message before its event.
        void read(Buffer.concat(chunks), resolver, clock.now()).then((mail) => {
          onMail({ ...envelope, ...mail })
          done(null, '2.0.0 message accepted')
        }, done)
      })
    },
  })
  server.on('error', () => {}) // a lost connection; the sender reports it
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function reply(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code })
}

/** The runtime does not always report the version. */
function tlsVersion(session: object): string {
  const { tlsOptions } = session as { tlsOptions?: { version?: string } }
  return tlsOptions?.version ?? 'TLS'
}

async function read(raw: Buffer, resolver: Resolver, now: number) {
  const { fields } = readHeaderFields(raw)
  const field = (key: string) => decodeWords(fields.find((each) => each.key === key)?.value ?? '')
  const signatures = await checkedSignatures(raw, mailauthResolver(resolver) as never, now)
  return {
    from: field('from'),
    subject: field('subject'),
    messageId: field('message-id'),
    sizeBytes: raw.byteLength,
    dkim: signatures.map(({ selector, algorithm, result, comment }) => ({ selector, algorithm, result, comment })),
  }
}
