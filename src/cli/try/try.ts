import { systemClock } from '../../os/clock.ts'
import { createLog } from '../../os/log.ts'
import { paintFor, print, printJson } from '../print.ts'
import { untilSignal } from '../until-signal.ts'
import { freePorts } from './free-port.ts'
import { walkOnce } from './once.ts'
import { openTryOut, type TryOut, type TryPorts } from './open.ts'
import { describeTryOut, recordOf, tellCall, tellInbound, tellMail } from './tell.ts'

interface Options {
  once?: true
  json?: true
  port?: number
  forwardTo?: URL
}

/** `postrider try`: the whole appliance on loopback until Ctrl-C (130) or SIGTERM (0). `--once` walks one message
 *  through it and ends with 0 or 1. Without `--port` the API takes 8025 if it is free, else another, and SMTP likewise. */
export async function tryOut(options: Options): Promise<number> {
  const startedAt = systemClock.now()
  const ended = untilSignal()
  const paint = paintFor(process.env, process.stdout.isTTY)
  const log = createLog({ clock: systemClock, level: 'error', format: 'text' })
  if (options.once)
    return walkOnce({
      ports: { ...ANY, http: options.port ?? 0 },
      json: options.json === true,
      startedAt,
      paint,
      log,
      ended,
    })

  const isQuiet = options.json === true
  const say = (lines: string) => isQuiet || print(lines)
  const running = await openTryOut({
    ports: options.port === undefined ? await freePorts(USUAL) : { ...ANY, http: options.port },
    log,
    forwardTo: options.forwardTo,
    onMail: (mail) => say(tellMail(mail, paint)),
    onCall: (call) => say(tellCall(call, paint)),
    onInbound: (mail) => say(tellInbound(mail, paint)),
  })
  if (isQuiet) printJson(recordOf(running))
  else print(describeTryOut(running, systemClock.now() - startedAt, paint))
  return endOf(running, ended)
}

async function endOf(running: TryOut, ended: Promise<number>): Promise<number> {
  const code = await ended
  await running.stop()
  return code
}

const USUAL: TryPorts = { http: 8025, inbound: 2525, submission: 2587 }
const ANY: TryPorts = { http: 0, inbound: 0, submission: 0 }
