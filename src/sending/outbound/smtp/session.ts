import type { Reply } from '../../../mail/reply.ts'
import { SMARTHOST } from '../../../model/relay.ts'
import { certificateFailure } from '../tls/tls-session.ts'
import { type Dialogue, isFault, nowMs, openDialogue, type TlsFacts } from './dialogue.ts'
import { type Extensions, NO_EXTENSIONS, readExtensions } from './extensions.ts'
import { logIn } from './login.ts'
import { type Peer, peerName } from './peer.ts'
import { type Answer, type Fault, faultAt, type Stage } from './reply.ts'
import type { Timeouts } from './timeouts.ts'
import type { Transcript } from './transcript.ts'

/** A connection ready for mail: EHLO, and TLS and login as the peer requires, are complete. */
export interface Session {
  readonly peer: Peer
  readonly dialogue: Dialogue
  readonly extensions: Extensions
  readonly tls: TlsFacts | null
  /** Mails offered so far. */
  offered: number
  /** A transaction was refused and needs RSET. */
  needsReset: boolean
  /** On nowMs(). */
  idleSinceMs: number
}

/** Options for opening sessions; the same for all sessions of a worker. */
export interface SessionOptions {
  /** Our name in EHLO. */
  hostname: string
  sourceAddress: string | null
  timeouts: Timeouts
  /** PEM of authorities that replace the public ones. */
  ca?: string
}

/** Why a session could not be opened; `sourceAddress` null: nothing was connected. */
export interface NotOpened {
  answer: Answer
  sourceAddress: string | null
}

/** Peer → a Session, or the reply or fault that prevented it. Steps: connect, implicit TLS, greeting, EHLO (HELO if
 *  EHLO is unknown), STARTTLS if offered and EHLO again, TLS requirements, login. A STARTTLS that is refused or fails
 *  is a `tls` fault; the caller decides whether to reconnect without TLS. Never rejects. */
export async function openSession(
  peer: Peer,
  options: SessionOptions,
  transcript: Transcript,
  deadlineMs: number,
): Promise<Session | NotOpened> {
  const { timeouts } = options
  const { source } = peer
  const hostname = source?.hostname ?? options.hostname
  transcript.note(`connecting to ${peerName(peer)}${source === undefined ? '' : ` from ${source.address}`}`)
  const dialogue = await openDialogue({
    address: peer.address,
    port: peer.port,
    localAddress: source?.address ?? options.sourceAddress,
    timeoutMs: timeouts.connectMs,
    deadlineMs,
    transcript,
  })
  if (isFault(dialogue)) return { answer: faultAt('connect', dialogue), sourceAddress: null }
  const close = (answer: Answer): NotOpened => {
    dialogue.close()
    return { answer, sourceAddress: dialogue.localAddress }
  }

  let tls: TlsFacts | null = null
  if (peer.tls === 'implicit') {
    const facts = await handshake(dialogue, peer, options)
    if (isFault(facts)) return close(faultAt('connect', facts))
    tls = facts
  }

  const greeting = await dialogue.reply(timeouts.greetingMs)
  if (isFault(greeting)) return close(faultAt('greeting', greeting))
  if (!isPositive(greeting)) return close({ kind: 'reply', stage: 'greeting', reply: greeting })

  let extensions = await hello(dialogue, hostname, timeouts)
  if ('kind' in extensions) return close(extensions)

  if (peer.tls === 'starttls' && extensions.startTls) {
    const facts = await startTls(dialogue, peer, options)
    if ('kind' in facts) return close(facts)
    tls = facts
    extensions = await hello(dialogue, hostname, timeouts)
    if ('kind' in extensions) return close(extensions)
  }

  const unproven = tlsFault(peer, tls)
  if (unproven !== null) return close(faultAt('starttls', unproven))

  if (peer.login !== null) {
    const refused = await logIn(dialogue, peer.login, extensions.logins, timeouts.commandMs)
    if (refused !== null) return close(faultAt('login', refused))
  }
  return { peer, dialogue, extensions, tls, offered: 0, needsReset: false, idleSinceMs: nowMs() }
}

/** Sends QUIT and closes, whatever the reply. */
export async function closeSession(session: Session, transcript: Transcript): Promise<void> {
  session.dialogue.transcript = transcript
  session.dialogue.deadlineMs = nowMs() + QUIT_MS
  if (session.dialogue.isQuiet()) {
    session.dialogue.say('QUIT\r\n', 'QUIT')
    await session.dialogue.reply(QUIT_MS)
  }
  session.dialogue.close()
}

