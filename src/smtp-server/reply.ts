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

/** Words that may come from a mail or the DNS → one line of ASCII that fits a reply line (RFC 5321 §4.5.3.1.5: 512 octets);
 *  whatever else stands in them becomes `?`. */
export function replyText(words: string): string {
  return words.replace(/[^\x20-\x7e]+/g, '?').slice(0, 400)
}
