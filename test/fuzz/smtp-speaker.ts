import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { PATIENCE_MS } from '../support/patience.ts'

type OnTaken = (text: string, content: string, recipients: number) => string | null

/** The client's side of an SMTP connection that sends anything at any time and matches replies to commands: each
 *  command gets one reply, in order, however it is split. A violation throws. RFC 5321, RFC 2920, RFC 3207, RFC
 *  4954. */
export class Speaker {
  #socket: Socket
  #heard = ''
  /** Sent and not answered yet, latin1. */
  #said = ''
  #state: 'command' | 'login' | 'content' | 'upgrading' | 'closed' = 'command'
  #greeted = false
  #helo = false
  #user = false
  #sender = false
  #recipients = 0
  #secure = false
  #fault: Error | null = null
  #wake: (() => void) | null = null
  /** What was sent in cleartext behind STARTTLS: it must be ignored. */
  #lost = false
  #onTaken: OnTaken

  private constructor(socket: Socket, onTaken: OnTaken) {
    this.#socket = socket
    this.#onTaken = onTaken
    this.#listen()
  }

  /** After the greeting. `onTaken` gets each 250 after DATA: its text, the intended content, how many recipients
   *  were accepted; it returns what is wrong. */
  static async to(port: number, onTaken: OnTaken): Promise<Speaker> {
    const socket = connectTcp(port, '127.0.0.1')
    const speaker = new Speaker(socket, onTaken)
    await speaker.#until(() => speaker.#greeted)
    return speaker
  }

  get isOpen(): boolean {
    return this.#state !== 'closed'
  }
  get isSecure(): boolean {
    return this.#secure
  }
  get isKnown(): boolean {
    return this.#user
  }

