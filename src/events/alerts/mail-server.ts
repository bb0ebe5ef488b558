import type { AlertChannel } from '../../config/load.ts'
import type { Mailbox } from '../../mail/address.ts'
import { compose } from '../../mail/compose.ts'
import { formatReply } from '../../mail/reply.ts'
import type { Resolver } from '../../net/dns/resolver.ts'
import { findAddresses } from '../../sending/outbound/mx.ts'
import { nowMs } from '../../sending/outbound/smtp/dialogue.ts'
import { relayPeer } from '../../sending/outbound/smtp/peer.ts'
import { timeoutsWithin } from '../../sending/outbound/smtp/timeouts.ts'
import { createTranscript } from '../../sending/outbound/smtp/transcript.ts'
import { createTransport } from '../../sending/outbound/smtp/transport.ts'
import { toWire } from '../../sending/outbound/smtp/wire-mail.ts'

/** A mail to the operator. */
export interface OperatorMail {
  /** Unique, the same in each attempt. */
  id: string
  from: Mailbox
  to: Mailbox
  subject: string
  text: string
  html: string
  at: number
}

/** Sends a mail through the mail server of a channel, in at most SEND_MS → null, or why it was not accepted. A password is
 *  sent to a verified server only, as with a smarthost, and with `caFile` nothing is sent to another one. Never rejects for
 *  failures of the server or the network; throws what the readers throw. */
export async function sendThrough(
  server: NonNullable<AlertChannel['server']>,
  mail: OperatorMail,
  deps: {
    hostname: string
    resolver: Resolver
    readSecret: (path: string) => string
    /** Reads certificates (DER), at least one. */
    readCertificates: (path: string) => Uint8Array[]
  },
): Promise<string | null> {
  const { host, port, tls, username, passwordFile, caFile } = server
  const { addresses } = await findAddresses(host, deps.resolver, () => true)
  const [address] = addresses
  if (address === undefined) return `DNS has no address for ${host}`
  const password = passwordFile === null ? null : deps.readSecret(passwordFile)
  const login = username === null || password === null ? null : { user: username, password }
  const relay = {
    name: host,
    host,
    port,
    tls: tls === 'none' ? 'never' : tls,
    isTlsRequired: false,
    login,
    pins: [],
  } as const
  const proof =
    caFile === null
      ? ({ demand: 'none' } as const)
      : ({ demand: 'verified', tlsa: deps.readCertificates(caFile).map(anchorOf) } as const)
  const peer = relayPeer(relay, address, proof)
  const transport = createTransport({ hostname: deps.hostname, sourceAddress: null, timeouts: timeoutsWithin(STEP_MS) })
  try {
    const { answer } = await transport.offer({
      peer,
      destination: { name: host, connections: 1, maxMails: 1 },
      envelope: { returnPath: mail.from.address, recipient: mail.to.address },
      mail: toWire([composed(mail)]),
      transcript: createTranscript(nowMs),
      budgetMs: SEND_MS,
    })
    if (answer.kind === 'unfit') return answer.message
    if (answer.kind === 'fault') return answer.fault.message
    return answer.reply.code < 300 ? null : formatReply(answer.reply)
  } finally {
    await transport.stop()
  }
}

/** A trusted authority as a TLSA record: its certificate as a whole, which the server need not send. RFC 7671 §5.2.2 */
const anchorOf = (certificate: Uint8Array) => ({ usage: 2, selector: 0, matchingType: 0, certificate })

function composed({ id, from, to, subject, text, html, at }: OperatorMail): Uint8Array {
  return compose({
    from: { ...from, name: 'Postrider' },
    to: [to],
    cc: [],
    replyTo: [],
    subject,
    dateAt: at,
    messageId: `<${id}@${from.domain}>`,
    html,
    text,
    headers: [['Auto-Submitted', 'auto-generated']],
    attachments: [],
    boundarySeed: id,
  })
}

const STEP_MS = 20_000
/** Everything before the mail itself; less than a lost notice waits for its next attempt. */
const SEND_MS = 60_000
