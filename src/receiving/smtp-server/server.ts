import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { SMTPServer } from 'smtp-server'
import type { Conversation } from './conversation.ts'
import { lineOf, REPLIES } from './replies.ts'
import { SmtpReply } from './reply.ts'
import { createTurns } from './turns.ts'

/** smtp-server's server with its handlers and two additions: who may connect, and which class handles the
 *  connection. */
export class ListenerServer<R> extends SMTPServer {
  mayConnect: (socket: Socket) => (() => void) | null = () => null
  begin: (
    socket: Socket | TLSSocket,
    options: ConstructorParameters<typeof Conversation>[2],
  ) => Conversation<R> | undefined = () => undefined
  /** Shared by all connections of this listener. */
  readonly turns = createTurns(TURN_BYTES)
  failed: (thrown: unknown) => SmtpReply = () => REPLIES.fault
  readonly #bySession = new WeakMap<object, Conversation<R>>()

  /** A socket in its TLS handshake has no conversation yet but counts towards the limits. It cannot receive a reason
   *  when it is refused. */
  override _acceptSocket(socket: Socket, handshake: boolean): (() => void) | false {
    socket.on('error', () => {}) // until `connect` no other listener exists, and an RST would end the process
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

/** About two milliseconds of scanning and writing. */
const TURN_BYTES = 2 * 2 ** 20

/** SmtpReply → the error form that the library expects. */
function libraryError(reply: SmtpReply): Error {
  return Object.assign(new Error(lineOf(reply).slice(4)), { responseCode: reply.code })
}

/** The greeting may be replaced by 421 but not by 451. RFC 5321 §4.3.2 */
const greetingOf = (reply: SmtpReply) => new SmtpReply(421, reply.enhanced, reply.text)
