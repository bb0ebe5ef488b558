import { basename } from 'node:path'
import type { AcceptedMessage } from '../client/types.ts'
import { parseMailbox } from '../mail/address.ts'
import { isFinal } from '../model/message.ts'
import { systemClock } from '../os/clock.ts'
import { requireConfig } from './cli-context.ts'
import { EXIT, type ExitCode, usageFault } from './failure.ts'
import { follow, formatStep, recordOfStep, type Step } from './follow.ts'
import { namedValues, readBytes, readText, readVariables } from './given-files.ts'
import { type OperationContext, withOperations } from './operation-context.ts'
import type { Operator, OperatorRequest } from './operator.ts'
import { requireDomain } from './places.ts'
import { colorsFor, print, printError, printJson } from './print.ts'
import type { Server } from './server-access.ts'
import { isServed } from './serving.ts'

interface Options {
  config: string
  json?: true
  from: string
  to: string[]
  cc?: string[]
  bcc?: string[]
  replyTo?: string[]
  replies?: string
  replyToName?: string
  subject?: string
  text?: string
  textFile?: string
  html?: string
  htmlFile?: string
  /** Files and URLs. */
  attach?: string[]
  template?: string
  /** `NAME=VALUE` each. */
  variable?: string[]
  /** A file with a JSON object. */
  variables?: string
  locale?: string
  /** `Name: value` each. */
  header?: string[]
  tag?: string[]
  schedule?: string
  mode: string
  wait?: number
  follow?: true
  server?: Server | null
}

/** Validates one message as the API does, queues it in the store and prints the API's response. A running server starts
 *  the delivery within a second. `wait` waits at most that many seconds until every recipient has a final status;
 *  `follow` prints each step. Both return 1 unless every recipient is `delivered`. Throws CommandFailure for an unknown
 *  domain, an unreadable file or an option in the wrong format, and Refusal as the API does. */
export async function send(options: Options): Promise<ExitCode> {
  const body = bodyOf(options) // before root becomes the owner of the data, who may not read the files
  return withOperations(options, async (context) => {
    const { operator } = context
    const place = await senderOf(options, context)
    const accepted = await operator.run('messages_send', { ...place, body })
    const isOpen = accepted.status === 'queued' || accepted.status === 'scheduled'
    const isWaiting = isOpen && options.server == null && !isServed(requireConfig(options.config).dataDir)
    if (isWaiting) printError('No server is running on this data directory. The message stays queued until one starts.')
    const request = { organizationId: place.organizationId, params: { message_id: accepted.id } }
    const watched = { operator, request, pollMs: options.server == null ? POLL_MS : REMOTE_POLL_MS }
    if (options.follow) return printSteps(accepted, options, watched)
    const seconds = isWaiting ? 0 : (options.wait ?? 0)
    // Ctrl-C stops the wait, not the delivery.
    if (seconds > 0) process.once('SIGINT', () => process.exit(EXIT.interrupted))
    const answer: Sent = seconds === 0 ? accepted : { ...accepted, ...(await outcome(seconds, watched)) }
    if (options.json) printJson(answer)
    else print(summary(answer))
    return options.wait === undefined || answer.status === 'delivered' ? EXIT.done : EXIT.failed
  })
}

/** Organization and domain of `from`. A key of another server has both, and its mode. */
async function senderOf({ from, mode, server }: Options, { store }: OperationContext): Promise<OperatorRequest> {
  const isTest = mode === 'test'
  if (store === null) {
    if (isTest && !server?.key.startsWith('svc_test_')) throw usageFault('mode: test needs a test key (svc_test_…)')
    return { organizationId: '' }
  }
  const { id, organizationId } = await requireDomain(domainOf(from), store)
  return { organizationId, domainId: id, mode: isTest ? 'test' : 'live' }
}

/** A message that was accepted, and how it is read. */
interface Watched {
  operator: Pick<Operator, 'run'>
  request: OperatorRequest
  pollMs: number
}

async function printSteps(
  accepted: AcceptedMessage,
  { json }: Options,
  { operator, request, pollMs }: Watched,
): Promise<ExitCode> {
  process.once('SIGINT', () => process.exit(EXIT.interrupted)) // stops the output, not the delivery
  const { id } = accepted
  const colors = colorsFor()
  if (json) printJson(accepted)
  else print(`${colors.dim(accepted.created_at.slice(11, 19))} ${'accepted'.padEnd(10)} ${id}`)
  const onStep = (step: Step) => (json ? printJson(recordOfStep(id, step)) : print(formatStep(step, colors)))
  const look = async () => {
    const { recipients } = await operator.run('messages_get', request)
    return { recipients, attempts: (await operator.run('messages_attempts', request)).data }
  }
  const status = await follow({ look, clock: systemClock, pollMs, onStep })
  return status === 'delivered' ? EXIT.done : EXIT.failed
}

/** Polling interval in ms: users see no delay, and the query by id is cheap. */
const POLL_MS = 100
/** Two requests each time; the smallest plan allows 60 requests a minute. */
const REMOTE_POLL_MS = 3_000

async function outcome(seconds: number, { operator, request, pollMs }: Watched) {
  for (const endsAt = systemClock.now() + seconds * 1000; ; await systemClock.sleep(pollMs)) {
    const { status, recipients } = await operator.run('messages_get', request)
    const isOver = recipients.every(({ status }) => isFinal(status))
    if (!isOver && systemClock.now() < endsAt) continue
    return {
      status,
      recipients: recipients.map(({ email, type, status, smtp_response }) => ({ email, type, status, smtp_response })),
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

/** Options → body of `messages_send`. Reads the files. Throws CommandFailure (exit code 2) for an unreadable file. */
function bodyOf(options: Options): object {
  const { from, to, cc, bcc, replyTo, replies, replyToName, subject, template, locale, tag, schedule } = options
  return {
    from,
    to,
    cc,
    bcc,
    reply_to: replyTo,
    replies,
    reply_to_name: replyToName,
    subject,
    html: options.htmlFile === undefined ? options.html : readText('html-file', options.htmlFile),
    text: options.textFile === undefined ? options.text : readText('text-file', options.textFile),
    attachments: options.attach?.map(attachmentOf),
    template_id: template,
    variables: readVariables(options),
    locale,
    headers: options.header && namedValues('header', options.header, ':'),
    tags: tag,
    scheduled_at: schedule,
  }
}

/** A file or an HTTP URL → its entry in `attachments`. The operation downloads a URL. */
function attachmentOf(given: string): object {
  if (/^https?:\/\//i.test(given)) return { url: given }
  return { filename: basename(given), content: readBytes('attach', given).toString('base64') }
}

function summary(answer: Sent): string {
  const lines = answer.recipients.map((each) =>
    `  ${each.email}  ${each.status}  ${each.smtp_response ?? ''}`.trimEnd(),
  )
  return [`${answer.id} is ${answer.status}`, ...lines].join('\n')
}
