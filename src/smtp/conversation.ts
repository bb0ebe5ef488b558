import { isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { SMTPServer } from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { MailLog } from '../platform/maillog.ts'
import { clientOf } from './connections.ts'
import type { Deadlines, Due } from './deadlines.ts'
import { ClientGone, takeIn } from './intake.ts'
import { LOGIN, type LoginBrake } from './login.ts'
import { checkMailParameters, checkRecipientParameters } from './parameters.ts'
import { LIBRARY_CODES, lineOf, REPLIES, replyTo } from './replies.ts'
import { SmtpReply } from './reply.ts'
import type { SmtpDoor, SmtpSession, SpokenAddress } from './session.ts'
import type { ListenerSettings } from './settings.ts'
import { parseSpokenPath } from './spoken-address.ts'
import type { Spool } from './spool.ts'

/** What all conversations of one listener share. */
export interface Surroundings<R> {
  settings: ListenerSettings
  door: SmtpDoor<R>
  name: string
  clock: Clock
  log: Log
  mailLog: Pick<MailLog, 'refused'> | undefined
  spool: Spool
  brake: LoginBrake
  deadlines: Deadlines
  /** We are going: no new mail may begin. */
  stopping: () => boolean
  onGone: (conversation: Conversation<R>) => void
}

interface Transaction<R> {
  returnPath: SpokenAddress | null
  utf8: boolean
  recipients: { spoken: SpokenAddress; as: R }[]
}

/** How much nonsense one connection may say without delivering a mail. document: "Codes" */
const PATIENCE = { errors: 20, junk: 100 }

/** One client, from its greeting to its end. Of smtp-server it has the socket, the parser of lines and dots, STARTTLS and
 *  the login dialogue; the commands, every reply and all deadlines are here, for the library picks status codes by the
 *  reply code alone, takes source routes off silently and knows no deadline that a byte a minute would not put off.
 *  Lost: nothing after 250. Twice: a client that missed our 250 sends its mail again. */
export class Conversation<R> extends SMTPConnection implements Due {
  dueAt: number
  readonly who: SmtpSession
  readonly #around: Surroundings<R>
  readonly #leave: () => void
  #transaction: Transaction<R> | null = null
  /** A command is being answered, or a mail is coming in. */
  #busy = false
  #errors = 0
  #junk = 0
  #wrongLogins = 0
  #gone: AbortController | null = null

  constructor(
    server: SMTPServer,
    socket: Socket | TLSSocket,
    options: SMTPConnectionOptions | null | undefined,
    around: Surroundings<R>,
    leave: () => void,
  ) {
    super(server, socket, options)
    this.#around = around
    this.#leave = leave
    this.who = { id: this.id, remoteAddress: this.remoteAddress, helo: '', tls: tlsOf(socket), protocol: 'SMTP' }
    this.dueAt = around.clock.now() + around.settings.limits.idleMs
    around.deadlines.add(this)
  }

  /** Before the greeting. Throws what the door says. */
  async begin(): Promise<void> {
    await this.#around.door.onConnect?.(this.who)
  }

  /** TLS has begun: nothing said before counts. RFC 3207 §4.2 */
  secured(socket: Socket | TLSSocket): void {
    this.#transaction = null
    this.who.helo = ''
    this.who.tls = tlsOf(socket)
    this.#rest()
  }

  /** Resolves when the door knows user and password. Throws SmtpReply. */
  async login(user: string, password: string): Promise<void> {
    const { brake, door, log } = this.#around
    this.#gone ??= new AbortController()
    const ask = async () => door.onLogin?.(this.who, { user, password })
    try {
      await brake.attempt(this.who.remoteAddress, this.#gone.signal, ask, isWrongPassword)
    } catch (thrown) {
      if (this.#gone.signal.aborted) throw REPLIES.shutdown // nobody hears it
      const over = isWrongPassword(thrown) && ++this.#wrongLogins >= LOGIN.perConnection
      throw this.#noted(over ? REPLIES.tooManyLogins : replyTo(thrown, log))
    }
  }

  /** At once when nothing is under way, else as soon as it is done. */
  endSoon(): void {
    if (!this.#busy && this.#transaction === null) this.end()
  }

  /** 421, and the socket goes as soon as that is out. */
  end(): void {
    this.say(REPLIES.shutdown)
    this._socket.destroySoon()
  }

  /** Whatever is under way. */
  cut(): void {
    if (!this._closing) this.say(REPLIES.shutdown)
    this._socket.destroy()
  }

  expire(): void {
    if (this._upgrading) this._socket.destroy()
    else this.say(this._dataStream && this.#around.clock.now() >= this.#dataUntil ? REPLIES.tooSlow : REPLIES.idle)
  }

  say(reply: SmtpReply): void {
    this.send(reply.code, lineOf(reply).slice(4), false)
  }

  // ── what the library calls ──

  override send(code: number, text?: string | string[] | null, context?: string | false): void {
    if (code >= 500) this.#errors++
    const enhanced = context === false || typeof text !== 'string' || HAS_CODE.test(text) ? '' : LIBRARY_CODES[code]
    super.send(code, enhanced ? `${enhanced} ${text}` : text, false)
  }

  /** Its idle timers listen for any byte; ours are `dueAt`. */
  override _armTimeout(): void {}

  override _onClose(): void {
    super._onClose()
    this.#gone?.abort()
    this.#leave()
    this.#around.deadlines.remove(this)
    this.#around.onGone(this)
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    if (callback === undefined || this._closing || this._closed) return // the client has gone in the middle of a line
    if (this._upgrading) {
      callback() // said in clear behind STARTTLS: it was never said
      return
    }
    const end = this.#endBefore(command)
    if (end !== null) {
      this.say(end) // and no callback: not one more command is read
      return
    }
    this.dueAt = Number.POSITIVE_INFINITY
    this.#busy = true
    this.#answer(command)
      .then(
        (reply) => reply && this.say(reply),
        (thrown) => this.say(replyTo(thrown, this.#around.log)),
      )
      .finally(() => {
        this.#rest()
        this._whenWritable(callback)
      })
  }

  // ── the commands ──

  #endBefore(command: Buffer): SmtpReply | null {
    if (!this._ready) return REPLIES.tooEarly
    if (/^(OPTIONS|GET|HEAD|POST|PUT|DELETE|TRACE|CONNECT) .* HTTP\/\d/i.test(command.toString('latin1')))
      return REPLIES.http
    if (this.#errors >= PATIENCE.errors) return REPLIES.tooManyErrors
    return this.#junk >= PATIENCE.junk ? REPLIES.tooMuchJunk : null
  }

  /** A line of the client → our reply; null when it has been said, or is said later. */
  async #answer(line: Buffer): Promise<SmtpReply | null> {
    const loginStep = this._nextHandler
    if (loginStep) {
      this._nextHandler = false
      await new Promise<void>((resolve) => loginStep.call(this, line, resolve))
      return null
    }
    if (!isUtf8(line)) return REPLIES.notUtf8
    const [, verb = '', rest = ''] = /^([a-z]+)(?: +(.*?))? *$/is.exec(line.toString()) ?? []
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
        return this.#idleTalk(new SmtpReply(250, '2.0.0', 'still here'))
      case 'VRFY':
        return rest === '' ? REPLIES.syntax : this.#idleTalk(new SmtpReply(252, '2.0.0', 'send a mail and see'))
      case 'HELP':
        return this.#idleTalk(new SmtpReply(214, '2.0.0', 'RFC 5321 says it all'))
      case 'QUIT':
        this.say(new SmtpReply(221, '2.0.0', 'goodbye'))
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

  /** RFC 2034 §3: no enhanced codes here. */
  #hello(verb: 'EHLO' | 'HELO', name: string): null {
    this.#junk++
    if (!/^[^\x00-\x20\x7f-\x9f]{1,255}$/.test(name)) {
      this.send(501, `${verb} wants the name of your host`, false)
      return null
    }
    this._resetSession()
    this.#transaction = null
    this.openingCommand = verb
    this.hostNameAppearsAs = name
    this.who.helo = name
    this.who.protocol = this._transmissionType()
    const { settings, door } = this.#around
    const features = [
      'PIPELINING',
      '8BITMIME',
      'SMTPUTF8',
      'ENHANCEDSTATUSCODES',
      `SIZE ${settings.limits.messageBytes}`,
    ]
    if (!this.secure) features.push('STARTTLS')
    if (door.onLogin && this.#mayLogIn() && !this.session.user) features.push('AUTH PLAIN LOGIN')
    this.send(250, verb === 'EHLO' ? [settings.hostname, ...features] : settings.hostname, false)
    return null
  }

  async #mail(rest: string): Promise<SmtpReply> {
    const { door, settings } = this.#around
    if (!this.who.helo) return REPLIES.helloFirst
    if (door.onLogin && !this.session.user) return REPLIES.loginFirst
    if (this.#transaction !== null) return REPLIES.nestedMail
    const path = /^FROM:(.*)$/is.exec(rest)?.[1]
    if (path === undefined) return REPLIES.syntax
    const spoken = parseSpokenPath(path, (parameters) => parameters.has('SMTPUTF8'))
    const ours = { messageBytes: settings.limits.messageBytes, login: door.onLogin !== undefined }
    const utf8 = checkMailParameters(spoken.parameters, ours)
    this.who.protocol = protocolOf(this._transmissionType(), utf8)
    await door.onMailFrom?.(this.who, spoken.address)
    this.#transaction = { returnPath: spoken.address, utf8, recipients: [] }
    return new SmtpReply(250, '2.1.0', 'sender taken')
  }

  async #recipient(rest: string): Promise<SmtpReply> {
    const transaction = this.#transaction
    if (transaction === null) return this.who.helo ? REPLIES.mailFirst : REPLIES.helloFirst
    const path = /^TO:(.*)$/is.exec(rest)?.[1]
    if (path === undefined) return REPLIES.syntax
    try {
      const { address, parameters } = parseSpokenPath(path, () => transaction.utf8)
      checkRecipientParameters(parameters)
      if (address === null) return REPLIES.syntax
      const { recipients } = transaction
      if (!recipients.some(({ spoken }) => spoken.address === address.address)) {
        if (recipients.length >= this.#around.settings.limits.recipients) {
          return this.#idleTalk(this.#noted(REPLIES.tooManyRecipients))
        }
        const already = recipients.map((recipient) => recipient.as)
        recipients.push({ spoken: address, as: await this.#around.door.onRecipient(this.who, address, already) })
      }
      return new SmtpReply(250, '2.1.5', 'recipient taken')
    } catch (thrown) {
      return this.#noted(replyTo(thrown, this.#around.log))
    }
  }

  #data(): SmtpReply | null {
    const transaction = this.#transaction
    if (transaction === null) return this.who.helo ? REPLIES.mailFirst : REPLIES.helloFirst
    if (transaction.recipients.length === 0) return REPLIES.recipientFirst
    const parser = this._parser
    if (!parser) return null
    const stream = parser.startDataMode()
    this._dataStream = stream
    this.#dataUntil = this.#around.clock.now() + this.#around.settings.limits.dataMs
    this.send(354, 'end with CR LF . CR LF', false)
    void this.#takeMail(transaction, stream).then((reply) => {
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
    return null
  }

  #dataUntil = 0

  /** → what to say; null when nobody is there to hear it. Never rejects. */
  async #takeMail(transaction: Transaction<R>, stream: Parameters<typeof takeIn>[0]): Promise<SmtpReply | null> {
    const { spool, settings, clock, door, log } = this.#around
    const mail = spool.begin()
    try {
      const onPiece = () => (this.dueAt = Math.min(clock.now() + settings.limits.idleMs, this.#dataUntil))
      const sizeBytes = await takeIn(stream, mail, { messageBytes: settings.limits.messageBytes, onPiece })
      this.dueAt = Number.POSITIVE_INFINITY
      const { returnPath, recipients } = transaction
      const read = () => mail.read()
      const receivedAt = clock.now()
      const text = await door.onMail({ session: this.who, returnPath, recipients, sizeBytes, receivedAt, read })
      return new SmtpReply(250, '2.0.0', text)
    } catch (thrown) {
      return thrown instanceof ClientGone ? null : replyTo(thrown, log)
    } finally {
      await mail.discard()
    }
  }

  #reset(): SmtpReply {
    this.#transaction = null
    return this.#idleTalk(new SmtpReply(250, '2.0.0', 'begin anew'))
  }

  #startTls(line: Buffer, rest: string): SmtpReply | null {
    if (rest !== '') return REPLIES.noArgument
    if (this.secure) return REPLIES.tlsAlready
    this.handler_STARTTLS(line, () => {})
    return null
  }

  async #auth(line: Buffer): Promise<SmtpReply | null> {
    if (!this.#around.door.onLogin) return REPLIES.notImplemented
    if (!this.who.helo) return REPLIES.helloFirst
    if (!this.#mayLogIn()) return REPLIES.tlsFirst
    if (this.#transaction !== null) return REPLIES.notNow
    await new Promise<void>((resolve) => this.handler_AUTH(line, resolve))
    return null
  }

  #mayLogIn(): boolean {
    if (this.secure) return true
    const client = clientOf(this.who.remoteAddress)
    return !this.#around.settings.loginNeedsTls && (client.startsWith('127.') || this.who.remoteAddress === '::1')
  }

  /** A command that brings no mail nearer. */
  #idleTalk(reply: SmtpReply): SmtpReply {
    this.#junk++
    return reply
  }

  #noted(reply: SmtpReply): SmtpReply {
    const { mailLog, name } = this.#around
    mailLog?.refused({ door: name, address: this.who.remoteAddress, reply: lineOf(reply) })
    return reply
  }

  /** The next word is the client's. */
  #rest(): void {
    const { clock, settings, deadlines, stopping } = this.#around
    if (this._closing || this._closed) return
    this.#busy = Boolean(this._dataStream)
    this.dueAt = clock.now() + settings.limits.idleMs
    if (this._dataStream) this.dueAt = Math.min(this.dueAt, this.#dataUntil)
    deadlines.nearer(this)
    if (stopping()) this.endSoon()
  }
}

const HAS_CODE = /^[245]\.\d{1,3}\.\d{1,3} /
const isWrongPassword = (thrown: unknown) => thrown instanceof SmtpReply && thrown.code === 535

/** `TLSv1.3 TLS_AES_256_GCM_SHA384`, null in clear. */
function tlsOf(socket: Socket | TLSSocket): string | null {
  if (!('getCipher' in socket)) return null
  const cipher = socket.getCipher()
  return [socket.getProtocol(), cipher?.standardName ?? cipher?.name].filter(Boolean).join(' ')
}

/** RFC 6531 §4.3: ESMTPSA → UTF8SMTPSA. */
function protocolOf(plain: string, utf8: boolean): string {
  return utf8 ? plain.replace(/^E?SMTP/, 'UTF8SMTP') : plain
}