  /** Sends the pieces one after the other, resolves when every complete command among them is answered and TLS is
   *  active where it was requested. */
  async say(...pieces: string[]): Promise<void> {
    for (const piece of pieces) {
      if (this.#state === 'upgrading' || !this.isOpen || piece === '') continue
      this.#said += piece
      this.#socket.write(Buffer.from(piece, 'latin1'))
      if (pieces.length > 1) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    await this.#until(() => !this.isOpen || !this.#isOwed())
    if (this.#state === 'upgrading') await this.#startTls()
  }

  /** Completes a partial command, login or mail. */
  async endWhatBegan(): Promise<void> {
    while (this.isOpen && (this.#state !== 'command' || this.#said !== '')) {
      await this.say({ content: '\r\n.\r\n', login: '*\r\n', command: '\r\n' }[this.#state as 'command'])
    }
  }

  /** What any client may expect at any time: a separate session and an accepted mail; or the end of the connection,
   *  after too many errors before. */
  async handIn(login: string | null, recipient: string, mail: string): Promise<void> {
    if (login !== null && !this.#secure) await this.say('STARTTLS\r\n')
    const parts = [this.#helo ? 'RSET' : 'EHLO honest.example']
    if (login !== null && !this.#user) parts.push(login)
    parts.push('MAIL FROM:<s@sender.example>', `RCPT TO:<${recipient}>`, 'DATA', `${mail}.\r\n`)
    let isTaken = false
    const onTaken = this.#onTaken
    this.#onTaken = (...reported) => {
      isTaken = true
      return onTaken(...reported)
    }
    await this.say(parts.join('\r\n'))
    this.#onTaken = onTaken
    if (!isTaken && !/^421 4\.7\.0 too many (?:errors|commands|failed)/.test(this.#last.at(-1) ?? ''))
      throw new Error(`an honest mail was not taken: ${JSON.stringify(this.#last)}`)
  }

  destroy(): void {
    this.#state = 'closed'
    this.#socket.on('error', () => {})
    this.#socket.destroy()
  }

  #last: string[] = []

  #isOwed(): boolean {
    if (this.#state === 'upgrading') return false
    return this.#state === 'content' ? contentIn(this.#said) !== null : this.#said.includes('\r\n')
  }

  async #until(holds: () => boolean): Promise<void> {
    const late = setTimeout(() => this.#fail(`no answer to ${JSON.stringify(this.#said.slice(0, 300))}`), PATIENCE_MS)
    while (!holds() && this.#fault === null) await new Promise<void>((resolve) => (this.#wake = resolve))
    clearTimeout(late)
    if (this.#fault !== null) throw this.#fault
  }

  #fail(what: string): void {
    this.#fault ??= new Error(`${what}; the last replies: ${JSON.stringify(this.#last)}`)
    this.destroy()
    this.#wake?.()
  }

  #listen(): void {
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (bytes: Buffer) => {
      this.#heard += bytes.toString('latin1')
      this.#hear()
      this.#wake?.()
    })
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      if (this.#state !== 'closed' && this.#state !== 'upgrading')
        this.#fail('the connection was closed without a word')
      this.#wake?.()
    })
  }

  #hear(): void {
    for (let whole = WHOLE.exec(this.#heard); whole !== null; whole = WHOLE.exec(this.#heard)) {
      this.#heard = this.#heard.slice(whole[0].length)
      this.#last = [...this.#last.slice(-11), whole[0].trimEnd()]
      const fault = wellFormed(whole[0]) ?? this.#understand(Number(whole[0].slice(0, 3)), whole[0])
      if (fault !== null) this.#fail(fault)
    }
    if (this.#heard.length > 2_000) this.#fail(`no reply: ${JSON.stringify(this.#heard)}`)
  }

  /** A reply → what is wrong with it at this point. */
  #understand(code: number, reply: string): string | null {
    if (!this.#greeted) {
      this.#greeted = true
      return code === 220 ? null : `greeting ${reply}`
    }
    if (this.#state === 'closed' || this.#state === 'upgrading') return `a reply to nothing: ${reply}`
    if (code === 421) {
      this.#state = 'closed'
      return this.#isOwed() || this.#said.length > 16_384 ? null : `an end to nothing: ${reply}`
    }
    if (this.#state === 'content') return this.#afterContent(code, reply)
    const end = this.#said.indexOf('\r\n') // RFC 5321 §2.3.8: a bare LF ends no command
    if (end < 0) return `a reply to nothing: ${reply}`
    const line = this.#said.slice(0, end)
    this.#said = this.#said.slice(end + 2)
    if (this.#state === 'login') return this.#afterLogin(code, reply)
    const verb = /^[ \t]*([a-z]+)(?:[ \t]|$)/i.exec(line)?.[1]?.toUpperCase() ?? ''
    const fault = this.#afterCommand(verb, code)
    return fault === null ? null : `${fault} after ${JSON.stringify(line)}: ${reply}`
  }

  #afterContent(code: number, reply: string): string | null {
    const content = contentIn(this.#said)
    if (content === null) return `a reply before the end of the mail: ${reply}`
    this.#said = this.#said.slice(content.length)
    this.#state = 'command'
    const recipients = this.#recipients
    this.#endTransaction()
    if (code === 250) return this.#onTaken(reply.trimEnd(), undotted(content), recipients)
    return code >= 400 ? null : `after a mail ${reply}`
  }

  #afterLogin(code: number, reply: string): string | null {
    if (code === 334) return null
    this.#state = 'command'
    if (code === 235) this.#user = true
    return code === 235 || code >= 400 ? null : `in a login ${reply}`
  }

  #endTransaction(): void {
    this.#sender = false
    this.#recipients = 0
  }

  #afterCommand(verb: string, code: number): string | null {
    if (code >= 400) return code < 600 ? null : 'no code of SMTP'
    switch (`${verb} ${code}`) {
      case 'EHLO 250':
      case 'HELO 250':
        this.#helo = true
        this.#endTransaction()
        return null
      case 'MAIL 250':
        if (!this.#helo || this.#sender) return 'MAIL out of order'
        this.#sender = true
        return null
      case 'RCPT 250':
        if (!this.#sender) return 'RCPT without MAIL'
        this.#recipients++
        return null
      case 'DATA 354':
        if (this.#recipients === 0) return 'DATA without RCPT'
        this.#state = 'content'
        return null
      case 'RSET 250':
        this.#endTransaction()
        return null
      case 'NOOP 250':
      case 'VRFY 252':
      case 'HELP 214':
        return null
      case 'QUIT 221':
        this.#state = 'closed'
        return null
      case 'AUTH 235':
      case 'AUTH 334':
        if (!this.#secure || !this.#helo || this.#user) return 'a login out of order'
        if (code === 235) this.#user = true
        else this.#state = 'login'
        return null
      case 'STARTTLS 220':
        if (this.#secure) return 'TLS within TLS'
        this.#state = 'upgrading'
        this.#lost = this.#said !== ''
        this.#said = ''
        return null
      default:
        return 'a wrong yes'
    }
  }

  /** A client that continued in cleartext may find the handshake broken; one that did not has TLS, and everything
   *  said before is reset. */
  async #startTls(): Promise<void> {
    const plain = this.#socket
    plain.removeAllListeners()
    plain.on('error', () => {})
    const secure = await new Promise<Socket | null>((resolve) => {
      const over = () => resolve(null)
      const late = setTimeout(over, PATIENCE_MS)
      const socket = connectTls({ socket: plain, rejectUnauthorized: false }, () => {
        clearTimeout(late)
        resolve(socket)
      })
      socket.on('error', over)
      socket.on('close', over)
    })
    if (secure === null) {
      if (!this.#lost) this.#fail('no TLS after STARTTLS')
      this.destroy()
      return
    }
    secure.removeAllListeners('close')
    this.#socket = secure
    this.#state = 'command'
    this.#secure = true
    this.#helo = false
    this.#user = false
    this.#endTransaction()
    this.#listen()
  }
}

const WHOLE = /^(?:\d{3}-[^\n]*\n)*(?!\d{3}-)[^\n]*\n/

/** From the start of a mail to after its final dot; null while it is incomplete. */
function contentIn(said: string): string | null {
  if (said.startsWith('.\r\n')) return '.\r\n'
  const end = said.indexOf('\r\n.\r\n')
  return end < 0 ? null : said.slice(0, end + 5)
}

/** RFC 5321 §4.5.2, except that smtp-server keeps the dot of a line without a second dot; a client that stuffs dots
 *  sends no such line. */
const undotted = (content: string) => content.slice(0, -3).replace(/(^|\r\n)\.\./g, '$1.')

/** RFC 5321 §4.2, §4.5.3.1.5; RFC 2034: the enhanced code is of the class of the reply, on every line. */
function wellFormed(reply: string): string | null {
  for (const line of reply.split('\r\n').slice(0, -1)) {
    if (!/^[2-5]\d\d(?:[ -][ -~]*)?$/.test(line) || line.length > 510)
      return `no line of a reply: ${JSON.stringify(line)}`
    const enhanced = /^\d{3}[ -]([245])\.\d{1,3}\.\d{1,3} /.exec(line)?.[1]
    if (enhanced !== undefined && enhanced !== line[0]) return `two classes in one reply: ${line}`
    const isBare = /^(?:220|250|354|334|501)/.test(line)
    if (enhanced === undefined && !isBare) return `no enhanced code: ${line}`
  }
  const codes = new Set(reply.match(/^\d{3}/gm))
  return codes.size === 1 ? null : `two codes in one reply: ${reply}`
}
