import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { SMTPServer } from 'smtp-server'
import type { Conversation } from './conversation.ts'
import { lineOf, REPLIES } from './replies.ts'
import { SmtpReply } from './reply.ts'
import { createTurns } from './turns.ts'

/** smtp-server's server with the seams it has for handlers, and two it has not: who may connect, and who then talks. */
export class ListenerServer<R> extends SMTPServer {
  mayConnect: (socket: Socket) => (() => void) | null = () => null
  begin: (
    socket: Socket | TLSSocket,
    options: ConstructorParameters<typeof Conversation>[2],
  ) => Conversation<R> | undefined = () => undefined
  /** Of all who bring mail by this door. */
  readonly turns = createTurns(TURN_BYTES)
  failed: (thrown: unknown) => SmtpReply = () => REPLIES.fault
  readonly #bySession = new WeakMap<object, Conversation<R>>()

  /** A socket in its TLS handshake is no conversation yet, but counts like one. It cannot be told why it is refused. */
  override _acceptSocket(socket: Socket, handshake: boolean): (() => void) | false {
    socket.on('error', () => {}) // between here and connect nobody else listens, and an RST would end the process
    if (!handshake) return super._acceptSocket(socket, handshake)
    const leave = this.mayConnect(socket)
    const release = leave === null ? false : super._acceptSocket(socket, handshake)
    if (leave === null || release === false) {
      leave?.()
      socket.destroy()
      return false
    }
    socket.once('close', leave)
    return () => {
      leave()
      release()
    }
  }

  override connect(socket: Socket | TLSSocket, options?: ConstructorParameters<typeof Conversation>[2]): void {
    const conversation = this.begin(socket, options)
    if (!conversation) return
    this.connections.add(conversation)
    this.#bySession.set(conversation.session, conversation)
    conversation.on('error', (error) => this._onError(error))
    conversation.init()
  }

  override onConnect: SMTPServer['onConnect'] = (session, callback) => {
    const conversation = this.#bySession.get(session)
    conversation?.begin().then(
      () => callback(),
      (thrown) => callback(libraryError(thrown instanceof SmtpReply ? thrown : greetingOf(this.failed(thrown)))),
    )
  }

  override onSecure: SMTPServer['onSecure'] = (socket, session, callback) => {
    this.#bySession.get(session)?.secured(socket)
    callback()
  }

  override onAuth: SMTPServer['onAuth'] = ({ username, password }, session, callback) => {
    this.#bySession
      .get(session)
      ?.login(username ?? '', password ?? '')
      .then(
        () => callback(null, { user: username || '?' }),
        (thrown) => callback(libraryError(this.failed(thrown))),
      )
  }
}

/** Looked through and on their way to the disk in some two milliseconds. */
const TURN_BYTES = 2 * 2 ** 20

/** SmtpReply as the library wants to be told. */
function libraryError(reply: SmtpReply): Error {
  return Object.assign(new Error(lineOf(reply).slice(4)), { responseCode: reply.code })
}

/** Instead of a greeting there may be 421, but no 451. RFC 5321 §4.3.2 */
const greetingOf = (reply: SmtpReply) => new SmtpReply(421, reply.enhanced, reply.text)
