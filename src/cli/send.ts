import { readFileSync } from 'node:fs'
import type { AcceptedMessage } from '../client/types.ts'
import { parseMailbox } from '../mail/address.ts'
import { isFinal, messageStatus } from '../model/message.ts'
import { systemClock } from '../os/clock.ts'
import { messageOf } from '../os/thrown.ts'
import type { Store } from '../storage/store.ts'
import { withCliContext } from './cli-context.ts'
import { requireDomain } from './domain.ts'
import { CommandFailure, EXIT, type ExitCode, usageFault } from './failure.ts'
import { follow, formatStep, recordOfStep, type Step } from './follow.ts'
import { colorsFor, print, printError, printJson } from './print.ts'
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

/** Validates one message as the API does, queues it in the store and prints the API's response. A running server starts
 *  the delivery within a second. `wait` waits at most that many seconds until every recipient has a final status;
 *  `follow` prints each step. Both return 1 unless every recipient is `delivered`. Throws CommandFailure for an unknown
 *  domain or an unreadable file, and Refusal as the API does. */
export async function send(options: Options): Promise<ExitCode> {
  const html = options.htmlFile === undefined ? options.html : readHtml(options.htmlFile)
  return withCliContext(options.config, async ({ config, store, operator }) => {
    const domain = await requireDomain(domainOf(options.from), store)
    const { from, to, subject, text } = options
    const accepted = await operator.run('messages_send', {
      organizationId: domain.organizationId,
      domainId: domain.id,
      mode: options.mode === 'test' ? 'test' : 'live',
      body: { from, to, subject, html, text },
    })
    const isWaiting = accepted.status === 'queued' && !isServed(config.dataDir)
    if (isWaiting) printError('No server is running on this data directory. The message stays queued until one starts.')
    if (options.follow) return printSteps(accepted, options, store)
    const seconds = isWaiting ? 0 : (options.wait ?? 0)
    // Ctrl-C stops the wait, not the delivery.
    if (seconds > 0) process.once('SIGINT', () => process.exit(EXIT.interrupted))
    const answer: Sent = seconds === 0 ? accepted : { ...accepted, ...(await outcome(accepted.id, seconds, store)) }
    if (options.json) printJson(answer)
    else print(summary(answer))
    return options.wait === undefined || answer.status === 'delivered' ? EXIT.done : EXIT.failed
  })
}

async function printSteps(accepted: AcceptedMessage, { json }: Options, store: Store): Promise<ExitCode> {
  process.once('SIGINT', () => process.exit(EXIT.interrupted)) // stops the output, not the delivery
  const { id } = accepted
  const colors = colorsFor(process.env, process.stdout.isTTY)
  if (json) printJson(accepted)
  else print(`${colors.dim(accepted.created_at.slice(11, 19))} ${'accepted'.padEnd(10)} ${id}`)
  const onStep = (step: Step) => (json ? printJson(recordOfStep(id, step)) : print(formatStep(step, colors)))
  const status = await follow(id, { store, clock: systemClock, onStep })
  return status === 'delivered' ? EXIT.done : EXIT.failed
}

/** Polling interval in ms: users see no delay, and the query by id is cheap. */
const POLL_MS = 100

async function outcome(id: string, seconds: number, store: Store) {
  for (const endsAt = systemClock.now() + seconds * 1000; ; await systemClock.sleep(POLL_MS)) {
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

/** The fields of a message that the summary shows. */
interface Sent {
  id: string
  status: string
  recipients: { email: string; status: string; smtp_response?: string | null }[]
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
    throw new CommandFailure(`html-file: ${messageOf(error)}`, EXIT.usage)
  }
}

function summary(answer: Sent): string {
  const lines = answer.recipients.map((each) =>
    `  ${each.email}  ${each.status}  ${each.smtp_response ?? ''}`.trimEnd(),
  )
  return [`${answer.id} is ${answer.status}`, ...lines].join('\n')
}
