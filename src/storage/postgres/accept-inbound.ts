import type { InboundDeliveryStatus, InboundMessage } from '../../model/inbound-message.ts'
import { dayOf, type LimitReached, monthOf } from '../../model/limits.ts'
import { inboundEvent } from '../../model/on-demand-event.ts'
import { UNLIMITED } from '../../model/organization.ts'
import { inboundStoredBytes } from '../../model/stored-bytes.ts'
import { addressesOf, type InboundAddress, packNotForwarded } from '../inbound-rows.ts'
import type { AcceptedInbound } from '../store.ts'
import { type NewContent, takeOver } from './contents.ts'
import type { Group, Kind } from './group.ts'
import type { InboundQueue, NewInboundDelivery } from './inbound-queue.ts'
import { insertInto } from './insert.ts'
import type { Counted, Usage } from './usage.ts'

type NewInboundMessage = InboundMessage & { contentId: string; deliveryStatus: InboundDeliveryStatus | null }

const addMessages = insertInto<NewInboundMessage>('inbound_messages', {
  id: ['text', ({ id }) => id],
  organization_id: ['text', ({ organizationId }) => organizationId],
  domain_id: ['text', ({ domainId }) => domainId],
  route_id: ['text', ({ routeId }) => routeId ?? ''],
  action: ['text', ({ action }) => action],
  received_at: ['bigint', ({ receivedAt }) => receivedAt],
  return_path: ['text', ({ returnPath }) => returnPath],
  sender: ['text', ({ from }) => from],
  recipients: ['text', ({ to }) => JSON.stringify(to)],
  subject: ['text', ({ subject }) => subject],
  message_id_header: ['text', ({ messageIdHeader }) => messageIdHeader],
  size_bytes: ['bigint', ({ sizeBytes }) => sizeBytes],
  sender_ip: ['text', ({ senderIp }) => senderIp],
  helo: ['text', ({ helo }) => helo],
  tls: ['text', ({ tls }) => tls],
  spf: ['text', ({ verdicts }) => verdicts.spf],
  dkim: ['text', ({ verdicts }) => verdicts.dkim],
  dmarc: ['text', ({ verdicts }) => verdicts.dmarc],
  arc: ['text', ({ verdicts }) => verdicts.arc],
  parse_error: ['text', ({ parseError }) => parseError],
  forwarded_as: ['text', ({ forwardedAs }) => forwardedAs],
  not_forwarded: ['text', packNotForwarded],
  content_id: ['text', ({ contentId }) => contentId],
  delivery_status: ['text', ({ deliveryStatus }) => deliveryStatus],
})
const addAddresses = insertInto<InboundAddress & { message: InboundMessage }>('inbound_addresses', {
  organization_id: ['text', ({ message }) => message.organizationId],
  field: ['text', ({ field }) => field],
  address: ['text', ({ address }) => address],
  message_id: ['text', ({ message }) => message.id],
})

/** How a group of mails is accepted: those of limited plans one after the other. */
export function acceptInboundKind(inside: {
  usage: Usage
  queue: InboundQueue
}): Kind<AcceptedInbound, 'accepted' | LimitReached> {
  const { usage, queue } = inside
  return {
    perform: async (group, mails) => {
      const { statements, add } = group
      const asked = mails.flatMap((mail) => limitedCounters(mail, usage))
      if (asked.length > 0) await usage.lock(statements, new Set(asked.map(({ organizationId }) => organizationId)))
      const stored = await usage.usedOf(statements, asked)
      const accepted: AcceptedInbound[] = []
      const answers = mails.map((mail) => {
        const limit = inboundLimit(mail, usage, (of) => stored(of) + add.used(of.organizationId, of.counter, of.period))
        if (limit !== null) return limit
        collect(group, mail)
        accepted.push(mail)
        return 'accepted' as const
      })
      await writeAccepted(group, accepted, queue)
      return answers
    },
  }
}

/** Everything that a mail stores. */
export function inboundContents({ raw, parsed, taken }: AcceptedInbound): NewContent[] {
  const forwards = taken.flatMap(({ forward }) => forward ?? [])
  const ownerId = contentIdOf(taken)
  return [
    { ownerId, kind: 'parsed', bytes: parsed },
    { ownerId, kind: 'raw', bytes: raw },
    ...forwards.map(({ message, content }) => ({ ownerId: message.id, kind: 'content' as const, bytes: content })),
  ]
}

