import { isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { SMTPServer } from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import type { SMTPStream } from 'smtp-server/lib/smtp-stream.js'
import { trimBlanks } from '../../mail/blanks.ts'
import { clientOf } from '../../net/ip.ts'
import { visible } from '../../net/visible-text.ts'
import type { ListenerContext } from './context.ts'
import type { Due } from './deadlines.ts'
import { LOGIN } from './login.ts'
import { MailStream } from './mail-stream.ts'
import { LIBRARY_CODES, lineOf, REPLIES, replyTo } from './replies.ts'
import { SmtpReply } from './reply.ts'
import type { SmtpSession } from './session.ts'
import { addRecipient, beginTransaction, type Transaction, takeMail } from './transaction.ts'
import type { Turns } from './turns.ts'

/** smtp-server's server, with the turns that its connections share. */
type TurnServer = SMTPServer & { readonly turns: Turns }

/** Errors, and commands that do not advance a transaction, before a connection is closed; lower values apply under
 *  stress. */
const TOLERANCE = { errors: 20, junk: 100 }
const STRESSED_TOLERANCE = { errors: 3, junk: 10 }

/** One client connection, from greeting to close. smtp-server supplies the socket, the parser, STARTTLS and the AUTH
 *  dialogue. This class supplies the commands, every reply and all deadlines, because the library derives enhanced
 *  codes from the reply code alone, silently drops source routes, and has no deadline that survives one byte a minute.
 *  Lost: nothing after 250. Twice: a client that misses our 250 sends the mail again. */
export class Conversation<R> extends SMTPConnection implements Due {
  dueAt: number
  readonly client: SmtpSession
  readonly #context: ListenerContext<R>
  readonly #onGone: (conversation: Conversation<R>) => void
  #transaction: Transaction<R> | null = null
  /** A command is being answered, or DATA is being received. */
  #busy = false
  #errors = 0
  #junk = 0
  #wrongLogins = 0
  #waitsSince = 0
  #dataUntil = 0
  #dataEndsAt = 0
  #gone: AbortController | null = null

  constructor(
    server: TurnServer,
    socket: Socket | TLSSocket,
    options: SMTPConnectionOptions | null | undefined,
    context: ListenerContext<R>,
    onClosed: (conversation: Conversation<R>) => void,
  ) {
    super(server, socket, options)
    this.#context = context
    this.#onGone = onClosed
    this.client = { id: this.id, remoteAddress: this.remoteAddress, helo: '', tls: tlsOf(socket), protocol: 'SMTP' }
    this.#waitsSince = context.clock.steady.now()
    this.dueAt = this.#waitsSince + this.#idleMs()
    context.deadlines.add(this)
  }

  /** Runs before the greeting. Throws what the handler throws. */
  async begin(): Promise<void> {
    await this.#context.handler.onConnect?.(this.client)
  }

  /** TLS is established: discard everything the client sent before. RFC 3207 §4.2 */
  secured(socket: Socket | TLSSocket): void {
    this.#transaction = null
    this.client.helo = ''
    this.client.tls = tlsOf(socket)
    this.#rest()
  }

  /** Resolves when the handler accepts user and password. Throws SmtpReply. */
  async login(user: string, password: string): Promise<void> {
    const { loginThrottle, handler, log } = this.#context
    this.#gone ??= new AbortController()
    const ask = async () => handler.onLogin?.(this.client, { user, password })
    try {
      await loginThrottle.attempt(this.client.remoteAddress, this.#gone.signal, ask, isWrongPassword)
    } catch (thrown) {
      if (this.#gone.signal.aborted) throw REPLIES.shutdown // the client has disconnected
      const over = isWrongPassword(thrown) && ++this.#wrongLogins >= LOGIN.perConnection
      throw this.#noted(over ? REPLIES.tooManyLogins : replyTo(thrown, log))
    }
  }

  /** Closes the connection now if it is idle, else when the current work ends. */
  endWhenIdle(): void {
    if (!this.#busy && this.#transaction === null) this.end()
  }

  /** Since when the connection waits for a command outside a transaction (steady clock); null otherwise. An idle
   *  connection can be closed without losing mail. */
  idleSince(): number | null {
    const isWaiting = !this.#busy && this.#transaction === null && !this._dataStream && !this._upgrading
    return isWaiting ? this.#waitsSince : null
  }

  /** Closes the connection to free its place for another client. */
  evict(): void {
    this.say(REPLIES.closingIdle)
    this._socket.destroySoon()
  }

  /** Applies the stressed idle limit to a wait that has already started. */
  shortenDeadline(): void {
    if (this.dueAt === Number.POSITIVE_INFINITY) return
    this.dueAt = Math.min(this.dueAt, this.#waitsSince + this.#idleMs())
    this.#context.deadlines.nearer(this)
  }

  /** Sends 421, then closes the socket. */
  end(): void {
    this.say(REPLIES.shutdown)
    this._socket.destroySoon()
  }

  /** Closes the connection whatever it is doing. */
  cut(): void {
    if (!this._closing) this.say(REPLIES.shutdown)
    this._socket.destroy()
  }

  expire(): void {
    if (this._upgrading) this._socket.destroy()
    else
      this.say(this._dataStream && this.#context.clock.steady.now() >= this.#dataUntil ? REPLIES.tooSlow : REPLIES.idle)
  }

  say(reply: SmtpReply): void {
    this.send(reply.code, lineOf(reply).slice(4), false)
  }

  // ── methods the library calls ──

  /** Creates our own DATA reader. The library calls this from its constructor. */
  override _createParser(): SMTPStream {
    const parser = new MailStream((this._server as TurnServer).turns)
    parser.oncommand = (command, callback) => this._onCommand(command, callback)
    parser.on('error', (error) => this.send(421, `Error: ${error.message}`))
    return parser
  }

  override send(code: number, text?: string | string[] | null, context?: string | false): void {
    if (code >= 500) this.#errors++
    const enhanced = context === false || typeof text !== 'string' || HAS_CODE.test(text) ? '' : LIBRARY_CODES[code]
    super.send(code, enhanced ? `${enhanced} ${text}` : text, false)
  }

  /** Disables the library's idle timers, which any byte resets; `dueAt` replaces them. */
  override _armTimeout(): void {}

  override _onClose(): void {
    super._onClose()
    this.#gone?.abort()
    this.#context.deadlines.remove(this)
    this.#onGone(this)
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    // the client disconnected in the middle of a line
    if (callback === undefined || this._closing || this._closed) return
    if (this._upgrading) {
      callback() // sent in cleartext behind STARTTLS: ignore it (RFC 3207 §4.2)
      return
    }
    const end = this.#endBefore(command)
    if (end !== null) {
      this.say(end) // and no callback: no further command is read
      return
    }
    this.#waitForUs()
    this.#busy = true
    this.#answer(command)
      .then(
        (reply) => reply && this.say(reply),
        (thrown) => this.say(replyTo(thrown, this.#context.log)),
      )
      .finally(() => {
        this.#rest()
        // Most commands need no wait. Without turns, one packet of RCPT commands held the thread until it was used up.
        ;(this._server as TurnServer).turns.take(COMMAND_BYTES, () => this._whenWritable(callback))
      })
      .catch((thrown) => this.#broken(thrown))
  }

  // ── SMTP commands ──

  #endBefore(command: Buffer): SmtpReply | null {
    if (!this._ready) return REPLIES.tooEarly
    if (/^(OPTIONS|GET|HEAD|POST|PUT|DELETE|TRACE|CONNECT) .* HTTP\/\d/i.test(command.toString('latin1')))
      return REPLIES.http
    const tolerance = this.#context.stress.isOn() ? STRESSED_TOLERANCE : TOLERANCE
    if (this.#errors >= tolerance.errors) return REPLIES.tooManyErrors
    return this.#junk >= tolerance.junk ? REPLIES.tooMuchJunk : null
  }

  /** One client line → our reply; null when the reply has been sent or is sent later. */
  async #answer(line: Buffer): Promise<SmtpReply | null> {
    const loginStep = this._nextHandler
    this._nextHandler = false
    if (line.includes(CR) || line.includes(LF)) return REPLIES.bareLineEnd // one error, however much the line contains
    if (loginStep) {
      await new Promise<void>((resolve) => loginStep.call(this, line, resolve))
      return null
    }
    // Blanks and tabs around the verb have no meaning, as for Postfix.
    const [, verb = '', behind = ''] = /^[ \t]*([a-z]+)(?:[ \t](.*))?$/is.exec(line.toString()) ?? []
    if (!isUtf8(line) && !/^(?:EHLO|HELO)$/i.test(verb)) return REPLIES.notUtf8
    const rest = trimBlanks(behind, ' \t')
    switch (verb.toUpperCase()) {
      case 'EHLO':
        return this.#hello('EHLO', rest)
      case 'HELO':
        return this.#hello('HELO', rest)
      case 'MAIL':
        return this.#mail(rest)
      case 'RCPT':
        return this.#recipient(rest)
      case 'DATA':
        return rest === '' ? this.#data() : REPLIES.noArgument
      case 'RSET':
        return rest === '' ? this.#reset() : REPLIES.noArgument
      case 'NOOP':
        return this.#idleTalk(new SmtpReply(250, '2.0.0', 'ok'))
      case 'VRFY':
        return rest === ''
          ? REPLIES.syntax
          : this.#idleTalk(new SmtpReply(252, '2.0.0', 'cannot verify, send a message to test the address'))
      case 'HELP':
        return this.#idleTalk(new SmtpReply(214, '2.0.0', 'see RFC 5321'))
      case 'QUIT':
        this.say(new SmtpReply(221, '2.0.0', 'closing connection'))
        this.close()
        return null
      case 'STARTTLS':
        return this.#startTls(line, rest)
      case 'AUTH':
        return this.#auth(line)
      case 'EXPN':
      case 'ETRN':
      case 'BDAT':
      case 'TURN':
        return REPLIES.notImplemented
      default:
        return REPLIES.unknownCommand
    }
  }

  /** Any name is accepted, as by Postfix: computers send theirs, with blanks and in any charset. Replies to EHLO and HELO
   *  carry no enhanced codes. RFC 2034 §3 */
  #hello(verb: 'EHLO' | 'HELO', spoken: string): null {
    this.#junk++
    const name = visible(spoken.slice(0, LONGEST_NAME))
    if (name === '') {
      this.send(501, `${verb} requires your hostname`, false)
      return null
    }
    this._resetSession()
    this.#transaction = null
    this.openingCommand = verb
    this.hostNameAppearsAs = name
    this.client.helo = name
    this.client.protocol = this._transmissionType()
    const { settings, handler } = this.#context
    const features = [
      'PIPELINING',
      '8BITMIME',
      'SMTPUTF8',
      'ENHANCEDSTATUSCODES',
      `SIZE ${settings.limits.messageBytes}`,
    ]
    if (!this.secure) features.push('STARTTLS')
    if (handler.onLogin && this.#mayLogIn() && !this.session.user) features.push('AUTH PLAIN LOGIN')
    this.send(250, verb === 'EHLO' ? [settings.hostname, ...features] : settings.hostname, false)
    return null
  }

  async #mail(rest: string): Promise<SmtpReply> {
    if (!this.client.helo) return REPLIES.helloFirst
    if (this.#context.handler.onLogin && !this.session.user) return REPLIES.loginFirst
    if (this.#transaction !== null) return REPLIES.nestedMail
    this.#transaction = await beginTransaction(rest, this.client, this.#context, this._transmissionType())
    return REPLIES.senderOk
  }

  async #recipient(rest: string): Promise<SmtpReply> {
    if (this.#transaction === null) return this.client.helo ? REPLIES.mailFirst : REPLIES.helloFirst
    try {
      const before = this.#transaction.recipients.length
      await addRecipient(this.#transaction, rest, this.client, this.#context)
      const isRepeated = this.#transaction?.recipients.length === before
      return isRepeated ? this.#idleTalk(REPLIES.recipientOk) : REPLIES.recipientOk
    } catch (thrown) {
      const reply = this.#noted(replyTo(thrown, this.#context.log))
      // a 4yz is not an error, but does not advance the transaction
      return reply === REPLIES.tooManyRecipients ? this.#idleTalk(reply) : reply
    }
  }

  #data(): SmtpReply | null {
    const transaction = this.#transaction
    if (transaction === null) return this.client.helo ? REPLIES.mailFirst : REPLIES.helloFirst
    if (transaction.recipients.length === 0) return REPLIES.recipientFirst
    if (this.#context.memory.isShort()) return this.#noted(REPLIES.noMemory)
    const parser = this._parser
    if (!parser) return null
    const stream = parser.startDataMode()
    this._dataStream = stream
    const { clock, settings } = this.#context
    const { dataMs } = settings.limits
    this.#dataEndsAt = clock.steady.now() + dataMs
    this.#dataUntil = clock.steady.now() + Math.min(this.#idleMs(), dataMs)
    this.send(354, 'end data with <CRLF>.<CRLF>', false)
    const progress = {
      onPiece: (bytes: number) => {
        this.#dataUntil = Math.min(this.#dataUntil + bytes / SLOWEST_BYTES_A_MS, this.#dataEndsAt)
        this.#waitForClient()
      },
      onWhole: () => this.#waitForUs(),
    }
    takeMail(transaction, stream, this.client, this.#context, progress)
      .then((reply) => {
        this._dataStream = false
        this.#transaction = null
        if (reply === null || this._closed) return
        if (reply.code < 300) {
          this.#errors = 0
          this.#junk = 0
        } else this.#noted(reply)
        this.say(reply)
        this.#rest()
        parser.continue()
      })
      .catch((thrown) => this.#broken(thrown))
    return null
  }

  #reset(): SmtpReply {
    this.#transaction = null
    return this.#idleTalk(new SmtpReply(250, '2.0.0', 'reset ok'))
  }

  #startTls(line: Buffer, rest: string): SmtpReply | null {
    if (rest !== '') return REPLIES.noArgument
    if (this.secure) return REPLIES.tlsAlready
    this.handler_STARTTLS(line, () => {})
    return null
  }

  async #auth(line: Buffer): Promise<SmtpReply | null> {
    if (!this.#context.handler.onLogin) return REPLIES.notImplemented
    if (!this.client.helo) return REPLIES.helloFirst
    if (!this.#mayLogIn()) return REPLIES.tlsFirst
    if (this.#transaction !== null) return REPLIES.notNow
    await new Promise<void>((resolve) => this.handler_AUTH(line, resolve))
    return null
  }

  #mayLogIn(): boolean {
    if (this.secure) return true
    const client = clientOf(this.client.remoteAddress)
    return !this.#context.settings.loginNeedsTls && (client.startsWith('127.') || this.client.remoteAddress === '::1')
  }

  /** Counts a command that does not advance a transaction. */
  #idleTalk(reply: SmtpReply): SmtpReply {
    this.#junk++
    return reply
  }

  #noted(reply: SmtpReply): SmtpReply {
    const { mailLog, name } = this.#context
    mailLog?.refused({ listener: name, address: this.client.remoteAddress, reply: lineOf(reply) })
    return reply
  }

  /** Waits for the next client command. */
  #rest(): void {
    if (this._closing || this._closed) return
    this.#busy = Boolean(this._dataStream)
    this.#waitForClient()
    this.#context.deadlines.nearer(this)
    if (this.#context.stopping()) this.endWhenIdle()
  }

  #waitForClient(): void {
    this.#waitsSince = this.#context.clock.steady.now()
    const idleAt = this.#waitsSince + this.#idleMs()
    this.dueAt = this._dataStream ? Math.min(idleAt, this.#dataUntil) : idleAt
  }

  #idleMs(): number {
    const { settings, stress } = this.#context
    return stress.isOn() ? settings.limits.stressedIdleMs : settings.limits.idleMs
  }

  #waitForUs(): void {
    this.dueAt = Number.POSITIVE_INFINITY
  }

  /** An error in this class or in the library: closes this connection and keeps the process running. */
  #broken(thrown: unknown): void {
    this.#context.log.error('SMTP connection failed', { error: thrown })
    this._socket.destroy()
  }
}

/** Clients at this speed or faster get the full `dataMs`; slower ones get little more than the idle limit. */
const SLOWEST_BYTES_A_MS = 16

/** Cost of one command in bytes of a turn (turns.ts): about 30 commands per turn over all connections. */
const COMMAND_BYTES = 65_536

/** Characters of an EHLO name that are kept. RFC 5321 §4.5.3.1.2 */
const LONGEST_NAME = 255

const CR = 13
const LF = 10

const HAS_CODE = /^[245]\.\d{1,3}\.\d{1,3} /
const isWrongPassword = (thrown: unknown) => thrown instanceof SmtpReply && thrown.code === 535

/** `TLSv1.3 TLS_AES_256_GCM_SHA384`; null without TLS. */
function tlsOf(socket: Socket | TLSSocket): string | null {
  if (!('getCipher' in socket)) return null
  const cipher = socket.getCipher()
  return [socket.getProtocol(), cipher?.standardName ?? cipher?.name].filter(Boolean).join(' ')
}
