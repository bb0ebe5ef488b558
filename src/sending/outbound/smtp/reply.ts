import type { Reply } from '../../../mail/reply.ts'
import type { TlsFailure } from '../../../model/tls-session.ts'

/** The stage that a dialogue reached; `content` is everything after the 354. RFC 5321 §3 */
export type Stage = 'connect' | 'greeting' | 'ehlo' | 'starttls' | 'login' | 'mail' | 'rcpt' | 'data' | 'content'

/** Something other than a reply ended the dialogue. `code` is an enhanced status code of class 4; `message` is for
 *  people and never contains credentials. */
export interface Fault {
  class: 'network' | 'timeout' | 'tls' | 'protocol' | 'login'
  code: string
  message: string
  /** The TLS failure, if TLS failed. */
  tls?: TlsFailure
  /** True if this machine does not have the address to connect from. */
  isOfOurAddress?: boolean
}

/** Result of offering one mail to one server. */
export type Answer =
  /** The decisive reply: the refusal, or the reply to the final dot. */
  | { kind: 'reply'; stage: Stage; reply: Reply }
  /** `afterDot`: the complete mail was sent before the connection was lost, so the server may have accepted it. */
  | { kind: 'fault'; stage: Stage; fault: Fault; afterDot: boolean }
  /** Not sent, because the server does not accept such mail: too large, 8-bit, UTF-8 addresses. */
  | { kind: 'unfit'; code: string; message: string }

/** A fault before the mail was sent completely. */
export function faultAt(stage: Stage, fault: Fault): Answer {
  return { kind: 'fault', stage, fault, afterDot: false }
}
