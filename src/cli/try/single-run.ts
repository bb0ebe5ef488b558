import { request } from 'node:http'
import type { AcceptedMessage, ApiError, Attempt, MessagesAttemptsAnswer } from '../../client/types.ts'
import { systemClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import { within } from '../../os/within.ts'
import { VERSION } from '../../version.ts'
import { EXIT } from '../failure.ts'
import { type Colors, print, printJson } from '../print.ts'
import { exampleMessage, seconds } from './format.ts'
import type { ArrivedMail } from './mail-server.ts'
import { openTryOut, RECIPIENT, type TryOut, type TryPorts } from './open.ts'
import { deliveryStages, formatStage, mailStages, STAGE_LIMIT_MS, type Stage, webhookStage } from './stages.ts'
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
  const reached = (stage: Stage) => {
    stages.push(stage)
    if (!json) print(formatStage(stage, colors))
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
    const detail = `API on ${tryOut.http}, domain verified in DNS`
    reached({ name: 'ready', ok: true, detail, ms: systemClock.now() - startedAt })
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

async function runStages(
  tryOut: TryOut,
  mail: Promise<ArrivedMail>,
  delivered: Promise<ArrivedCall>,
  colors: Colors,
  reached: (stage: Stage) => void,
): Promise<void> {
  const sentAt = systemClock.now()
  const sent = await ask<Partial<AcceptedMessage & ApiError>>(
    tryOut,
    'POST',
    '/v1/messages/send',
    exampleMessage(RECIPIENT),
  )
  const id = String(sent.body.id)
  const isAccepted = sent.status === 202
  reached({ name: 'accepted', ok: isAccepted, detail: acceptedWords(sent, id), ms: systemClock.now() - sentAt })
  if (!isAccepted) return

  const arrived = await within(systemClock, STAGE_LIMIT_MS, mail)
  await within(systemClock, STAGE_LIMIT_MS, delivered)
  const attempt = await lastAttempt(tryOut, id)
  for (const stage of deliveryStages(attempt, RECIPIENT.split('@')[1] ?? '')) reached(stage)
  for (const stage of mailStages(arrived, { mailServer: tryOut.mailServer, sentAt, colors })) reached(stage)
  const call = await within(systemClock, 0, delivered)
  reached(webhookStage(call, { messageId: id, url: tryOut.webhook.url, sentAt, colors }))
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

const plainIf = (json: boolean, colors: Colors): Colors =>
  json ? { bold: String, dim: String, good: String, wary: String, bad: String, accent: String } : colors
