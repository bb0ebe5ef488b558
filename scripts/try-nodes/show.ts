import { exampleMessage } from '../../src/cli/try/format.ts'
import type { ArrivedMail } from '../../src/cli/try/mail-server.ts'
import type { Stage } from '../../src/cli/try/stages.ts'
import type { ArrivedCall } from '../../src/cli/try/webhook-receiver.ts'
import type { AcceptedMessage, ApiError } from '../../src/client/types.ts'
import { TAKEOVER_SECONDS, type TryNode, type TryNodes } from './open.ts'

/** Messages through each node around the kill, each to a domain of its own. */
const MESSAGES = 10
/** The killed node accepts messages that are due when it does not run any more. */
const SCHEDULED_MS = 1_000
const POLL_MS = 10
/** A stage usually takes a fraction of a second; the limit allows for a busy machine. */
const STAGE_LIMIT_MS = 15_000

/** What arrived, by the recipient: times of performance.now(). */
export interface Mailbox {
  mailAt: Map<string, number>
  /** Of its event message.delivered, with valid signatures. */
  eventAt: Map<string, number>
  onMail(mail: ArrivedMail): void
  onCall(call: ArrivedCall): void
}

export function createMailbox(): Mailbox {
  const [mailAt, eventAt] = [new Map<string, number>(), new Map<string, number>()]
  return {
    mailAt,
    eventAt,
    onMail: ({ recipients }) => {
      for (const recipient of recipients) mailAt.set(recipient, performance.now())
    },
    onCall: ({ type, data, serviceSignature, standardSignature }) => {
      const isSigned = serviceSignature === 'valid' && standardSignature === 'valid'
      if (type === 'message.delivered' && isSigned) eventAt.set(String(data.to), performance.now())
    },
  }
}

/** Sends a message through each node, schedules some at the first one, kills it and sends through the second. Reports
 *  each stage; a stage that fails ends the rest. */
export async function showNodes(running: TryNodes, mailbox: Mailbox, reached: (stage: Stage) => void): Promise<void> {
  const { nodes, seen } = running
  const report = (name: string, ok: boolean, detail: string, since: number) => {
    reached({ name, ok, detail, ms: performance.now() - since })
    return ok
  }
  const openedAt = performance.now()
  const isTogether = await until(() => seen().length === nodes.length)
  if (!report('together', isTogether, `limits of destinations divided by ${seen().join(', ')}`, openedAt)) return

  for (const node of nodes) {
    const sentAt = performance.now()
    const recipient = `ann@${node.name}.example`
    const answer = await send(running, node, recipient)
    const isPublished = answer.isAccepted && (await until(() => arrived(mailbox, [recipient])))
    const detail = `accepted ${answer.words}; ${isPublished ? 'delivered, event posted' : 'the mail or its event is missing'}`
    if (!report(node.name, isPublished, detail, sentAt)) return
  }

  const [killed, second] = nodes as [TryNode, TryNode]
  const acceptedAt = performance.now()
  const scheduledAt = new Date(Date.now() + SCHEDULED_MS).toISOString()
  const waiting = namesOf('ann')
  const scheduled = await sendAll(running, killed, waiting, { scheduled_at: scheduledAt })
  if (!report('scheduled', scheduled === MESSAGES, `${scheduled} messages by ${killed.name}`, acceptedAt)) return
  const killedAt = performance.now()
  const pid = killed.pid()
  await killed.kill()
  report('killed', true, `${killed.name}, process ${pid}`, killedAt)
  const recipients = namesOf('bob')
  const sentAt = performance.now()
  const accepted = await sendAll(running, second, recipients)
  if (!report('accepted', accepted === MESSAGES, `${accepted} messages by ${second.name}`, sentAt)) return
  const isTakenOver = await until(() => arrived(mailbox, [...waiting, ...recipients]) && !seen().includes(killed.name))
  const came = [...waiting, ...recipients].filter((one) => mailbox.mailAt.has(one) && mailbox.eventAt.has(one)).length
  const detail = `${came} delivered, events posted; those of ${killed.name} waited ${TAKEOVER_SECONDS} s for its end`
  report('taken over', isTakenOver, detail, killedAt)
}

const arrived = ({ mailAt, eventAt }: Mailbox, recipients: readonly string[]) =>
  recipients.every((recipient) => mailAt.has(recipient) && eventAt.has(recipient))

const namesOf = (name: string) => Array.from({ length: MESSAGES }, (_, n) => `${name}@shop-${n + 1}.example`)

/** Returns how many were accepted. */
async function sendAll(running: TryNodes, node: TryNode, recipients: readonly string[], more = {}): Promise<number> {
  const answers = await Promise.all(recipients.map((recipient) => send(running, node, recipient, more)))
  return answers.filter(({ isAccepted }) => isAccepted).length
}

async function send({ liveKey }: TryNodes, { http, name }: TryNode, to: string, more = {}) {
  const response = await fetch(`http://${http}/v1/messages/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${liveKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...exampleMessage(to), ...more }),
  })
  const body = (await response.json()) as Partial<AcceptedMessage & ApiError>
  const isAccepted = response.status === 202
  const words = isAccepted ? `by ${name}` : `by nobody: ${response.status} ${body.error?.message ?? ''}`
  return { isAccepted, words }
}

/** False if it does not hold within STAGE_LIMIT_MS. */
async function until(holds: () => boolean): Promise<boolean> {
  for (const end = performance.now() + STAGE_LIMIT_MS; performance.now() < end; await Bun.sleep(POLL_MS)) {
    if (holds()) return true
  }
  return false
}
