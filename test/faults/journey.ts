import { expect } from 'bun:test'
import type { Attempt, Delivery } from '../../src/model/delivery.ts'
import type { Event } from '../../src/model/event.ts'
import type { Store } from '../../src/storage/store.ts'
import { until } from '../support/patience.ts'
import { type Cue, type RawMx, startRawMx } from '../support/remote-mx.ts'
import { type Answered, startTestServer, type TestServer } from '../support/server.ts'

/** One message to three recipients: their mail server accepts the first, rejects the second as unknown, and is busy
 *  for the third at first. Repeated on the same server with another failure each time. */
export interface Stage {
  server: TestServer
  remote: RawMx
  /** The original store methods, for reads that must not fail. */
  pristine: Store
  /** Called at each cue of the mail server, before it answers. */
  onCue: (cue: Cue) => void
  /** Sends as a good client does (the same key until acceptance), and advances the time until everything is final
   *  and published. */
  play(): Promise<Played>
  close(): Promise<void>
}

export interface Played {
  /** Every response that the client got; the last is the acceptance. */
  answers: Answered[]
  deliveries: Delivery[]
  attempts: { email: string; attempt: Attempt }[]
  /** `kind recipient`, sorted. */
  published: string[]
  /** How often each event was posted, oldest first. */
  posts: number[]
  /** Mails that the server accepted, by recipient. */
  copies: { ann: Buffer[]; gone: Buffer[]; busy: Buffer[] }
}

export const PUBLISHED = ['bounced gone', 'deferred busy', 'delivered ann', 'delivered busy']
const NAMES = ['ann', 'gone', 'busy'] as const

/** `timeoutSeconds`: real time after which a post without an answer fails. On a busy machine, answers take seconds. */
export async function openStage({ timeoutSeconds = 60 } = {}): Promise<Stage> {
  const busy = new Set<string>()
  const stage: Pick<Stage, 'onCue'> = { onCue: () => {} }
  let recipient = ''
  const taken: { recipient: string; mail: Buffer }[] = []
  const remote = await startRawMx({
    // Without PIPELINING the recipient of a mail is the last one named.
    extensions: ['8BITMIME'],
    script: (cue, line) => {
      if (cue === 'RCPT') recipient = /<(.+)@/.exec(line)![1]!
      stage.onCue(cue)
      if (cue === 'DOT') taken.push({ recipient, mail: remote.mails.at(-1)! })
      if (cue !== 'RCPT') return null
      if (recipient.startsWith('gone')) return '550 5.1.1 no such user'
      if (!recipient.startsWith('busy') || busy.has(recipient)) return null
      busy.add(recipient)
      return '451 4.3.0 busy'
    },
  })
  const delivery = { retry_schedule_seconds: [0.1], max_per_destination: 1 }
  const webhooks = { retry_schedule_seconds: [0.1, 0.1, 0.1, 0.1], timeout_seconds: timeoutSeconds }
  const server = await startTestServer({ remote, config: { delivery, webhooks } })
  const pristine = copyOf(server.store())
  let round = 0

  const play = async (): Promise<Played> => {
    round++
    const to = NAMES.map((name) => `${name}${round}@one.remote.example`)
    const answers: Answered[] = []
    await until('the message to be accepted', async () => {
      const answer = await server.send({ to }, { 'idempotency-key': `round ${round}` })
      answers.push(answer)
      return answer.status === 202
    })
    const messageId: string = answers.at(-1)!.body.id
    const events = async () => (await pristine.events.feed(eventsOf(server, messageId), null, 100))!.records
    const postsOf = (event: Event) =>
      server.receiver.requests.filter(({ headers }) => headers['webhook-id'] === event.id).length
    let step = 0
    await until('everything to be final and published', async () => {
      const deliveries = await pristine.messages.deliveries(messageId)
      const isOver = deliveries.every(({ status }) => status === 'delivered' || status === 'bounced')
      if (isOver && (await isPublished(server, pristine, await events()))) return true
      // The first steps are those of the schedule; what comes later waits for a lost claim to be found.
      await server.clock.advance(++step < 60 ? 100 : 5_000)
      return false
    })
    const published = await events()
    return {
      answers,
      deliveries: await pristine.messages.deliveries(messageId),
      attempts: await pristine.messages.attempts(messageId),
      published: published
        .map(({ type, body }) => `${type.slice(8)} ${JSON.parse(body).data.to.replace(/\d+@.*/, '')}`)
        .sort(),
      posts: published.map(postsOf),
      copies: copiesOf(taken, round),
    }
  }

  return Object.assign(stage, {
    server,
    remote,
    pristine,
    play,
    close: async () => {
      await server.close()
      await remote.stop()
    },
  })
}

/** What must hold after every round, whatever failed: nothing lost, nothing invented. */
export function expectNothingLost({ answers, deliveries, published, copies }: Played): void {
  for (const { status, body } of answers.slice(0, -1)) {
    expect([500, 503]).toContain(status)
    expect(body.error.details.request_id).toBeString()
  }
  expect(deliveries.map(({ status }) => status)).toEqual(['delivered', 'bounced', 'delivered'])
  expect(published.filter((each) => !each.startsWith('deferred'))).toEqual(
    PUBLISHED.filter((each) => !each.startsWith('deferred')),
  )
  expect(copies.gone).toEqual([])
  for (const mails of [copies.ann, copies.busy]) {
    expect(mails.length).toBeGreaterThanOrEqual(1)
    expect(new Set(mails.map((mail) => mail.toString('latin1'))).size).toBe(1)
  }
}

/** The role objects with their current methods. */
function copyOf(store: Store): Store {
  const roles = Object.entries(store).map(([name, role]) => [name, typeof role === 'object' ? { ...role } : role])
  return Object.fromEntries(roles)
}

async function isPublished(server: TestServer, store: Store, events: Event[]): Promise<boolean> {
  const filter = { webhookId: server.webhook.id, status: null, type: null, createdAfter: null, createdBefore: null }
  const { records } = await store.webhookDeliveries.list(filter, { limit: 100, after: null })
  return events.every(({ id }) => records.find(({ eventId }) => eventId === id)?.status === 'delivered')
}

function eventsOf(server: TestServer, messageId: string) {
  const { organizationId } = server
  const open = { type: null, domainId: null, mode: null, createdAfter: null, createdBefore: null }
  return { organizationId, messageId, ...open }
}

function copiesOf(taken: { recipient: string; mail: Buffer }[], round: number): Played['copies'] {
  const of = (name: string) => taken.flatMap(({ recipient, mail }) => (recipient === `${name}${round}` ? [mail] : []))
  return { ann: of('ann'), gone: of('gone'), busy: of('busy') }
}
