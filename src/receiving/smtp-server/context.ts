import type { WallClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import type { MailLog } from '../../os/mail-log.ts'
import type { Memory } from '../../os/memory.ts'
import type { Deadlines } from './deadlines.ts'
import type { LoginThrottle } from './login.ts'
import type { SmtpHandler } from './session.ts'
import type { ListenerSettings } from './settings.ts'
import type { Spool } from './spool.ts'
import type { Stress } from './stress.ts'

/** What all conversations of one listener share. */
export interface ListenerContext<R> {
  settings: ListenerSettings
  handler: SmtpHandler<R>
  /** Listener name for the mail log. */
  name: string
  clock: WallClock
  log: Log
  mailLog: Pick<MailLog, 'refused'> | undefined
  spool: Spool
  memory: Memory
  loginThrottle: LoginThrottle
  deadlines: Deadlines
  stress: Stress
  /** True while the server stops: no new mail may start. */
  stopping: () => boolean
}
