import type { Reply } from '../../mail/reply.ts'
import type { TlsFailure } from '../../model/tls-session.ts'

/** How far the dialogue with one server had come; `content` is everything from the 354 on. RFC 5321 §3. */
export type Stage = 'connect' | 'greeting' | 'ehlo' | 'starttls' | 'login' | 'mail' | 'rcpt' | 'data' | 'content'

/** Something other than a reply ended the dialogue. `code` is an enhanced status code of class 4; `message` is for
 *  people and never holds credentials. */
export interface Fault {
  class: 'network' | 'timeout' | 'tls' | 'protocol' | 'login'
  code: string
  message: string
  /** What was wrong with TLS, if that was it. */
  tls?: TlsFailure
}

/** What came of offering one mail to one server. */
export type Answer =
  /** The reply that decides: the refusal, or whatever was said to the final dot. */
  | { kind: 'reply'; stage: Stage; reply: Reply }
  /** `afterDot`: the whole mail was handed over before the connection was lost, so it may have been taken. */
  | { kind: 'fault'; stage: Stage; fault: Fault; afterDot: boolean }
  /** Not sent, because the server has said that it cannot take such a mail: too big, 8-bit, UTF-8 addresses. */
  | { kind: 'unfit'; code: string; message: string }

/** Fault before the mail was handed over. */
export function faultAt(stage: Stage, fault: Fault): Answer {
  return { kind: 'fault', stage, fault, afterDot: false }
}
