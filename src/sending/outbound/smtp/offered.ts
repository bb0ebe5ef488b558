import type { TlsFailure } from '../../../model/tls-session.ts'
import type { TlsFacts } from './dialogue.ts'
import type { Answer } from './reply.ts'

/** The server's answer and its connection. Times are on performance.now(). */
export interface Offered {
  answer: Answer
  sourceAddress: string | null
  tls: TlsFacts | null
  /** Whether this mail opened the connection, or tried to. */
  isFirst: boolean
  /** Why the mail went without TLS although the server offered it. */
  tlsTrouble?: TlsFailure
  /** When the dialogue started. Waiting for a free connection does not count towards the attempt. */
  startedMs: number
}
