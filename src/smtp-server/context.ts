import type { WallClock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import type { MailLog } from '../os/mail-log.ts'
import type { Memory } from '../os/memory.ts'
import type { Deadlines } from './deadlines.ts'
import type { LoginBrake } from './login.ts'
import type { SmtpDoor } from './session.ts'
import type { ListenerSettings } from './settings.ts'
import type { Spool } from './spool.ts'
import type { Stress } from './stress.ts'

/** What all conversations of one listener share. */
export interface Surroundings<R> {
  settings: ListenerSettings
  door: SmtpDoor<R>
  /** Which door, for the mail log. */
  name: string
  clock: WallClock
  log: Log
  mailLog: Pick<MailLog, 'refused'> | undefined
  spool: Spool
  memory: Memory
  brake: LoginBrake
  deadlines: Deadlines
  stress: Stress
  /** We are going: no new mail may begin. */
  stopping: () => boolean
}
