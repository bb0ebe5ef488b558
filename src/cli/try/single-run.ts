import { request } from 'node:http'
import type { AcceptedMessage, ApiError, Attempt, MessagesAttemptsAnswer } from '../../client/types.ts'
import { systemClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import { VERSION } from '../../version.ts'
import { EXIT } from '../failure.ts'
import { type Colors, print, printJson } from '../print.ts'
import { exampleMessage, formatDkim, formatSignatures, seconds, size } from './format.ts'
import type { ArrivedMail } from './mail-server.ts'
import { openTryOut, RECIPIENT, type TryOut, type TryPorts } from './open.ts'
import type { ArrivedCall } from './webhook-receiver.ts'

/** `postrider try --once`: sends one message over HTTP with the live key and prints each stage. A stage that fails or
 *  times out prints the reason. Returns 0 if the mail arrives with two passing DKIM signatures and the event with two
 *  valid signatures, otherwise 1; after a signal, its exit code. Throws CommandFailure if a port is in use. */
export async function runOnce(options: {
  ports: TryPorts
  json: boolean
  startedAt: number
  colors: Colors
  log: Log
  /** Resolves at a signal with the exit code. */
  ended: Promise<number>
}): Promise<number> {
  const { ports, json, startedAt, colors, log } = options
  const stages: Stage[] = []
  const reached = (name: string, isGood: boolean, detail: string, ms: number | null = null) => {
    const stage = { name, ok: isGood, detail, ms }
    stages.push(stage)
    if (!json) print(line(stage, colors))
  }
  if (!json) print(`${colors.bold(`Postrider ${VERSION}`)}, one message end to end. Nothing leaves this machine.\n`)

  const mail = Promise.withResolvers<ArrivedMail>()
  const delivered = Promise.withResolvers<ArrivedCall>()
  const tryOut = await openTryOut({
    ports,
    log,
    onMail: mail.resolve,
    onInbound: () => {},
    onCall: (call) => call.type === 'message.delivered' && delivered.resolve(call),
  })
  try {
    reached('ready', true, `API on ${tryOut.http}, domain verified in DNS`, systemClock.now() - startedAt)
    const run = runStages(tryOut, mail.promise, delivered.promise, plainIf(json, colors), reached)
    const code = await Promise.race([run, options.ended])
    if (code !== undefined) return code
  } finally {
    await tryOut.stop()
  }
  const isGood = stages.every((stage) => stage.ok)
  const tookMs = systemClock.now() - startedAt
  if (json)
    printJson({
      ok: isGood,
      took_ms: tookMs,
      stages: stages.map(({ name, ok, detail, ms }) => ({ name, ok, told: detail, ms })),
    })
  else
    print(
      `\n${isGood ? colors.good('All stages passed in') : colors.bad('Some stages failed after')} ${seconds(tookMs)}.`,
    )
  return isGood ? EXIT.done : EXIT.failed
}

interface Stage {
  name: string
  ok: boolean
  detail: string
  /** Duration of this stage, if measured. */
  ms: number | null
}
type Reached = (name: string, isGood: boolean, detail: string, ms?: number | null) => void

/** A stage usually takes 100 ms; the limit allows for a busy machine. */
const STAGE_LIMIT_MS = 5_000

async function runStages(
  tryOut: TryOut,
  mail: Promise<ArrivedMail>,
  delivered: Promise<ArrivedCall>,
  colors: Colors,
  reached: Reached,
): Promise<void> {
  const sentAt = systemClock.now()
  const sent = await ask<Partial<AcceptedMessage & ApiError>>(
    tryOut,
    'POST',
    '/v1/messages/send',
    exampleMessage(RECIPIENT),
  )
  const id = String(sent.body.id)
  reached('accepted', sent.status === 202, acceptedWords(sent, id), systemClock.now() - sentAt)
  if (sent.status !== 202) return

  const arrived = await within(mail)
  await within(delivered)
  const attempt = await lastAttempt(tryOut, id)
  const host = attempt?.mx_host ? `${RECIPIENT.split('@')[1]} → ${attempt.mx_host} (${attempt.mx_ip})` : null
  reached('MX', host !== null, host ?? 'no attempt with an MX host was recorded')
  const isDelivered = attempt?.outcome === 'delivered'
  const reply = `${attempt?.smtp_response} over ${attempt?.tls_version ?? 'an unencrypted connection'}`
  reached('delivered', isDelivered, isDelivered ? reply : `the attempt is ${attempt?.outcome ?? 'missing'}: ${reply}`)

  if (arrived === null) {
    reached('mail', false, `no mail arrived at ${tryOut.mailServer} within ${seconds(STAGE_LIMIT_MS)}`)
  } else {
    const { at, from, subject, sizeBytes, tls } = arrived
    reached('mail', true, `“${subject}” from ${from}, ${size(sizeBytes)}, ${tls ?? 'no TLS'}`, at - sentAt)
    const passed = arrived.dkim.filter(({ result }) => result === 'pass').map(({ algorithm }) => algorithm)
    const missing = ['rsa-sha256', 'ed25519-sha256'].filter((algorithm) => !passed.includes(algorithm))
    const wanted = missing.length === 0 ? '' : `; missing a valid ${missing.join(' and ')} signature`
    reached('signatures', missing.length === 0, formatDkim(arrived, colors) + wanted)
  }
  await checkWebhook(delivered, id, sentAt, tryOut, colors, reached)
}

async function checkWebhook(
  delivered: Promise<ArrivedCall>,
  id: string,
  sentAt: number,
  tryOut: TryOut,
  colors: Colors,
  reached: Reached,
): Promise<void> {
  const call = await within(delivered, 0)
  if (call === null) {
    const detail = `no message.delivered event arrived at ${tryOut.webhook.url} within ${seconds(STAGE_LIMIT_MS)}`
    return reached('webhook', false, detail)
  }
  const isOurs = call.data.message_id === id
  const isSigned = call.serviceSignature === 'valid' && call.standardSignature === 'valid'
  const detail = `${call.type} ${isOurs ? '' : 'of a different message '}for ${call.data.to}, ${formatSignatures(call, colors)}`
  reached('webhook', isOurs && isSigned, detail, call.at - sentAt)
}

/** The promise's value, or null after the time limit. */
async function within<T>(promise: Promise<T>, limitMs = STAGE_LIMIT_MS): Promise<T | null> {
  const pause = new AbortController()
  const value = await Promise.race([promise, systemClock.sleep(limitMs, pause.signal).then(() => null)])
  pause.abort()
  return value
}

async function lastAttempt(tryOut: TryOut, id: string): Promise<Attempt | undefined> {
  const { body } = await ask<Partial<MessagesAttemptsAnswer>>(tryOut, 'GET', `/v1/messages/${id}/attempts`)
  return body.data?.at(-1)
}

/** Uses node:http, which ignores proxy environment variables. */
function ask<Body>(
  tryOut: TryOut,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Body }> {
  const headers = { authorization: `Bearer ${tryOut.liveKey}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const asked = request(tryOut.baseUrl + path, { method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString('utf8')) }),
      )
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function acceptedWords(sent: { status: number; body: Partial<ApiError> }, id: string): string {
  if (sent.status === 202) return `202, ${id} stored on disk`
  return `expected 202, got ${sent.status}: ${sent.body.error?.message ?? 'no reason given'}`
}

function line({ name, ok, detail, ms }: Stage, colors: Colors): string {
  const mark = ok ? colors.good('✓') : colors.bad('✗')
  return `  ${mark} ${name.padEnd(11)} ${detail}${ms === null ? '' : colors.dim(`  ${seconds(ms)}`)}`
}

const plainIf = (json: boolean, colors: Colors): Colors =>
  json ? { bold: String, dim: String, good: String, wary: String, bad: String, accent: String } : colors
