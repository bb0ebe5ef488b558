import type { CanaryWords } from '../mail/canary-address.ts'
import { type Canary, type CanaryEnd, OWN_LISTENER } from '../model/canary.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { Store } from '../storage/store.ts'
import type { UserMail } from '../submission/user-mail.ts'
import type { SeedMailbox, SeedMailboxes } from './mailboxes.ts'

/** Sends canary mails and looks for them. */
export interface Canaries {
  /** Sends one to every mailbox now → what was written. Rejects with the error of the store. */
  run(now: number): Promise<Canary[]>
  /** Sends what is due, looks for what is on its way, and ends what is missing; does nothing during another call. Never
   *  rejects. */
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
 *  has one row for each mailbox, so that two leaders do not both send. */
export function createCanaries(deps: CanaryDeps & { mailboxes: SeedMailboxes | null }): Canaries {
  const { store, settings, log, mailboxes } = deps
  let sentFor = Number.NaN
  let isTicking = false
  let latest: readonly Canary[] = []

  const sendDue = async (now: number) => {
    const dueAt = Math.floor(now / settings.everyMs) * settings.everyMs
    if (dueAt === sentFor) return
    await sendAll(dueAt, now, deps)
    sentFor = dueAt
  }
  const endMissing = async (now: number) => {
    const sought = await store.canaries.sought(now - 4 * settings.missingAfterMs, MOST_SOUGHT)
    for (const { id, result, sentAt, detail } of sought) {
      if (result !== 'pending' || now - sentAt < settings.missingAfterMs) continue
      await store.canaries.record(id, { result: detail === null ? 'missing' : 'unchecked', arrivedAt: null, detail })
    }
  }
  return {
    run: (now) => sendAll(now, now, deps),
    latest: () => latest,
    tick: async (now) => {
      if (isTicking) return
      isTicking = true
      try {
        await sendDue(now)
        await mailboxes?.look(now)
        await endMissing(now)
        latest = await lastEnded(deps)
      } catch (error) {
        log.error('canaries failed', { error })
      } finally {
        isTicking = false
      }
    },
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

async function lastEnded({ store, settings }: CanaryDeps): Promise<Canary[]> {
  const all = await Promise.all(namesOf(settings).map((name) => store.canaries.latest(name, MOST_ON_THE_WAY)))
  return all.flatMap((canaries) => canaries.find(({ result }) => result !== 'pending') ?? [])
}

const MOST_SOUGHT = 1000
/** Mails to one mailbox that may be on their way. */
const MOST_ON_THE_WAY = 20
