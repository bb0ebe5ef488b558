import { exampleMessage } from '../../src/cli/try/format.ts'
import type { ArrivedMail } from '../../src/cli/try/mail-server.ts'
import type { Stage } from '../../src/cli/try/stages.ts'
import type { ArrivedCall } from '../../src/cli/try/webhook-receiver.ts'
import type { AcceptedMessage, ApiError } from '../../src/client/types.ts'
import { TAKEOVER_SECONDS, type TryNode, type TryNodes } from './open.ts'

/** Messages after the kill, each to a domain of its own: part of the domains belonged to the killed node. */
const AFTER_KILL = 20
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

/** Sends a message through each node, kills the first one and sends through the second. Reports each stage; a stage that
 *  fails ends the rest. */
export async function showNodes(running: TryNodes, mailbox: Mailbox, reached: (stage: Stage) => void): Promise<void> {
  const { nodes, slots } = running
  const report = (name: string, ok: boolean, detail: string, since: number) => {
    reached({ name, ok, detail, ms: performance.now() - since })
    return ok
  }
  const openedAt = performance.now()
  const isShared = await until(() => slots().size === nodes.length)
  const shares = [...slots()].map(([name, count]) => `${name} ${count}`).join(', ')
  if (!report('shared', isShared, `destinations and webhooks in 256 slots: ${shares}`, openedAt)) return

  for (const node of nodes) {
    const sentAt = performance.now()
    const recipient = `ann@${node.name}.example`
    const answer = await send(running, node, recipient)
    const isPublished = answer.isAccepted && (await until(() => arrived(mailbox, [recipient])))
    const detail = `accepted ${answer.words}; ${isPublished ? 'delivered, event posted' : 'the mail or its event is missing'}`
    if (!report(node.name, isPublished, detail, sentAt)) return
  }

  const [killed, second] = nodes as [TryNode, TryNode]
  const killedAt = performance.now()
  const pid = killed.pid()
  await killed.kill()
  report('killed', true, `${killed.name}, process ${pid}`, killedAt)
  const recipients = Array.from({ length: AFTER_KILL }, (_, n) => `bob@shop-${n + 1}.example`)
  const sentAt = performance.now()
  const answers = await Promise.all(recipients.map((recipient) => send(running, second, recipient)))
  const accepted = answers.filter(({ isAccepted }) => isAccepted).length
  if (!report('accepted', accepted === AFTER_KILL, `${accepted} messages by ${second.name}`, sentAt)) return
  const isTakenOver = await until(() => arrived(mailbox, recipients) && !slots().has(killed.name))
  // The time counts from the last beat of the killed node, a little before its end; other mail arrives at once.
  const waited = recipients.filter((one) => (mailbox.mailAt.get(one) ?? Infinity) > killedAt + TAKEOVER_SECONDS * 500)
  const came = recipients.filter((one) => mailbox.mailAt.has(one) && mailbox.eventAt.has(one)).length
  const detail = `${came} delivered, events posted; ${waited.length} of them belonged to ${killed.name} and waited ${TAKEOVER_SECONDS} s`
  report('taken over', isTakenOver, detail, killedAt)
}

const arrived = ({ mailAt, eventAt }: Mailbox, recipients: readonly string[]) =>
  recipients.every((recipient) => mailAt.has(recipient) && eventAt.has(recipient))

async function send({ liveKey }: TryNodes, { http, name }: TryNode, to: string) {
  const response = await fetch(`http://${http}/v1/messages/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${liveKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(exampleMessage(to)),
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
