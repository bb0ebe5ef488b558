import { readFileSync } from 'node:fs'
import { parseMailbox } from '../mail/address.ts'
import { isFinal, messageStatus } from '../model/message.ts'
import { systemClock } from '../os/clock.ts'
import type { Store } from '../storage/store.ts'
import { requireDomain } from './domain.ts'
import { CommandFailure, EXIT, type ExitCode, usageFault } from './failure.ts'
import { follow, recordOfStep, type Step, tellStep } from './follow.ts'
import { inOffice } from './office.ts'
import { complain, paintFor, print, printJson } from './print.ts'
import { isServed } from './serving.ts'

interface Options {
  config: string
  json?: true
  from: string
  to: string[]
  subject: string
  text?: string
  html?: string
  htmlFile?: string
  mode: string
  wait?: number
  follow?: true
}

/** Accepts one message straight into the store, by the rules of the API; a running server notices within a second.
 *  Prints what the API would answer. With `wait` looks until every recipient is final or the time is over, with `follow`
 *  prints a line at each step until they are: then exit code 1 unless all were delivered. */
export async function send(options: Options): Promise<ExitCode> {
  const html = options.htmlFile === undefined ? options.html : readHtml(options.htmlFile)
  return inOffice(options.config, async ({ config, store, operator }) => {
    const domain = await requireDomain(domainOf(options.from), store)
    const { from, to, subject, text } = options
    const accepted = await operator.run('messages_send', {
      organizationId: domain.organizationId,
      domainId: domain.id,
      mode: options.mode === 'test' ? 'test' : 'live',
      body: { from, to, subject, html, text },
    })
    const isWaiting = accepted.status === 'queued' && !isServed(config.dataDir)
    if (isWaiting) complain('no server runs on this data directory: the message waits until one does')
    if (options.follow) return followed(accepted, options, store)
    const seconds = isWaiting ? 0 : (options.wait ?? 0)
    // The message is on its way all the same; only the looking ends.
    if (seconds > 0) process.once('SIGINT', () => process.exit(EXIT.interrupted))
    const answer = seconds === 0 ? accepted : { ...accepted, ...(await outcome(String(accepted.id), seconds, store)) }
    if (options.json) printJson(answer)
    else print(told(answer))
    return options.wait === undefined || answer.status === 'delivered' ? EXIT.done : EXIT.failed
  })
}

/** Prints what becomes of the message, step by step. */
async function followed(accepted: Record<string, unknown>, { json }: Options, store: Store): Promise<ExitCode> {
  process.once('SIGINT', () => process.exit(EXIT.interrupted)) // the message is on its way all the same
  const id = String(accepted.id)
  const paint = paintFor(process.env, process.stdout.isTTY)
  if (json) printJson(accepted)
  else print(`${paint.dim(String(accepted.created_at).slice(11, 19))} ${'accepted'.padEnd(10)} ${id}`)
  const onStep = (step: Step) => (json ? printJson(recordOfStep(id, step)) : print(tellStep(step, paint)))
  const status = await follow(id, { store, clock: systemClock, onStep })
  return status === 'delivered' ? EXIT.done : EXIT.failed
}

/** How often a waiting command looks: a person cannot tell it from at once, and the store does not feel it. */
const LOOK_MS = 100

async function outcome(id: string, seconds: number, store: Store) {
  for (const endsAt = systemClock.now() + seconds * 1000; ; await systemClock.sleep(LOOK_MS)) {
    const deliveries = await store.messages.deliveries(id)
    const isOver = deliveries.every(({ status }) => isFinal(status))
    if (!isOver && systemClock.now() < endsAt) continue
    return {
      status: messageStatus(deliveries.map(({ status }) => status)),
      recipients: deliveries.map(({ email, type, status, smtpResponse }) => ({
        email,
        type,
        status,
        smtp_response: smtpResponse,
      })),
    }
  }
}

function domainOf(from: string): string {
  const mailbox = parseMailbox(from)
  if (mailbox === null)
    throw usageFault('from: expected one address such as ann@example.com or "Ann <ann@example.com>"')
  return mailbox.domain
}

function readHtml(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandFailure(`html-file: ${(error as Error).message}`, EXIT.usage)
  }
}

function told(answer: Record<string, unknown>): string {
  const recipients = answer.recipients as { email: string; status: string; smtp_response?: string | null }[]
  const lines = recipients.map((each) => `  ${each.email}  ${each.status}  ${each.smtp_response ?? ''}`.trimEnd())
  return [`${answer.id} is ${answer.status}`, ...lines].join('\n')
}