/** The counters that decide whether a mail is accepted, of organizations with a limit. */
export function limitedCounters({ taken }: AcceptedInbound, usage: Usage): Counted[] {
  return taken.flatMap(({ message: { organizationId, receivedAt } }) => {
    const { storedBytes, forwardsPerDay, messagesPerMonth } = usage.planOf(organizationId)
    const isLimited = [storedBytes, forwardsPerDay, messagesPerMonth].some((limit) => limit !== UNLIMITED)
    return isLimited ? Object.values(countersOf(organizationId, receivedAt)) : []
  })
}

/** The limit of an organization that the mail exceeds, for storage or forwards; null if there is none. */
export function inboundLimit(
  { taken }: AcceptedInbound,
  usage: Usage,
  used: (counted: Counted) => number,
): LimitReached | null {
  const forwards = new Map<string, number>()
  for (const { message, forward } of taken) {
    const { organizationId, receivedAt } = message
    const counters = countersOf(organizationId, receivedAt)
    // Whatever its size, so that a large mail is not refused forever.
    const full = usage.exceeds(organizationId, 'stored_bytes', 1, used(counters.storedBytes))
    if (full !== null) return full
    if (forward === null) continue
    const count = (forwards.get(organizationId) ?? 0) + openCount(forward)
    forwards.set(organizationId, count)
    const limit =
      usage.exceeds(organizationId, 'forwards_per_day', count, used(counters.forwards)) ??
      usage.exceeds(organizationId, 'messages_per_month', count, used(counters.volume))
    if (limit !== null) return limit
  }
  return null
}

function countersOf(organizationId: string, at: number): Record<'storedBytes' | 'forwards' | 'volume', Counted> {
  return {
    storedBytes: { organizationId, counter: 'stored_bytes', period: '' },
    forwards: { organizationId, counter: 'forwards', period: dayOf(at) },
    volume: { organizationId, counter: 'volume', period: monthOf(at) },
  }
}

/** Counts a mail, and adds its forwards and contents to the group. */
function collect({ add }: Group, mail: AcceptedInbound): void {
  for (const content of inboundContents(mail)) if (content.kind !== 'content') add.content(content)
  for (const { message, forward } of mail.taken) {
    const { organizationId, receivedAt, sizeBytes } = message
    const { storedBytes, forwards, volume } = countersOf(organizationId, receivedAt)
    const use = ({ counter, period }: Counted, by: number) => add.use(organizationId, counter, by, period)
    use(storedBytes, inboundStoredBytes(sizeBytes))
    add.onDemand.offer(inboundEvent(message, mail.attachments))
    if (forward === null) continue
    use(forwards, openCount(forward))
    use(volume, openCount(forward))
    add.message(forward)
  }
}

async function writeAccepted(group: Group, mails: readonly AcceptedInbound[], queue: InboundQueue): Promise<void> {
  const { statements } = group
  const taken = mails.flatMap((mail) => mail.taken.map((each) => ({ ...each, contentId: contentIdOf(mail.taken) })))
  const deliveries = taken.flatMap(({ message, deliveryId }): NewInboundDelivery[] => {
    const { id: messageId, organizationId, routeId, receivedAt: dueAt } = message
    return deliveryId === null || routeId === null
      ? []
      : [{ id: deliveryId, organizationId, messageId, routeId, status: queue.statusOf(routeId), dueAt }]
  })
  const statuses = new Map(deliveries.map(({ messageId, status }) => [messageId, status]))
  await Promise.all([
    takeOver(statements, mails.flatMap(inboundContents)),
    addMessages(
      statements,
      taken.map(({ message, contentId }) => {
        return { ...message, contentId, deliveryStatus: statuses.get(message.id) ?? null }
      }),
    ),
    addAddresses(
      statements,
      taken.flatMap(({ message }) => addressesOf(message).map((address) => ({ ...address, message }))),
    ),
    queue.add(group, deliveries),
  ])
}

/** The contents of a mail belong to its first message. */
function contentIdOf([first]: AcceptedInbound['taken']): string {
  if (first === undefined) throw new Error('a mail was accepted by no route')
  return first.message.id
}

/** Recipients of a message that will be tried. */
function openCount({ deliveries }: NonNullable<AcceptedInbound['taken'][number]['forward']>): number {
  return deliveries.filter(({ nextAttemptAt }) => nextAttemptAt !== null).length
}
