/** Extensions that a server offers in its EHLO reply. RFC 5321 §4.1.1.1 */
export interface Extensions {
  pipelining: boolean
  /** BDAT. RFC 3030 §2 */
  chunking: boolean
  startTls: boolean
  eightBitMime: boolean
  smtpUtf8: boolean
  /** Whether MAIL accepts SIZE. */
  size: boolean
  /** Largest accepted mail; null if unstated or unlimited. RFC 1870 §6 */
  maxSizeBytes: number | null
  /** Upper-case names of AUTH mechanisms. */
  logins: string[]
}

export const NO_EXTENSIONS: Extensions = {
  pipelining: false,
  chunking: false,
  startTls: false,
  eightBitMime: false,
  smtpUtf8: false,
  size: false,
  maxSizeBytes: null,
  logins: [],
}

/** Text of an EHLO reply, lines joined by `\n`, the first being the greeting → Extensions. Keywords in any letter case;
 *  unknown ones are ignored; `AUTH=` of old servers counts as AUTH. Never throws. */
export function readExtensions(text: string): Extensions {
  const logins: string[] = []
  const extensions: Extensions = { ...NO_EXTENSIONS, logins }
  for (const line of text.split('\n').slice(1)) {
    const [keyword = '', ...parameters] = line.trim().toUpperCase().split(/[ =]+/)
    switch (keyword) {
      case 'PIPELINING':
        extensions.pipelining = true
        break
      case 'CHUNKING':
        extensions.chunking = true
        break
      case 'STARTTLS':
        extensions.startTls = true
        break
      case '8BITMIME':
        extensions.eightBitMime = true
        break
      case 'SMTPUTF8':
        extensions.smtpUtf8 = true
        break
      case 'SIZE':
        extensions.size = true
        extensions.maxSizeBytes = /^[1-9]\d{0,14}$/.test(parameters[0] ?? '') ? Number(parameters[0]) : null
        break
      case 'AUTH':
        for (const each of parameters) logins.push(each)
        break
    }
  }
  return extensions
}
