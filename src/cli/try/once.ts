import { request } from 'node:http'
import { systemClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import { VERSION } from '../../version.ts'
import { EXIT } from '../failure.ts'
import { type Paint, print, printJson } from '../print.ts'
import type { ArrivedMail } from './mail-server.ts'
import { openTryOut, RECIPIENT, type TryOut, type TryPorts } from './open.ts'
import { exampleMessage, seconds, size, tellDkim, tellSignatures } from './tell.ts'
import type { ArrivedCall } from './webhook-receiver.ts'

/** `postrider try --once`: one message by HTTP with the live key, then a look at each stage of its way. Every stage is
 *  told as it is reached; one that is not reached in time, or not as it should be, says what was missing. Answers 0
 *  only when the mail came with two DKIM signatures that pass and the event with two signatures that are valid. */
export async function walkOnce(options: {
  ports: TryPorts
  json: boolean
  startedAt: number
  paint: Paint
  log: Log
  /** Resolves when somebody wants us to end. */
  ended: Promise<number>
}): Promise<number> {
  const { ports, json, startedAt, paint, log } = options
  const stages: Stage[] = []
  const reached = (name: string, isGood: boolean, told: string, ms: number | null = null) => {
    stages.push({ name, ok: isGood, told, ms })
    if (!json) print(line(stages.at(-1)!, paint))
  }
  if (!json)
    print(`${paint.bold(`Postrider ${VERSION}`)}, one message on its whole way. Nothing leaves this machine.\n`)

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
    reached('ready', true, `API on ${tryOut.http}, domain verified by DNS`, systemClock.now() - startedAt)
    const walk = walkStages(tryOut, mail.promise, delivered.promise, plainIf(json, paint), reached)
    const code = await Promise.race([walk, options.ended])
    if (code !== undefined) return code
  } finally {
    await tryOut.stop()
  }
  const isGood = stages.every((stage) => stage.ok)
  const tookMs = systemClock.now() - startedAt
  if (json) printJson({ ok: isGood, took_ms: tookMs, stages })
  else print(`\n${isGood ? paint.good('All of it in') : paint.bad('Not all of it is well, after')} ${seconds(tookMs)}.`)
  return isGood ? EXIT.done : EXIT.failed
}

interface Stage {
  name: string
  ok: boolean
  told: string
  /** Time of this stage, where it has one. */
  ms: number | null
}
type Reached = (name: string, isGood: boolean, told: string, ms?: number | null) => void

/** Ordinarily a tenth of a second; a machine that is busy otherwise gets its time. */
const STAGE_LIMIT_MS = 5_000

async function walkStages(
  tryOut: TryOut,
  mail: Promise<ArrivedMail>,
  delivered: Promise<ArrivedCall>,
  paint: Paint,
  reached: Reached,
): Promise<void> {
  const sentAt = systemClock.now()
  const sent = await ask(tryOut, 'POST', '/v1/messages/send', exampleMessage(RECIPIENT))
  const id = String(sent.body.id)
  reached('accepted', sent.status === 202, acceptedWords(sent, id), systemClock.now() - sentAt)
  if (sent.status !== 202) return

  const arrived = await within(mail)
  await within(delivered)
  const attempt = await lastAttempt(tryOut, id)
  const host = attempt?.mx_host ? `${RECIPIENT.split('@')[1]} → ${attempt.mx_host} (${attempt.mx_ip})` : null
  reached('MX', host !== null, host ?? 'no attempt with a mail host was recorded')
  const isDelivered = attempt?.outcome === 'delivered'
  const reply = `${attempt?.smtp_response} over ${attempt?.tls_version ?? 'a clear connection'}`
  reached('delivered', isDelivered, isDelivered ? reply : `the attempt is ${attempt?.outcome ?? 'missing'}: ${reply}`)

  if (arrived === null) {
    reached('mail', false, `no mail came to ${tryOut.mailServer} within ${seconds(STAGE_LIMIT_MS)}`)
  } else {
    const { at, from, subject, sizeBytes, tls } = arrived
    reached('mail', true, `“${subject}” from ${from}, ${size(sizeBytes)}, ${tls ?? 'no TLS'}`, at - sentAt)
    const passed = arrived.dkim.filter(({ result }) => result === 'pass').map(({ algorithm }) => algorithm)
    const missing = ['rsa-sha256', 'ed25519-sha256'].filter((algorithm) => !passed.includes(algorithm))
    const wanted = missing.length === 0 ? '' : `; no ${missing.join(' and no ')} that passes`
    reached('signatures', missing.length === 0, tellDkim(arrived, paint) + wanted)
  }
  await tellWebhook(delivered, id, sentAt, tryOut, paint, reached)
}

async function tellWebhook(
  delivered: Promise<ArrivedCall>,
  id: string,
  sentAt: number,
  tryOut: TryOut,
  paint: Paint,
  reached: Reached,
): Promise<void> {
  const call = await within(delivered, 0)
  if (call === null) {
    const told = `no message.delivered came to ${tryOut.webhook.url} within ${seconds(STAGE_LIMIT_MS)}`
    return reached('webhook', false, told)
  }
  const isOurs = call.data.message_id === id
  const isSigned = call.serviceSignature === 'valid' && call.standardSignature === 'valid'
  const told = `${call.type} ${isOurs ? '' : 'of another message '}for ${call.data.to}, ${tellSignatures(call, paint)}`
  reached('webhook', isOurs && isSigned, told, call.at - sentAt)
}

/** The promise's value, or null when it takes too long. */
async function within<T>(promise: Promise<T>, limitMs = STAGE_LIMIT_MS): Promise<T | null> {
  const nap = new AbortController()
  const value = await Promise.race([promise, systemClock.sleep(limitMs, nap.signal).then(() => null)])
  nap.abort()
  return value
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the API answers
type Json = any

async function lastAttempt(tryOut: TryOut, id: string): Promise<Json> {
  const { body } = await ask(tryOut, 'GET', `/v1/messages/${id}/attempts`)
  return body.data?.at(-1)
}

/** node:http, because it takes no notice of proxies in the environment. */
function ask(tryOut: TryOut, method: string, path: string, body?: unknown): Promise<{ status: number; body: Json }> {
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

function acceptedWords(sent: { status: number; body: Json }, id: string): string {
  if (sent.status === 202) return `202, ${id} is on the disk`
  return `expected 202, got ${sent.status}: ${sent.body.error?.message ?? 'no reason given'}`
}

function line({ name, ok, told, ms }: Stage, paint: Paint): string {
  const mark = ok ? paint.good('✓') : paint.bad('✗')
  return `  ${mark} ${name.padEnd(11)} ${told}${ms === null ? '' : paint.dim(`  ${seconds(ms)}`)}`
}

const plainIf = (json: boolean, paint: Paint): Paint =>
  json ? { bold: String, dim: String, good: String, wary: String, bad: String, accent: String } : paint
