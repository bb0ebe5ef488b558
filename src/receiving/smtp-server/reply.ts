/** An SMTP reply that ends normal processing. Any code may throw it; the listener sends it. RFC 5321 §4.2, RFC 2034. */
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

/** Text from a mail or from DNS → one line of ASCII that fits a reply line (512 octets, RFC 5321 §4.5.3.1.5). Other
 *  characters become `?`. */
export function replyText(words: string): string {
  return words.replace(/[^\x20-\x7e]+/g, '?').slice(0, 400)
}
