import { createServer } from 'node:net'
import { systemClock } from '../../platform/clock.ts'
import { createLog } from '../../platform/log.ts'
import { EXIT } from '../failure.ts'
import { paintFor, print, printJson } from '../print.ts'
import { walkOnce } from './once.ts'
import { openTryOut, type TryOut } from './open.ts'
import { describeTryOut, recordOf, tellCall, tellMail } from './tell.ts'

interface Options {
  once?: true
  json?: true
  port?: number
  forwardTo?: URL
}

/** `postrider try`: the whole appliance on loopback until Ctrl-C (130) or SIGTERM (0). `--once` walks one message
 *  through it and ends with 0 or 1. Without `--port` the API takes 8025 if it is free, else another. */
export async function tryOut(options: Options): Promise<number> {
  const startedAt = systemClock.now()
  const ended = untilSignal()
  const paint = paintFor(process.env, process.stdout.isTTY)
  const log = createLog({ clock: systemClock, level: 'error', format: 'text' })
  if (options.once)
    return walkOnce({ port: options.port ?? 0, json: options.json === true, startedAt, paint, log, ended })

  const isQuiet = options.json === true
  const say = (lines: string) => isQuiet || print(lines)
  const running = await openTryOut({
    port: options.port ?? (await freePort()),
    log,
    forwardTo: options.forwardTo,
    onMail: (mail) => say(tellMail(mail, paint)),
    onCall: (call) => say(tellCall(call, paint)),
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

/** Resolves at the first SIGINT with 130, at SIGTERM or SIGHUP with 0; a second signal does not wait. */
function untilSignal(): Promise<number> {
  return new Promise((resolve) => {
    let isEnding = false
    const end = (code: number) => () => {
      if (isEnding) process.exit(code)
      isEnding = true
      resolve(code)
    }
    process.on('SIGINT', end(EXIT.interrupted))
    process.on('SIGTERM', end(EXIT.done))
    process.on('SIGHUP', end(EXIT.done)) // the terminal was closed
  })
}

const USUAL_PORT = 8025

/** 8025, so that lines copied yesterday work today; 0 = any, when somebody has it. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(0))
    probe.listen(USUAL_PORT, '127.0.0.1', () => probe.close(() => resolve(USUAL_PORT)))
  })
}
