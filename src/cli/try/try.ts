import { createServer } from 'node:net'
import { systemClock } from '../../os/clock.ts'
import { createLog } from '../../os/log.ts'
import { colorsFor, print, printJson } from '../print.ts'
import { untilSignal } from '../until-signal.ts'
import { describeTryOut, formatCall, formatInbound, formatMail, recordOf } from './format.ts'
import { openTryOut, type TryOut, type TryPorts } from './open.ts'
import { runOnce } from './single-run.ts'

interface Options {
  once?: true
  json?: true
  port?: number
  forwardTo?: URL
}

/** `postrider try`: runs everything on loopback until Ctrl-C (returns 130) or SIGTERM (returns 0). With `once` it sends
 *  one message and returns 0 or 1. Without `port` the API uses port 8025 or, if that is in use, any free port; the SMTP
 *  listeners do the same with 2525 and 2587. Throws CommandFailure if `port` is in use. */
export async function tryOut(options: Options): Promise<number> {
  const startedAt = systemClock.now()
  const ended = untilSignal()
  const colors = colorsFor()
  const log = createLog({ clock: systemClock, level: 'error', format: 'text' })
  if (options.once)
    return runOnce({
      ports: { ...ANY, http: options.port ?? 0 },
      json: options.json === true,
      startedAt,
      colors,
      log,
      ended,
    })

  const isQuiet = options.json === true
  const show = (lines: string) => isQuiet || print(lines)
  const running = await openTryOut({
    ports: options.port === undefined ? await freePorts(USUAL) : { ...ANY, http: options.port },
    log,
    forwardTo: options.forwardTo,
    onMail: (mail) => show(formatMail(mail, colors)),
    onCall: (call) => show(formatCall(call, colors)),
    onInbound: (mail) => show(formatInbound(mail, colors)),
  })
  if (isQuiet) printJson(recordOf(running))
  else print(describeTryOut(running, systemClock.now() - startedAt, colors))
  return endOf(running, ended)
}

async function endOf(running: TryOut, ended: Promise<number>): Promise<number> {
  const code = await ended
  await running.stop()
  return code
}

/** Replaces ports that are in use on 127.0.0.1 with 0, which means any free port. Fixed ports keep
 *  copied commands valid. */
async function freePorts({ http, inbound, submission }: TryPorts): Promise<TryPorts> {
  return { http: await ifFree(http), inbound: await ifFree(inbound), submission: await ifFree(submission) }
}

function ifFree(port: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(0))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(port)))
  })
}

const USUAL: TryPorts = { http: 8025, inbound: 2525, submission: 2587 }
const ANY: TryPorts = { http: 0, inbound: 0, submission: 0 }