/** 2yz. RFC 5321 §4.2.1. */
export const isPositive = (reply: Reply) => reply.code >= 200 && reply.code < 300
/** 3yz: the first digit decides (RFC 5321 §4.2.1). */
export const isContinue = (reply: Reply) => reply.code >= 300 && reply.code < 400
/** 4yz or 5yz. */
export const isRefusal = (reply: Reply) => reply.code >= 400

/** A reply that is invalid at this stage, such as 250 to DATA: the server does not follow SMTP. */
export function outOfPlace(stage: Stage, reply: Reply): Answer {
  const message = `unexpected reply ${reply.code} at ${stage.toUpperCase()}`
  return faultAt(stage, { class: 'protocol', code: '4.5.0', message })
}

const QUIT_MS = 1000

async function hello(dialogue: Dialogue, hostname: string, timeouts: Timeouts): Promise<Extensions | Answer> {
  dialogue.say(`EHLO ${hostname}\r\n`, `EHLO ${hostname}`)
  const ehlo = await dialogue.reply(timeouts.commandMs)
  if (isFault(ehlo)) return faultAt('ehlo', ehlo)
  if (isPositive(ehlo)) return readExtensions(ehlo.text)
  if (ehlo.code < 500) return { kind: 'reply', stage: 'ehlo', reply: ehlo }

  dialogue.say(`HELO ${hostname}\r\n`, `HELO ${hostname}`)
  const helo = await dialogue.reply(timeouts.commandMs)
  if (isFault(helo)) return faultAt('ehlo', helo)
  return isPositive(helo) ? NO_EXTENSIONS : { kind: 'reply', stage: 'ehlo', reply: helo }
}

async function startTls(dialogue: Dialogue, peer: Peer, options: SessionOptions): Promise<TlsFacts | Answer> {
  dialogue.say('STARTTLS\r\n', 'STARTTLS')
  const reply = await dialogue.reply(options.timeouts.commandMs)
  if (isFault(reply)) return faultAt('starttls', reply)
  if (reply.code !== 220) {
    const message = `the server offered STARTTLS but rejected it: ${reply.code} ${reply.text}`
    return faultAt('starttls', { class: 'tls', code: '4.7.4', message, tls: 'starttls-not-supported' })
  }
  const facts = await handshake(dialogue, peer, options)
  return isFault(facts) ? faultAt('starttls', { tls: 'validation-failure', ...facts, class: 'tls' }) : facts
}

async function handshake(dialogue: Dialogue, peer: Peer, options: SessionOptions): Promise<TlsFacts | Fault> {
  const facts = await dialogue.secure({
    host: peer.host,
    ca: options.ca,
    tlsa: peer.tlsa,
    timeoutMs: options.timeouts.tlsMs,
  })
  if (!isFault(facts)) {
    const proof = facts.problem === null ? 'certificate verified' : `certificate not verified: ${facts.problem}`
    dialogue.transcript.note(`${facts.version} ${facts.cipher}, ${proof}`)
  }
  return facts
}

/** RFC 3463 §3.8: x.7.4 security features not supported, x.7.5 cryptographic failure. */
function tlsFault(peer: Peer, tls: TlsFacts | null): Fault | null {
  if (peer.demand === 'none') return null
  if (tls === null) {
    const message = `TLS is required, but ${peerName(peer)} does not offer it`
    return { class: 'tls', code: '4.7.4', message, tls: 'starttls-not-supported' }
  }
  if (peer.demand === 'encrypted' || tls.problem === null) return null
  if (peer.login !== null) {
    return {
      class: 'tls',
      code: '4.7.5',
      message: `password not sent: the certificate of ${peerName(peer)} is not verified (${tls.problem}). If its SHA-256 fingerprint ${tls.fingerprint} is the expected one, add it to ${certificatesKey(peer)}`,
      tls: certificateFailure(tls.problem),
    }
  }
  return {
    class: 'tls',
    code: '4.7.5',
    message: `verified TLS is required, but the certificate of ${peerName(peer)} is not verified: ${tls.problem}`,
    tls: certificateFailure(tls.problem),
  }
}

const certificatesKey = ({ relay }: Peer) =>
  relay === undefined || relay === SMARTHOST
    ? 'delivery.smarthost_certificates'
    : `certificates of the relay "${relay}"`
