/** An answer of ours in an SMTP dialogue that is not the usual one; thrown by whoever decides, spoken by the listener.
 *  RFC 5321 §4.2, RFC 2034. */
export class SmtpReply extends Error {
  readonly code: number
  /** `5.7.1` */
  readonly enhanced: string
  /** One line of ASCII. */
  readonly text: string

  constructor(code: number, enhanced: string, text: string) {
    super(`${code} ${enhanced} ${text}`)
    this.code = code
    this.enhanced = enhanced
    this.text = text
  }
}
