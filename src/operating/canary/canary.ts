import type { CanaryWords } from '../../mail/canary-address.ts'
import { type Canary, type CanaryEnd, MOST_ON_THE_WAY, OWN_LISTENER } from '../../model/canary.ts'
import type { MintId } from '../../os/ids.ts'
import type { Log } from '../../os/log.ts'
import type { UserMail } from '../../sending/submission/user-mail.ts'
import type { Store } from '../../storage/store.ts'
import type { SeedMailbox, SeedMailboxes } from './mailboxes.ts'

/** Sends canary mails and looks for them. */
export interface Canaries {
  /** Sends one to every mailbox now, except where MOST_ON_THE_WAY are pending → what was written. Rejects with the error of
   *  the store. */
  run(now: number): Promise<Canary[]>
  /** Sends what is due, looks for what is on its way, and ends what is missing; leaves out mailboxes with which an earlier
   *  call is busy. Never rejects. */
  tick(now: number): Promise<void>
  /** The last mail to each mailbox that has ended, as of the last tick. */
  latest(): readonly Canary[]
}

export interface CanarySettings {
  everyMs: number
  missingAfterMs: number
  mailboxes: readonly Pick<SeedMailbox, 'name' | 'address'>[]
}

export interface CanaryDeps {
  store: Pick<Store, 'canaries'>
  settings: CanarySettings
  words: () => Promise<CanaryWords>
  /** Host whose MX record leads to the inbound listener; null if the sender's domain is not one of this server. */
  ownHost: () => string | null
  userMail: Pick<UserMail, 'send' | 'unsuppress'>
  publicUrl: () => string
  mintId: MintId
  log: Log
}

/** The row of a mail is written before the mail is queued: after a crash in between it counts as missing. Each interval
 *  has one row for each mailbox, so that two leaders do not both send. A mailbox whose server is slow delays no other one. */
export function createCanaries(deps: CanaryDeps & { mailboxes: SeedMailboxes | null }): Canaries {
  const { store, settings, log, mailboxes } = deps
  let sentFor = Number.NaN
  const busy = new Set<string>()
  const latest = new Map<string, Canary>()

  const sendDue = async (now: number) => {
    const dueAt = Math.floor(now / settings.everyMs) * settings.everyMs
    if (dueAt === sentFor) return
    await sendAll(dueAt, now, deps)
    sentFor = dueAt
  }
  const follow = async (mailbox: string, now: number) => {
    const sent = await store.canaries.latest(mailbox, MOST_FOLLOWED)
    await mailboxes?.look(mailbox, sent, now)
    await endMissing(mailbox, now, deps)
    const ended = await store.canaries.latestEnded(mailbox, 1)
    if (ended[0] !== undefined) latest.set(mailbox, ended[0])
  }
  const exclusively = async (name: string, work: () => Promise<void>) => {
    if (busy.has(name)) return
    busy.add(name)
    try {
      await work()
    } catch (error) {
      log.error('canaries failed', { mailbox: name, error })
    } finally {
      busy.delete(name)
    }
  }
  return {
    run: (now) => sendAll(now, now, deps),
    latest: () => [...latest.values()],
    tick: async (now) => {
      await exclusively('', () => sendDue(now))
      await Promise.all(namesOf(settings).map((name) => exclusively(name, () => follow(name, now))))
    },
  }
}

/** A mailbox that could not be read shows no missing mail. */
async function endMissing(mailbox: string, now: number, { store, settings }: CanaryDeps) {
  for (const { id, result, sentAt, detail } of await store.canaries.latest(mailbox, MOST_FOLLOWED)) {
    if (result !== 'pending' || now - sentAt < settings.missingAfterMs) continue
    await store.canaries.record(id, { result: detail === null ? 'missing' : 'unchecked', arrivedAt: null, detail })
  }
}

/** Mailboxes of the config, our own listener first. */
export const namesOf = ({ mailboxes }: Pick<CanarySettings, 'mailboxes'>) => [
  OWN_LISTENER,
  ...mailboxes.map(({ name }) => name),
]

async function sendAll(dueAt: number, now: number, deps: CanaryDeps): Promise<Canary[]> {
  const sent: Canary[] = []
  for (const mailbox of namesOf(deps.settings)) {
    if (await isCrowded(mailbox, deps)) continue
    const id = deps.mintId('cnr')
    const canary: Canary = { id, mailbox, dueAt, sentAt: now, result: 'pending', arrivedAt: null, detail: null }
    if (!(await deps.store.canaries.add(canary))) continue
    const obstacle = await queue(canary, now, deps).catch((error) => {
      deps.log.error('canary mail not queued', { canary: id, error })
      return 'internal error'
    })
    if (obstacle === null) {
      sent.push(canary)
      continue
    }
    const end: CanaryEnd = { result: 'missing', arrivedAt: null, detail: `not queued: ${obstacle}` }
    await deps.store.canaries.record(id, end)
    sent.push({ ...canary, ...end })
  }
  return sent
}

/** True if so many mails to it are on their way that another one could not be followed: somebody runs canaries in a loop. */
async function isCrowded(mailbox: string, { store }: CanaryDeps): Promise<boolean> {
  const sent = await store.canaries.latest(mailbox, MOST_FOLLOWED)
  return sent.filter(({ result }) => result === 'pending').length >= MOST_ON_THE_WAY
}

/** Queues the mail → null, or why it is not queued. */
async function queue({ id, mailbox }: Canary, now: number, deps: CanaryDeps): Promise<string | null> {
  const { settings, userMail } = deps
  const word = (await deps.words()).encode(id)
  const host = deps.ownHost()
  if (mailbox === OWN_LISTENER && host === null) return 'domain_not_verified'
  const seed = settings.mailboxes.find(({ name }) => name === mailbox)
  // A bounce of the last one must not stop the next one.
  if (seed !== undefined) await userMail.unsuppress(seed.address, now)
  const text = {
    kind: 'alert' as const,
    subject: `Canary ${word}`,
    paragraphs: [
      'This server sent this mail to find out whether its mail arrives. It deletes the mail when it has found it.',
    ],
    url: `${deps.publicUrl()}/dashboard/health`,
  }
  return userMail.send({ to: seed?.address ?? `${word}@${host}`, text, expiresAt: now + settings.missingAfterMs }, now)
}

/** Of these, at most MOST_ON_THE_WAY are pending: older ones have ended. */
const MOST_FOLLOWED = 100
